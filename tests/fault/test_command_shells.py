"""Rules about commands against real shells: what the reader is certain of is what bash, dash and zsh run.

Lines are composed from tricks, and changed at random. Those that the reader is certain of run in a sandbox without network,
in which some programs only write down how they were called. Every such call must be one of the reader's forms.
tests/run --rounds N tries N times as many.
"""
import json
import os
import random
import shutil
import string
import subprocess
import tempfile

from fault.command_forms import FORMS, fill
from harness import check
from harness.check import Skip
from harness.suite import test

BATCH = 100
RECORDED = ("curl", "rm", "ship", "publish", "npm", "sqlite3", "Ship", "git-lfs")
SHELLS = {"bash": "bash -c", "dash": "dash -c", "zsh": "zsh -f -c"}
WORDS = ("origin", "-f", "--force", "x", "a.txt", "'a b'", '"a b"', "'$X'", "'a;b'", "a\\ b", "''", "--key=value", "A=b",
         "'ship x'", '"rm\ny"', "-c", "-e", "*", "{a,b}", "$X", "~", "'*'", "#", "!", "a#b", "a!", "a^b", "=ls", "%1", "--",
         "@", "+x", "-", "a{", "}", "[a]", "\\$X", '"\\$X"', "'\\'", "$'a'", "ship")
CODE = ("ship x", "rm -f y", "curl z", "publish")
STARTERS = (
    "env {}", "env -i PATH=/stubs {}", "env CI=1 {}", "env -u HOME -- {}", "env -S '{}'", "timeout 5 {}", "timeout -s KILL 5 {}",
    "timeout -k 1 --foreground 5 {}", "nice {}", "nice -n 1 {}", "nice -5 {}", "nohup {}", "setsid -w {}", "stdbuf -o L {}",
    "stdbuf -oL {}", "ionice -c 3 {}", "command {}", "command -p {}", "command -v {}", "builtin {}", "exec {}", "exec -a x {}",
    "eval {}", "eval '{}'", "sh -c '{}'", "bash -c '{}'", "bash -lc '{}'", "bash -e -c '{}' x", "dash -c '{}'", "sh -ec '{}'",
    'sh -c "{}"', "zsh -c '{}'", "sh -c -- '{}'", "bash -O extglob -c '{}'", "CI=1 {}", "CI= LANG=C {}", "PATH=/stubs {}",
    "FOO=1 {}", "time {}", "! {}", "coproc {}", "xargs {} </dev/null", "echo x | xargs {}", "find . -maxdepth 0 -exec {} \\;",
    "find . -maxdepth 0 -name . -print -exec {} +", "awk 'BEGIN{{system(\"{}\")}}'", "sed -n '1e {}' in", "sed '1s/.*/{}/e' in",
    "sed -n 1,3p in; {}", "python3 -c 'import os;os.system(\"{}\")'", "perl -e 'system(\"{}\")'", "f() {{ {}; }}; f",
    "git -c alias.x='!{}' x", "git -c core.pager='{}' -p log", "git grep -O'{}' x", "git rebase -x '{}' HEAD", "git config alias.q '!{}'; git q",
    "git -c core.fsmonitor='{}' status", "git diff; {}", "git status --short && {}", "git log --oneline -1 | {}",
    "sort -S 1 --compress-program='{}' in", "sort -u in | {}", "tar cf x --checkpoint=1 --checkpoint-action=exec='{}' in",
    "tar cf x -I '{}' in", "split --filter='{}' in", "make --eval='$(shell {})' -n", "printf '{}' | sh", "echo {} | bash -s -- x",
    "echo '{}' > s; sh s", "echo '{}' > s; . ./s", "trap '{}' EXIT", "alias ls='{}'\nls", "test -v 'a[$({})]'", "printf -v 'a[$({})]' x",
    "[ 'a[$({})]' -eq 0 ]", "exit 'a[$({})]'", "unset 'a[$({})]'", "hash -p /stubs/ship ls; ls", "cat <<X\n{}\nX", "sh <<X\n{}\nX",
    "sh <<<'{}'", "cat <({})", "echo $({})", "echo `{}`", 'echo "$({})"', "$({})", "if true; then {}; fi", "for i in 1; do {}; done",
    "while {}; do break; done", "case x in x) {};; esac", "({})", "{{ {}; }}", "[[ x ]] && {}", "echo '", 'echo "', "echo \\",
    "export PATH=/stubs; {}", "export CI=1; {}", "set -k; {}", "watch -n 1 -t -g {}", "script -qc '{}' /dev/null", "flock l {}",
    "flock l -c '{}'", "su -c '{}'", "npx {}", "IFS=i; {}", "X='{}'; $X", "X='{}'; eval $X", "read X <in; {}", "shopt -s extglob\n{}",
    "> out {}", "< in {}", "{} > out", "{} 2>&1 >> out", "{} >&2", "{} &> out", "{} >&1\"0\"", "{} 12>out", "{} | cat", "{} |& cat", "{} &",
    "cd . && {}", "ls; {}", "ls || {}", "false || {}", "true\n{}", "true &&\n{}", "true |\n{}", "ls # {}", "ls #\n{}", "{} # x", "\\{}", "''{}",
)


