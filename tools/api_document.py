#!/usr/bin/env python3
"""Writes docs/api.md to standard output from the OpenAPI document of a program: tools/api_document.py build/sojourn"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

INTRODUCTION = """# The API

Written by `tools/docs` from `/api/openapi.json`; change the routes and fields beside their
handlers in `src/api`, not this file.

- **Who calls**: `Authorization: Bearer TOKEN`, or the cookie of a signed-in browser with `X-CSRF-Token` on every
  method that writes. Streams also take `?ticket=` from `POST /api/tickets`.
- **JSON** is snake_case, times are RFC 3339 in UTC with milliseconds. Members a request does not know are refused.
- **Errors** are `application/problem+json` with `status`, a stable `code` and a sentence in `detail`. A session that is
  not for you answers 404 with the same bytes as one that does not exist.
- **Once**: a route that takes `Idempotency-Key` gives the same answer to the same request again
  (`Idempotency-Replayed: true`), and 409 to another request with that key.
- **Holders** of a claim send `Sojourn-Lease: TOKEN`; a lease that is over is refused with 409 and nothing is changed.
- **Short answers**: with `Prefer: return=minimal` (RFC 7240) claims, settlements and releases answer sessions with
  `id`, `type`, `status`, `agent`, `agent_version`, `attempt`, `claim_attempts`, `fence`, `last_sequence`,
  `initial_prompt` and `metadata` only.
"""


def type_words(schema):
    """A schema in a few words: `string`, `integer or null`, `list of Event`."""
    if "$ref" in schema:
        name = schema["$ref"].split("/")[-1]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(type_words(one) for one in schema["anyOf"])
    kinds = schema.get("type", "anything")
    kinds = [kinds] if isinstance(kinds, str) else kinds
    words = [("time" if schema.get("format") == "date-time" else kind) if kind != "null" else "null" for kind in kinds]
    if "items" in schema:
        words[0] = "list of " + type_words(schema["items"])
    text = " or ".join(words)
    if "enum" in schema:
        text += ": " + ", ".join(f"`{word}`" for word in schema["enum"] if word)
    return text + bounds(schema)


def bounds(schema):
    """Limits of a text or number."""
    for least, most, unit in (("minLength", "maxLength", " characters"), ("minimum", "maximum", "")):
        if most in schema:
            return f", {schema.get(least, 0)} to {schema[most]}{unit}"
        if schema.get(least):
            return f", from {schema[least]}{unit}"
    return ""


def table(head, rows):
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows])


def parameter_rows(operation):
    """Rows for everything a request can hold."""
    rows = []
    for one in operation["parameters"]:
        if one["in"] != "path":
            name = one["name"] + ("NAME" if one["name"].endswith(".") else "")
            rows.append((f"`{name}`", one["in"], type_words(one["schema"]), one["schema"].get("description", "")))
    content = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        required = media["schema"].get("required", [])
        for name, schema in media["schema"]["properties"].items():
            rows.append((f"`{name}`", "body, required" if name in required else "body", type_words(schema),
                         schema.get("description", "")))
    return rows


def section(method, path, operation):
    """One route."""
    lines = [f"### {method.upper()} {path}", "", operation["summary"]]
    if not operation["security"]:
        lines[-1] += " No credentials are needed."
    for code, answer in operation["responses"].items():
        if code != "default":
            schemas = [type_words(media["schema"]) for media in answer.get("content", {}).values()]
            lines.append(f"Answers {code}" + (f" with {schemas[0]}." if schemas else "."))
    rows = parameter_rows(operation)
    if rows:
        lines += ["", table(("name", "in", "type", "what"), rows)]
    return "\n".join(lines)


def schema_section(name, schema):
    """One object of the answers."""
    required = schema.get("required", [])
    rows = [(f"`{member}`" + ("" if member in required else " (may be missing)"), type_words(one))
            for member, one in schema["properties"].items()]
    return f"### {name}\n\n" + table(("member", "type"), rows)


def markdown(document):
    """The whole document."""
    parts = [INTRODUCTION]
    for title in [tag["name"] for tag in document["tags"]]:
        sections = [section(method, path, operation) for path, methods in document["paths"].items()
                    for method, operation in methods.items() if operation["tags"] == [title]]
        if sections:
            parts.append(f"## {title}\n\n" + "\n\n".join(sections) + "\n")
    schemas = document["components"]["schemas"]
    parts.append("## Objects\n\n" + "\n\n".join(schema_section(name, schemas[name]) for name in schemas) + "\n")
    return "\n".join(parts)


def ask(path):
    """The document of a server on a unix socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(path)
        connection.sendall(b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while data := connection.recv(65536):
            answer += data
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])


def document_of(program):
    """Starts the program for a moment."""
    with tempfile.TemporaryDirectory(prefix="sojourn-") as directory:
        path = os.path.join(directory, "socket")
        command = [program, "serve", "--data", directory, "--listen", f"unix:{path}", "--log-level", "error"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 10
            while True:
                try:
                    return ask(path)
                except OSError:
                    if time.monotonic() > deadline or process.poll() is not None:
                        raise
                    time.sleep(0.01)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    sys.stdout.write(markdown(document_of(sys.argv[1] if len(sys.argv) > 1 else "build/sojourn")))
