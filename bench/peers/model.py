"""A model that always needs the same time for its answer, for any number of callers: model.py PORT MILLISECONDS"""
import asyncio
import json
import sys

PIECES = 5
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def piece(delta, finish=None):
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                                   "choices": [choice]}).encode() + b"\n\n"


async def answer(reader, writer, answer_s):
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().splitlines()
    length = next((int(line.split(":")[1]) for line in lines if line.startswith("content-length:")), 0)
    await reader.readexactly(length)
    writer.write(HEAD)
    for _ in range(PIECES):
        await asyncio.sleep(answer_s / PIECES)
        writer.write(piece({"content": "and so on "}))
    writer.write(piece({}, "stop") + b"data: [DONE]\n\n")
    await writer.drain()
    writer.close()


async def main(port, answer_ms):
    async def take(reader, writer):
        try:
            await answer(reader, writer, answer_ms / 1000)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", port, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
