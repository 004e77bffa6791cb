"""nginx with nchan: one worker (more would only add messages between them), memory store, no access log."""
from harness import answers, wait_until

CONFIGURATION = """
load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
daemon off;
user root;
worker_processes 1;
worker_rlimit_nofile 20000;
pid {data}/nginx.pid;
error_log {data}/error.log;
events {{ worker_connections 16000; }}
http {{
    access_log off;
    client_body_temp_path {data}/body;
    proxy_temp_path {data}/proxy;
    fastcgi_temp_path {data}/fastcgi;
    uwsgi_temp_path {data}/uwsgi;
    scgi_temp_path {data}/scgi;
    keepalive_requests 1000000;
    server {{
        listen 127.0.0.1:{port} backlog=4096;
        location /subscribe {{
            nchan_subscriber eventsource;
            nchan_channel_id bench;
            nchan_subscriber_first_message newest;
        }}
        location /publish {{
            nchan_publisher;
            nchan_channel_id bench;
            nchan_message_buffer_length 10;
        }}
    }}
}}
"""


def fanout(workshop, readers, events):
    data = workshop.directory("nchan")
    port = workshop.port()
    configuration = data / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(data=data, port=port))
    process = workshop.start("nchan", ["nginx", "-p", data, "-e", data / "error.log", "-c", configuration])
    # The master listens before its worker exists; measured without the worker, nchan would cost nothing.
    wait_until(lambda: answers(port) and len(process.family()) == 2, "nchan", process)
    figures = workshop.load("sse", port, process.family(), publish="/publish", subscribe="/subscribe",
                            connections=readers, events=events)
    workshop.stop(process)
    workshop.discard(data)
    return figures