def command(chance):
    """A command of a recorded program with some words."""
    words = [chance.choice(WORDS) for _ in range(chance.choice((0, 0, 1, 1, 2, 3)))]
    return " ".join([chance.choice(CODE), *words])


def changed(chance, line):
    """The line with a character more, less or another."""
    at = chance.randrange(len(line) + 1)
    other = chance.choice("\\'\"$`;&|<>(){}[]*?~#!=^%@-+ \t\n\r\v\x01" + string.ascii_letters + string.digits + "\u00e9")
    return line[:at] + other * chance.choice((0, 1, 1, 1, 2)) + line[at + chance.choice((0, 1)):]


def compose(chance):
    """A line of tricks."""
    line = command(chance)
    for _ in range(chance.choice((0, 1, 1, 2, 2, 3))):
        line = fill(chance.choice(chance.choice((STARTERS, FORMS))), line)
    if chance.random() < 0.2:
        line += chance.choice(("; ", " && ", " || ", " | ", "\n", " & ")) + command(chance)
    for _ in range(chance.choice((0, 0, 0, 1, 1, 2))):
        line = changed(chance, line)
    return line.replace("\0", "") or "true"


def read(tools, lines):
    """What the reader makes of each line."""
    given = b"".join(line.encode() + b"\0" for line in lines)
    said = subprocess.run([os.path.join(tools, "command_reader")], input=given, capture_output=True, check=True).stdout
    return [json.loads(line.decode(errors="surrogateescape")) for line in said.splitlines()]


DRIVER = """
for file in /lines/*; do
  n=${file##*/}
  line=$(cat "$file"; printf x)
  line=${line%x}
  mkdir "/tree/$n" && cd "/tree/$n" || exit 9
  case $line in
  *git*) cp -r /repo/. . ;;
  *) cp /repo/in . ;;
  esac
  { timeout -s KILL 5 SHELL "$line" 9>&1 >/dev/null 2>&1 </dev/null; } | cat >/dev/null
  [ -e /log/calls ] && mv /log/calls "/log/$n"
done
exit 0
"""


def make_places(tools, root):
    """The directories that the sandbox shows: recorders by their names, and a small repository to work in."""
    for name in ("stubs", "repo", "lines", "log", "tree"):
        os.makedirs(os.path.join(root, name))
    for name in RECORDED:
        shutil.copy(os.path.join(tools, "command_recorder"), os.path.join(root, "stubs", name))
    repo = os.path.join(root, "repo")
    with open(os.path.join(repo, "in"), "w", encoding="utf-8") as file:
        file.write("ship x\nx\n")
    git = ["git", "-C", repo, "-c", "user.name=x", "-c", "user.email=x@x"]
    for words in (["init", "-q"], ["add", "in"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *words], check=True, capture_output=True)


