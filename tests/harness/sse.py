"""A reader of server-sent events that sees comments and ids, and always has a deadline."""
import json

from harness import check
from harness.check import Failure


class Frame:
    """One dispatched event. `event` is "message" when the server named none; `id` is what this frame itself carried."""

    def __init__(self, event, id, data):
        self.event = event
        self.id = id
        self.data = data

    def json(self):
        """The data as JSON."""
        return json.loads(self.data)

    def __repr__(self):
        return f"<{self.event} id={self.id} {self.data[:200]}>"


class EventStream:
    """Frames of one stream, in order. `comments` counts the heartbeats seen, `last_id` is the cursor to resume from."""

    def __init__(self, connection, response):
        self.connection = connection
        self.response = response
        self.is_chunked = "chunked" in response.header("transfer-encoding", "").lower()
        self.text = bytearray()
        self.last_id = None
        self.comments = 0

    def close(self):
        """Ends the stream from this side."""
        self.connection.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def read_more(self, deadline):
        """Reads some bytes of the body; False at its end."""
        if self.is_chunked:
            data = self.connection.read_chunk(deadline)
        else:
            data = self.take_available(deadline)
        self.text += data
        return bool(data)

    def take_available(self, deadline):
        """Bytes of a body that ends with the connection."""
        from harness.client import Closed
        if not self.connection.buffer:
            try:
                self.connection.fill(deadline)
            except Closed:
                return b""
        return self.connection.take(len(self.connection.buffer))

    def next(self, seconds=10):
        """The next frame; None when the server ended the stream; a Failure when neither comes in time."""
        deadline = check.deadline_after(seconds)
        while True:
            frame = self.parse_one()
            if frame:
                return frame
            if not self.read_more(deadline):
                return None

    def parse_one(self):
        """A frame out of what was read, or None. Comment-only blocks are counted and skipped."""
        while (end := self.text.find(b"\n\n")) >= 0:
            block = bytes(self.text[:end]).decode()
            del self.text[:end + 2]
            frame = self.parse_block(block)
            if frame:
                return frame
        return None

    def parse_block(self, block):
        """The lines between two empty lines."""
        event, id, data = "message", None, []
        for line in block.split("\n"):
            name, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if name == "":
                self.comments += 1
            elif name == "event":
                event = value
            elif name == "id":
                id = value
            elif name == "data":
                data.append(value)
        if id is not None:
            self.last_id = id
        return Frame(event, id, "\n".join(data)) if data else None

    def collect(self, count, seconds=10):
        """The next `count` frames."""
        frames = []
        while len(frames) < count:
            frame = self.next(seconds)
            if frame is None:
                raise Failure(f"the stream ended after {len(frames)} of {count} frames: {frames[-3:]}")
            frames.append(frame)
        return frames

    def until(self, wanted, seconds=10):
        """All frames up to and including the first for which `wanted(frame)` holds (or whose event is `wanted`)."""
        is_wanted = (lambda frame: frame.event == wanted) if isinstance(wanted, str) else wanted
        frames = []
        while True:
            frame = self.next(seconds)
            if frame is None:
                raise Failure(f"the stream ended before the frame that was awaited: {frames[-3:]}")
            frames.append(frame)
            if is_wanted(frame):
                return frames

    def wait_comment(self, seconds=30):
        """Waits for a heartbeat; frames that come meanwhile stay readable."""
        deadline = check.deadline_after(seconds)
        before = self.comments
        while True:
            waiting = sum(1 for block in self.text.split(b"\n\n")[:-1] if block.startswith(b":"))
            if self.comments > before or waiting:
                return
            if not self.read_more(deadline):
                raise Failure("the stream ended before a heartbeat")

    def wait_end(self, seconds=10):
        """Reads to the end of the stream and returns the frames that came."""
        frames = []
        while frame := self.next(seconds):
            frames.append(frame)
        return frames
