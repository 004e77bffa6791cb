"""A small validator for the part of JSON Schema that the OpenAPI document uses."""
import re

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
KINDS = {"string": str, "integer": int, "boolean": bool, "object": dict, "array": list, "null": type(None)}
KNOWN = {"type", "format", "enum", "properties", "required", "items", "description", "additionalProperties", "$ref",
         "minLength", "maxLength", "minimum", "maximum", "anyOf"}


def is_kind(value, kind):
    """Whether a value is of a JSON type; true and false are no integers."""
    return isinstance(value, KINDS[kind]) and not (kind == "integer" and isinstance(value, bool))


def resolve(schema, document):
    """Follows a reference."""
    while "$ref" in schema:
        name = schema["$ref"].removeprefix("#/components/schemas/")
        schema = document["components"]["schemas"][name]
    return schema


def mistakes(value, schema, document, at="answer"):
    """What is wrong with a value: sentences. Members that the schema does not name are wrong too."""
    schema = resolve(schema, document)
    unknown = set(schema) - KNOWN
    if unknown:
        return [f"{at}: the schema uses {sorted(unknown)}, which this validator does not know"]
    if "anyOf" in schema:
        tried = [mistakes(value, one, document, at) for one in schema["anyOf"]]
        return min(tried, key=len)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{at} is {value!r}, not {' or '.join(kinds)}"]
    found = []
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{at} is {value!r}, not one of {schema['enum']}")
    if schema.get("format") == "date-time" and value is not None and not TIME.fullmatch(value):
        found.append(f"{at} is {value!r}, not RFC 3339 with milliseconds")
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            found += mistakes(item, schema["items"], document, f"{at}[{index}]")
    if isinstance(value, dict) and "properties" in schema:
        found += object_mistakes(value, schema, document, at)
    return found


def object_mistakes(value, schema, document, at):
    """The members of an object."""
    found = [f"{at} lacks {name}" for name in schema.get("required", []) if name not in value]
    for name, member in value.items():
        if name in schema["properties"]:
            found += mistakes(member, schema["properties"][name], document, f"{at}.{name}")
        elif schema.get("additionalProperties") is not True:
            found.append(f"{at}.{name} is not in the schema")
    return found
