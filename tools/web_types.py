#!/usr/bin/env python3
"""Writes web/src/types.ts to standard output, from the OpenAPI document of a program: tools/web_types.py PROGRAM"""
import sys

from api_document import document_of

INTRODUCTION = """// Written by `tools/docs` from `/api/openapi.json`; change the tables of the server, not this file.
"""

# Of names that mean something else in a browser.
RENAMED = {"Event": "SessionEvent"}
# Shapes of requests that the dashboard builds in several places: name → (method, path).
BODIES = {"Reply": ("post", "/api/sessions/{id}/asks/{ask_id}/answer")}
# Members whose schema is any text, because clients may use words of their own, but which are compared with ours.
KNOWN_WORDS = {("Event", "type"): "event_type"}
WIDTH = 120


def camel(name):
    """`stop_reason` → `StopReason`."""
    return "".join(part.capitalize() for part in name.split("_"))


def quoted(words):
    return [f"'{word}'" for word in words]


def union(name, words):
    """A type of some words, in one line if it fits."""
    line = f"export type {name} = {' | '.join(quoted(words))};"
    return line if len(line) <= WIDTH else "\n  | ".join([f"export type {name} ="] + quoted(words)) + ";"


class Writer:
    """Types of one document."""

    def __init__(self, document):
        self.document = document
        self.vocabularies = document["x-vocabularies"]
        self.by_words = {tuple(words): camel(name) for name, words in self.vocabularies.items()}

    def words(self, values):
        """The name of a vocabulary, or its words."""
        values = [value for value in values if value is not None]
        return self.by_words.get(tuple(values)) or " | ".join(quoted(values))

    def plain(self, kind, schema):
        if kind == "array":
            inner = self.type(schema["items"])
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        if kind == "string" and "enum" in schema:
            return self.words(schema["enum"])
        return {"string": "string", "integer": "number", "boolean": "boolean", "null": "null",
                "object": "Record<string, unknown>"}[kind]

    def type(self, schema):
        """The type of a schema."""
        if "$ref" in schema:
            name = schema["$ref"].split("/")[-1]
            return RENAMED.get(name, name)
        if "anyOf" in schema:
            return " | ".join(self.type(one) for one in schema["anyOf"])
        kinds = schema.get("type")
        if kinds is None:
            return "unknown"
        kinds = [kinds] if isinstance(kinds, str) else kinds
        return " | ".join(self.plain(kind, schema) for kind in kinds)

    def interface(self, name, schema):
        """One object."""
        lines = [f"export interface {RENAMED.get(name, name)} {{"]
        for member, one in schema["properties"].items():
            known = KNOWN_WORDS.get((name, member))
            optional = "" if member in schema.get("required", []) else "?"
            lines.append(f"  {member}{optional}: {camel(known) if known else self.type(one)};")
        if schema.get("additionalProperties") is True:
            lines.append("  [member: string]: unknown;")
        return "\n".join(lines + ["}"])

    def states(self):
        """What each status of a session is shown as, and its groups."""
        lines = ["export const STATES = {"]
        for name, state in self.document["x-states"].items():
            members = ", ".join(f"{key}: " + (str(value).lower() if isinstance(value, bool) else f"'{value}'")
                                for key, value in state.items() if key != "display_reason")
            lines.append(f"  {name}: {{ {members} }},")
        lines.append("} satisfies Record<Status, { display_status: DisplayStatus; ended: boolean; failing: boolean; "
                     "in_turn: boolean }>;")
        return "\n".join(lines)

    def body(self, name, method, path):
        operation = self.document["paths"][path][method]
        return self.interface(name, operation["requestBody"]["content"]["application/json"]["schema"])

    def text(self):
        parts = [INTRODUCTION]
        parts += [union(camel(name), words) + "\n" for name, words in self.vocabularies.items()]
        parts += [self.states() + "\n"]
        schemas = self.document["components"]["schemas"]
        parts += [self.interface(name, schema) + "\n" for name, schema in schemas.items()]
        parts += [self.body(name, *route) + "\n" for name, route in BODIES.items()]
        return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(Writer(document_of(sys.argv[1] if len(sys.argv) > 1 else "build/sojourn")).text())
