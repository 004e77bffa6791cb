"""A remote backend of sandboxes that answers as it is told."""
import http.server
import json
import threading


class Backend(http.server.ThreadingHTTPServer):
    """A remote backend of sandboxes that answers as it is told."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), BackendHandler)
        self.asked = []
        self.answers = {"create-session": (200, {"sandboxId": "far-1", "tunnelUrls": {}}),
                        "hibernate-session": (200, {"snapshotImageId": "image-1"}),
                        "restore-session": (200, {"sandboxId": "far-2"}),
                        "terminate-session": (200, {})}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def names(self):
        return [name for name, _ in self.asked]


class BackendHandler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        name = self.path.strip("/")
        self.server.asked.append((name, body))
        status, answer = self.server.answers[name]
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
