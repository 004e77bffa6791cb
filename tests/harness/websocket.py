"""A WebSocket client (RFC 6455) that can also send what it should not."""
import base64
import hashlib
import json
import os
import struct

from harness import check
from harness.check import Failure

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10


def handshake_headers():
    """The headers of an upgrade and the Sec-WebSocket-Accept that must come back."""
    key = base64.b64encode(os.urandom(16)).decode()
    digest = hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    headers = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
               ("Sec-WebSocket-Key", key)]
    return headers, base64.b64encode(digest).decode()


def encode_frame(opcode, payload, is_final=True, is_masked=True):
    """The bytes of one frame."""
    head = bytes([(0x80 if is_final else 0) | opcode])
    mask_bit = 0x80 if is_masked else 0
    if len(payload) < 126:
        head += bytes([mask_bit | len(payload)])
    elif len(payload) < 65536:
        head += bytes([mask_bit | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([mask_bit | 127]) + struct.pack(">Q", len(payload))
    if not is_masked:
        return head + payload
    mask = os.urandom(4)
    stretched = (mask * (len(payload) // 4 + 1))[:len(payload)]
    masked = (int.from_bytes(payload, "big") ^ int.from_bytes(stretched, "big")).to_bytes(len(payload), "big")
    return head + mask + masked


class WebSocket:
    """Messages of one connection. Pings are answered while reading and counted in `pings`."""

    def __init__(self, connection, response):
        self.connection = connection
        self.response = response
        self.pings = 0
        self.close_code = None
        self.close_reason = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.connection.close()

    def send(self, message):
        """A text message: a str as it is, anything else as JSON."""
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        self.connection.send(encode_frame(TEXT, text.encode()))

    def send_frame(self, opcode, payload=b"", is_final=True, is_masked=True):
        """One frame, right or wrong."""
        self.connection.send(encode_frame(opcode, payload, is_final, is_masked))

    def read_frame(self, deadline):
        """(is_final, opcode, payload) of the next frame."""
        first, second = self.connection.take(2, deadline)
        size = second & 0x7F
        if second & 0x80:
            raise Failure("the server masked a frame")
        if size == 126:
            size = struct.unpack(">H", self.connection.take(2, deadline))[0]
        elif size == 127:
            size = struct.unpack(">Q", self.connection.take(8, deadline))[0]
        return bool(first & 0x80), first & 0x0F, self.connection.take(size, deadline)

    def next(self, seconds=10):
        """The next message (bytes for binary, str for text); None after the server's close frame."""
        deadline = check.deadline_after(seconds)
        kind, parts = None, []
        while True:
            is_final, opcode, payload = self.read_frame(deadline)
            if opcode == CLOSE:
                self.close_code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else 1005
                self.close_reason = payload[2:].decode()
                return None
            if opcode == PING:
                self.pings += 1
                self.send_frame(PONG, payload)
            elif opcode != PONG:
                kind = opcode or kind
                parts.append(payload)
                if is_final:
                    whole = b"".join(parts)
                    return whole.decode() if kind == TEXT else whole

    def next_json(self, seconds=10):
        """The next message as JSON."""
        message = self.next(seconds)
        if message is None:
            raise Failure(f"the server closed with {self.close_code} {self.close_reason!r}")
        return json.loads(message)

    def until(self, wanted, seconds=10):
        """All JSON messages up to and including the first for which `wanted(message)` holds."""
        messages = []
        while True:
            messages.append(self.next_json(seconds))
            if wanted(messages[-1]):
                return messages

    def close(self, code=1000, reason=""):
        """Sends a close frame, waits for the server's, and closes the socket."""
        self.send_frame(CLOSE, struct.pack(">H", code) + reason.encode())
        while self.next() is not None:
            pass
        self.connection.close()
