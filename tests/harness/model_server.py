"""A model provider that follows a script: it speaks Anthropic Messages and OpenAI chat completions over HTTP with
server-sent events, on 127.0.0.1, and keeps every request it got.

A script is a list of steps, one per request, given as Python objects or as JSON:

    {"text": "Hello", "reasoning": "Hm.", "tools": [{"name": "read_file", "input": {"path": "a"}}],
     "usage": {"input": 10, "output": 5, "cached": 2, "written": 1}, "stop": "end", "chunks": 4}
    {"status": 429, "retry_after": 0, "message": "slow down"}     an error answer: 401, 429, 500, 529 …
    {"error": "overloaded_error", "text": "Hel"}                  an error inside the stream, after the text
    {"cut": true, "text": "Hel"}                                  the connection ends after the text
    {"silent": true, "text": "Hel"}                               nothing follows the text until `release()`
    {"hold": true, "text": "Hello"}                               the same, then the answer is completed
    {"malformed": true}                                           a piece that is no JSON
    {"raw": "data: …"}                                            these bytes

The last step is repeated. `stop` is one of end, length, tools, filter; without it, what the step says. As a program it
takes the port and the script: python3 -m harness.model_server 21600 script.json
"""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

STOPS = {
    "anthropic": {"end": "end_turn", "length": "max_tokens", "tools": "tool_use", "filter": "refusal"},
    "openai": {"end": "stop", "length": "length", "tools": "tool_calls", "filter": "content_filter"},
}


