"""A service that says what no HTTP library would."""
import socketserver
import threading


class Bytes(socketserver.ThreadingTCPServer):
    """Answers every request with the same bytes, whatever they are."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, answer):
        self.answer = answer
        super().__init__(("127.0.0.1", 0), BytesHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def host(self):
        return f"127.0.0.1:{self.server_address[1]}"


class BytesHandler(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline().strip():
            pass
        self.wfile.write(self.server.answer)