def run_all(root, shell, lines):
    """The calls that each line made in a real shell."""
    for name in ("lines", "log", "tree"):
        shutil.rmtree(os.path.join(root, name))
        os.makedirs(os.path.join(root, name))
    for number, line in enumerate(lines):
        with open(os.path.join(root, "lines", f"{number:05}"), "w", encoding="utf-8", newline="") as file:
            file.write(line)
    binds = [word for name in ("stubs", "repo", "lines", "log", "tree")
             for word in ("--bind", os.path.join(root, name), "/" + name)]
    ran = subprocess.run(
        ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink",
         "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", *binds,
         "--clearenv", "--setenv", "PATH", "/stubs:/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--setenv", "GIT_EDITOR", "true",
         "--chdir", "/tree", "/usr/bin/dash", "-c", DRIVER.replace("SHELL", SHELLS[shell])],
        capture_output=True, text=True, check=False)
    check.equal(ran.returncode, 0, f"the sandbox of {shell}: {ran.stderr[-500:]}")
    return [calls_in(os.path.join(root, "log", f"{number:05}")) for number in range(len(lines))]


def calls_in(path):
    """The calls that recorders wrote down, each as words with blanks between."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return [call.replace("\x1f", " ") for call in file.read().split("\x1e")[:-1]]


def hold_against(root, shell, lines, readings):
    """Fails when a shell made a call that the reader did not know of; the number of calls."""
    count = 0
    for line, reading, calls in zip(lines, readings, run_all(root, shell, lines), strict=True):
        count += len(calls)
        for call in calls:
            check.contains(reading["forms"], call, f"{shell} ran it for the certain line {line!r}")
    return count


@test(timeout_s=600)
def listed_forms_are_foreseen(program):
    """Each form once around a command, without anything random."""
    tools = os.path.join(os.path.dirname(program), "tests", "fuzz")
    shells = [name for name in SHELLS if shutil.which(name)]
    if not shutil.which("bwrap"):
        raise Skip("bubblewrap is not installed")
    lines = [fill(form, CODE[0]) for form in (*STARTERS, *FORMS)]
    known = [(line, reading) for line, reading in zip(lines, read(tools, lines), strict=True) if reading["is_certain"]]
    with tempfile.TemporaryDirectory() as root:
        make_places(tools, root)
        calls = sum(hold_against(root, shell, [line for line, _ in known], [reading for _, reading in known]) for shell in shells)
    print(f"{len(lines)} lines, {len(known)} of them certain: {calls} calls, all of them foreseen")
    check.true(calls > len(known), "most of the lines ran something")


@test(timeout_s=3600)
def certain_lines_run_what_they_say(program):
    """Random lines; the seed is printed by the run."""
    tools = os.path.join(os.path.dirname(program), "tests", "fuzz")
    chance = random.Random(int(os.environ.get("SOJOURN_TEST_SEED", "1")))
    rounds = int(os.environ.get("SOJOURN_TEST_ROUNDS", "0")) or 1
    shells = [name for name in SHELLS if shutil.which(name)]
    if not shutil.which("bwrap"):
        raise Skip("bubblewrap is not installed")
    tried = certain = calls = 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as root:
            make_places(tools, root)
            lines, readings = [], []
            while len(lines) < BATCH:
                some = [compose(chance) for _ in range(2000)]
                known = [(line, reading) for line, reading in zip(some, read(tools, some), strict=True) if reading["is_certain"]]
                tried += len(some)
                lines += [line for line, _ in known]
                readings += [reading for _, reading in known]
            lines, readings = lines[:BATCH], readings[:BATCH]
            certain += len(lines)
            calls += sum(hold_against(root, shell, lines, readings) for shell in shells)
    print(f"{tried} lines, {certain} certain ones run in {', '.join(shells)}: {calls} calls, all of them foreseen")
    check.true(calls > certain, "most of the lines ran something")
