"""What a request costs the server when what it carries grows: bodies made larger at every place, and the processor time
they take.

Time is taken from /proc/PID/task/*/schedstat, in nanoseconds of processor time of the server's own threads, so that a
busy machine does not count.
"""
import glob
import time

from harness import check
from harness.client import Deadline

ELEMENTS = 32000  # of the largest array or object
TEXT_BYTES = 1 << 19
FACTOR = 4  # between the two sizes that are compared
FLOOR_MS = 40  # below it nothing is compared
GROWTH_MAX = 7.0  # four times as much may cost a little more than four times; sixteen times is quadratic
SETTLE_S = 0.002

# Texts that a reader could look at again from each of their words.
TEXTS = ("a", "eyJaaaaaaaaaaaaaa/", "passwordaaaaaaaa/", "-----BEGIN ", "<a>[x](", "{\"", "\n```", "../")


def processor_ms(pid):
    """Milliseconds that the threads of a process have run."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        except OSError:
            continue  # the thread ended
    return total / 1e6


def cost_ms(server, act):
    """What `act` costs the server, with what it does right afterwards."""
    before = processor_ms(server.process.pid)
    act()
    time.sleep(SETTLE_S)
    return processor_ms(server.process.pid) - before


def text_of(shape, size):
    return (shape * (size // len(shape) + 1))[:size]


def numbered(value, number):
    """A copy whose names are its own, where it has any."""
    if isinstance(value, dict):
        return {name: f"{member}{number}" if isinstance(member, str) and "id" in name else member
                for name, member in value.items()}
    return f"{value}{number}" if isinstance(value, str) else value


def larger(value):
    """(what, make): ways to make a value larger; make(part) has `part` of the whole size."""
    for shape in TEXTS if isinstance(value, str) else ():
        yield f"text {shape!r}", lambda part, shape=shape: text_of(shape, int(TEXT_BYTES * part))
    if isinstance(value, list):
        sample = value[0] if value else "x"
        for what, one in {"same": sample, "text": "x", "object": {"id": "x"}, "number": None}.items():
            yield f"array of {what}", lambda part, one=one: [
                number if one is None else numbered(one, number) for number in range(int(ELEMENTS * part))]
    if isinstance(value, dict):
        def members(part, one=1):
            return value | {f"k{number}": one for number in range(int(ELEMENTS * part))}
        yield "object of numbers", members
        yield "object of objects", lambda part: members(part, {"n": 1})
        yield "object of texts", lambda part: members(part, "eyJaaaaaaaaaaaaaa/")
        yield "depth", lambda part: deep(int(60 * part), {"a": 1})
        yield "depth of arrays", lambda part: {"a": deep(int(60 * part), [1])}


def deep(levels, value):
    """The value inside so many of its kind, each with a long list beside it."""
    beside = list(range(ELEMENTS // 64))
    for _ in range(levels):
        value = {"a": value, "b": beside} if isinstance(value, dict) else [value, beside]
    return value


def places(value, path=()):
    """(path, value) of everything in a body, itself left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, member in inside:
        yield path + (name,), member
        yield from places(member, path + (name,))


def replaced(value, path, new):
    """A copy with another value at the path; what is missing on the way is made."""
    if not path:
        return new
    if isinstance(value, list):
        return [replaced(member, path[1:], new) if at == path[0] else member for at, member in enumerate(value)]
    value = value if isinstance(value, dict) else {}
    return value | {path[0]: replaced(value.get(path[0]), path[1:], new)}


SAMPLES = {"string": "x", "array": ["x"], "object": {"a": 1}}


def samples(schema):
    """One value of every kind that a schema takes; of all kinds when it does not say."""
    kinds = schema.get("type", list(SAMPLES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return [SAMPLES[kind] for kind in kinds if kind in SAMPLES and "enum" not in schema and "format" not in schema]


def grown_bodies(schema, example):
    """(where, make): every place of a body made larger in every way. Members come from the schema, so that a new one
    is among them, and from the example, which goes deeper."""
    example = example if isinstance(example, dict) else {}
    required = {name: example[name] for name in schema.get("required", []) if name in example}
    found = [((name,), value) for name, member in schema.get("properties", {}).items() for value in samples(member)]
    found += [(path, value) for path, value in places(example) if len(path) > 1 or path[0] not in dict(places(schema))]
    seen = set()
    for path, value in found + [(("no_such_member",), {"a": 1})]:
        for what, make in larger(value):
            key = (path, what)
            if key not in seen:
                seen.add(key)
                yield ".".join(map(str, path)) + ": " + what, (
                    lambda part, path=path, make=make, base=example if len(path) > 1 else required: replaced(
                        base, path, make(part)))


def growth(server, send, make, prepare=lambda: None):
    """How much more a request costs that is FACTOR times as large, and what it costs; None when too little to tell.
    Each is made twice: the second one meets what the first one left.

    `send(body)` makes the request; `prepare()` brings the server back to where such a request is accepted.
    """
    try:
        return compare(server, send, make, prepare)
    except Deadline:
        wait_quiet(server)
        prepare()
        return float("inf"), float("inf")


def wait_quiet(server, seconds=120):
    """Until the server has nothing left to do."""
    def rests():
        before = processor_ms(server.process.pid)
        time.sleep(0.3)
        return processor_ms(server.process.pid) - before < 30
    check.eventually(rests, "the server rests", seconds)


def compare(server, send, make, prepare):
    def measure(part):
        body = make(part)
        spent = max(cost_ms(server, lambda: send(body)), cost_ms(server, lambda: send(body)))
        prepare()
        return spent
    whole = measure(1)
    if whole < FLOOR_MS:
        return None, whole
    for _ in range(3):  # the first of a kind may warm something up
        whole, part = min(whole, measure(1)), max(measure(1 / FACTOR), 0.1)
        if whole / part < GROWTH_MAX or whole < FLOOR_MS:
            break
    return whole / part, whole