def pieces(text, count):
    """The text in at most `count` pieces of about the same length."""
    size = max(1, -(-len(text) // max(1, count)))
    return [text[at:at + size] for at in range(0, len(text), size)]


def call_id(number, index):
    return f"call_{number:06d}_{index:06d}"


class Anthropic:
    """The events of one answer in the format of Anthropic Messages."""

    def __init__(self, step, number):
        self.step, self.number, self.index = step, number, 0

    @staticmethod
    def event(kind, **members):
        return f"event: {kind}\ndata: {json.dumps({'type': kind} | members)}\n\n"

    def begin(self):
        usage = self.step.get("usage", {})
        cached, written = usage.get("cached", 0), usage.get("written", 0)
        told = {"input_tokens": usage.get("input", 10) - cached - written, "cache_read_input_tokens": cached,
                "cache_creation_input_tokens": written, "output_tokens": 1}
        message = {"id": f"msg_{self.number}", "role": "assistant", "content": [], "usage": told}
        yield self.event("message_start", message=message)
        yield self.event("ping")

    def block(self, start, deltas):
        yield self.event("content_block_start", index=self.index, content_block=start)
        for delta in deltas:
            yield self.event("content_block_delta", index=self.index, delta=delta)
        yield self.event("content_block_stop", index=self.index)
        self.index += 1

    def said(self):
        count = self.step.get("chunks", 3)
        if self.step.get("reasoning"):
            deltas = [{"type": "thinking_delta", "thinking": one} for one in pieces(self.step["reasoning"], count)]
            deltas.append({"type": "signature_delta", "signature": "c2lnbmF0dXJl"})
            yield from self.block({"type": "thinking", "thinking": ""}, deltas)
        if self.step.get("text"):
            deltas = [{"type": "text_delta", "text": one} for one in pieces(self.step["text"], count)]
            yield from self.block({"type": "text", "text": ""}, deltas)

    def tools(self):
        for index, tool in enumerate(self.step.get("tools", [])):
            start = {"type": "tool_use", "id": call_id(self.number, index), "name": tool["name"], "input": {}}
            text = json.dumps(tool.get("input", {}))
            deltas = [{"type": "input_json_delta", "partial_json": one} for one in pieces(text, 3)]
            yield from self.block(start, deltas)

    def end(self, stop):
        usage = {"output_tokens": self.step.get("usage", {}).get("output", 5)}
        yield self.event("message_delta", delta={"stop_reason": STOPS["anthropic"][stop]}, usage=usage)
        yield self.event("message_stop")

    def failed(self, kind):
        yield self.event("error", error={"type": kind, "message": "the script says so"})


class OpenAI:
    """The events of one answer in the format of chat completions."""

    def __init__(self, step, number):
        self.step, self.number = step, number

    @staticmethod
    def event(value):
        return f"data: {json.dumps(value)}\n\n"

    def chunk(self, delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return self.event({"id": f"cmpl-{self.number}", "object": "chat.completion.chunk", "choices": [choice]})

    def begin(self):
        yield self.chunk({"role": "assistant", "content": ""})

    def said(self):
        count = self.step.get("chunks", 3)
        for one in pieces(self.step.get("reasoning", ""), count):
            yield self.chunk({"reasoning_content": one})
        for one in pieces(self.step.get("text", ""), count):
            yield self.chunk({"content": one})

    def tools(self):
        for index, tool in enumerate(self.step.get("tools", [])):
            first = {"index": index, "id": call_id(self.number, index), "type": "function",
                     "function": {"name": tool["name"], "arguments": ""}}
            yield self.chunk({"tool_calls": [first]})
            for one in pieces(json.dumps(tool.get("input", {})), 3):
                yield self.chunk({"tool_calls": [{"index": index, "function": {"arguments": one}}]})

    def end(self, stop):
        usage = self.step.get("usage", {})
        yield self.chunk({}, STOPS["openai"][stop])
        told = {"prompt_tokens": usage.get("input", 10), "completion_tokens": usage.get("output", 5),
                "prompt_tokens_details": {"cached_tokens": usage.get("cached", 0)}}
        yield self.event({"id": f"cmpl-{self.number}", "choices": [], "usage": told})
        yield "data: [DONE]\n\n"

    def failed(self, kind):
        yield self.event({"error": {"type": kind, "message": "the script says so"}})


FORMATS = {"/v1/messages": Anthropic, "/messages": Anthropic,
           "/v1/chat/completions": OpenAI, "/chat/completions": OpenAI}


class Handler(BaseHTTPRequestHandler):
    """One connection."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number, step = self.server.model.take(self.path, dict(self.headers), body)
        wire = FORMATS.get(self.path.split("?")[0])
        if wire is None:
            self.refuse(404, {"message": f"no such path: {self.path}"})
        elif "status" in step:
            self.refuse(step["status"], step)
        else:
            self.answer(wire(step, number), step)

    def do_GET(self):
        if not self.path.split("?")[0].endswith("/models"):
            self.refuse(404, {"message": f"no such path: {self.path}"})
            return
        models = self.server.model.list_models(self.path, dict(self.headers))
        if models is None:
            self.refuse(503, {"message": "no list today"})
            return
        body = json.dumps({"object": "list", "data": models}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, step):
        body = json.dumps({"type": "error", "error": {"type": step.get("error", "api_error"),
                                                      "message": step.get("message", "the script says so")}}).encode()
        self.send_response(status)
        if "retry_after" in step:
            self.send_header("Retry-After", str(step["retry_after"]))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def put(self, text):
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def answer(self, wire, step):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.speak(wire, step)
        except OSError:
            self.close_connection = True

    def speak(self, wire, step):
        for text in [*wire.begin(), *wire.said()]:
            self.put(text)
        if "raw" in step or step.get("malformed"):
            self.put(step.get("raw", "data: {\"this is\": no JSON\n\n"))
        if step.get("silent") or step.get("hold"):
            self.server.model.wait_release()
        if step.get("cut") or step.get("silent"):
            self.close_connection = True
            return
        if "error" in step:
            ending = wire.failed(step["error"])
        else:
            ending = [*wire.tools(), *wire.end(step.get("stop") or ("tools" if step.get("tools") else "end"))]
        for text in ending:
            self.put(text)
        self.wfile.write(b"0\r\n\r\n")


class ModelServer:
    """Use it with `with`: it listens until the end. `requests` are dicts of path, headers and body."""

    def __init__(self, script, port=0):
        self.script = list(script)
        self.requests = []
        self.models = []  # for whoever asks which there are; None = it refuses
        self.listings = []  # who asked
        self.changed = threading.Condition()
        self.released = False
        self.http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.http.model = self
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def list_models(self, path, headers):
        """What GET /v1/models answers; None is a refusal."""
        with self.changed:
            self.listings.append({"path": path, "headers": headers})
            return self.models

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.release()
        self.http.shutdown()
        self.http.server_close()

    @property
    def port(self):
        return self.http.server_address[1]

    def environment(self):
        """What makes a server use this provider for both formats."""
        return {"ANTHROPIC_API_KEY": "sk-ant-test-0123456789abcdefghij",
                "OPENAI_API_KEY": "sk-test-0123456789abcdefghij",
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}",
                "OPENAI_BASE_URL": f"http://127.0.0.1:{self.port}/v1"}

    def take(self, path, headers, body):
        """Keeps a request; its number and the step that answers it."""
        with self.changed:
            number = len(self.requests)
            self.requests.append({"path": path, "headers": headers, "body": json.loads(body or b"null")})
            step = self.script[min(number, len(self.script) - 1)]
            self.changed.notify_all()
        return number, step

    def say_next(self, *steps):
        """These steps answer the coming requests."""
        with self.changed:
            self.script = [{}] * len(self.requests) + list(steps)

    def wait_requests(self, count, seconds=20):
        """Waits until so many requests have come; True when they have."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.requests) >= count, seconds)

    def wait_release(self):
        with self.changed:
            self.changed.wait_for(lambda: self.released, 120)

    def release(self):
        """What is silent or held goes on."""
        with self.changed:
            self.released = True
            self.changed.notify_all()


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        script = json.load(file)
    with ModelServer(script, int(sys.argv[1])) as server:
        print(json.dumps({"port": server.port}), flush=True)
        server.thread.join()


if __name__ == "__main__":
    main()
