"""The tracked files of the project, for tests about the project itself."""
import os
import subprocess

from harness.server import ROOT


def tracked_files():
    """Paths of all files git knows or would add, relative to the root."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"], check=True,
                            capture_output=True, text=True).stdout.splitlines()
    return sorted(path for path in set(listed) if os.path.isfile(os.path.join(ROOT, path)))


def read(path):
    """The text of a file; None when it is no text."""
    with open(os.path.join(ROOT, path), "rb") as file:
        data = file.read()
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def texts(*endings):
    """(path, text) of every tracked text file, or of those with one of the endings."""
    for path in tracked_files():
        if not endings or path.endswith(endings):
            text = read(path)
            if text is not None:
                yield path, text


def table_rows(text, heading):
    """The rows of the first Markdown table below a heading, each a list of cells, without the head."""
    rows, is_below, is_started = [], False, False
    for line in text.splitlines():
        if line.startswith("#"):
            if is_started:
                break
            is_below = line.lstrip("# ").strip() == heading
        elif is_below and line.startswith("|"):
            is_started = True
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif is_started:
            break
    return rows[2:]


def report(problems, what):
    """Fails with all problems at once."""
    from harness import check
    if problems:
        shown = problems[:40] + ([f"… and {len(problems) - 40} more"] if len(problems) > 40 else [])
        check.fail(f"{what}:\n  " + "\n  ".join(shown))
