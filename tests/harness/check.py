"""Assertions that say what was expected, and the one way to wait."""
import json
import os
import time


class Failure(AssertionError):
    """The thing under test is wrong."""


class Skip(Exception):
    """The test can't be run here; the message says why."""


def patience():
    """How much longer than usual everything may take: more than 1 under a sanitizer or on a busy machine."""
    return float(os.environ.get("SOJOURN_TEST_PATIENCE", "1"))


def deadline_after(seconds):
    """The monotonic time at which a wait of `seconds`, stretched by patience(), is over."""
    return time.monotonic() + seconds * patience()


def show(value):
    """A value as it should be read in a message: JSON where possible, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 2000 else text[:2000] + f"… ({len(text)} characters)"


def fail(message):
    """Ends the test."""
    raise Failure(message)


def true(value, what):
    """`value` holds; `what` is the sentence that would be true."""
    if not value:
        raise Failure(f"not so: {what}")


def equal(got, want, what="value"):
    """The two are equal."""
    if got != want:
        raise Failure(f"{what}\n  is       {show(got)}\n  expected {show(want)}")


def contains(whole, part, what="value"):
    """`part` is in `whole`: a substring, an element, or every member of a smaller dict."""
    if isinstance(whole, dict) and isinstance(part, dict):
        for key, value in part.items():
            if key not in whole:
                raise Failure(f"{what} has no member {show(key)}: {show(whole)}")
            equal(whole[key], value, f"{what}.{key}")
    elif part not in whole:
        raise Failure(f"{what}\n  is       {show(whole)}\n  should contain {show(part)}")


def one_of(got, choices, what="value"):
    """`got` is among `choices`."""
    if got not in choices:
        raise Failure(f"{what}\n  is       {show(got)}\n  expected one of {show(list(choices))}")


def raises(kind, call, *args, **named):
    """Calling raises `kind`; the exception is returned."""
    try:
        result = call(*args, **named)
    except kind as error:
        return error
    raise Failure(f"expected {kind.__name__}, got {show(result)}")


def problem(response, status, code=None):
    """An error answer: the status, problem+json, a stable code, a sentence. Returns the document."""
    equal(response.status, status, f"status of {response.request_line}, body {response.body[:500]!r}")
    equal(response.header("content-type", "").split(";")[0], "application/problem+json", "content type of an error")
    document = response.json()
    equal(document.get("status"), status, "status member of the problem document")
    true(document.get("code"), f"the problem document has a code: {show(document)}")
    true(document.get("detail") or document.get("title"), f"the problem document says what was wrong: {show(document)}")
    if code is not None:
        equal(document["code"], code, "code of the problem document")
    return document


def eventually(condition, what, seconds=10):
    """Calls `condition` until its result is true, and returns that; fails after `seconds`.

    For conditions nobody announces. Where the server sends an event, read the event instead.
    """
    deadline = deadline_after(seconds)
    pause = 0.002
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise Failure(f"not within {seconds * patience():g} s: {what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
