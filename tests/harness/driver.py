"""Builds the trees, runs the chosen cases two at a time, each in a process of its own, and counts."""
import argparse
import fnmatch
import json
import os
import random
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from harness.check import Failure, Skip, patience
from harness.postgres import Cluster
from harness.server import ROOT, sanitizer_environment
from harness.sets import SETS, is_named
from harness.suite import ENGINES, SANITIZED, TREES, Case, find_functions

MEMORY_BYTES = 4 << 30
SKIPPED = 77  # the exit code of a program that could not test anything
PROGRAM_VARIANTS = {"unit": ("gcc", "asan", "tsan"), "fuzz": ("gcc", "asan"), "suites": ("gcc", "asan"),
                    "disk": ("gcc", "asan"),
                    "store": ("sqlite", "postgres", *SANITIZED)}
THREADLESS = ("base_", "wire_", "domain_", "cli_", "main_", "api_")  # rooms of unit tests in which nothing could race


class ProgramCase(Case):
    """A test program that meson built: a unit test, the corpus of a fuzzer, the contract of the store."""

    def __init__(self, name, variant, suite, command, timeout_s):
        super().__init__(f"{suite}/{name.removeprefix(suite.removesuffix('s') + '_')}", variant, suite, timeout_s)
        self.needs_program = True
        self.command = command

    def in_tree(self, part):
        """A word of the command for the tree of this case; meson wrote it for the first tree, or relative to it."""
        tree = os.path.join(ROOT, TREES[self.flavour])
        first = os.path.join(ROOT, TREES["gcc"]) + "/"
        path = os.path.join(tree, part.removeprefix(first))
        return path if os.path.isfile(path) else part

    def run(self):
        """Replaces this process by the program; it finds its engine in SOJOURN_TEST_DATABASE (empty = SQLite)."""
        with tempfile.TemporaryDirectory(prefix="t", dir=os.environ.get("SOJOURN_TEST_DIRECTORY")) as directory:
            url = ""
            if self.engine == "postgres":
                url = Cluster(os.environ["SOJOURN_TEST_CLUSTER"], is_ours=False).new_database()
            command = [self.in_tree(part) for part in self.command]
            environment = os.environ | {"SOJOURN_TEST_DATABASE": url, "SOJOURN_TEST_DIRECTORY": directory}
            result = subprocess.run(command, cwd=directory, env=environment | sanitizer_environment(), check=False)
        if result.returncode == SKIPPED:
            raise Skip("")  # the program has printed why
        if result.returncode:
            raise Failure(f"{shlex.join(command)} ended with {result.returncode}")


def prepare_tree(flavour):
    """Configures a tree when it is new or its description has changed; says nothing when that works."""
    subprocess.run([os.path.join(ROOT, "tools", "tree"), TREES[flavour]], check=True)
    result = subprocess.run(["ninja", "-C", os.path.join(ROOT, TREES[flavour]), "build.ninja"], capture_output=True,
                            text=True, check=False)
    if result.returncode:
        sys.exit(f"{result.stdout}{result.stderr}\n{TREES[flavour]} can't be configured")


def find_programs():
    """All cases that meson knows, from the first tree; the others have the same."""
    prepare_tree("gcc")
    tree = os.path.join(ROOT, TREES["gcc"])
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", tree], check=True, capture_output=True).stdout)
    cases = []
    for test in tests:
        suite = test["suite"][0].split(":")[-1]
        for variant in PROGRAM_VARIANTS.get(suite, ("gcc",)):
            engine = next((engine for engine in ENGINES if engine in test["name"]), None)
            if suite == "store" and engine and engine not in variant:
                continue
            if (suite, variant) == ("unit", "tsan") and test["name"].startswith(THREADLESS):
                continue
            cases.append(ProgramCase(test["name"], variant, suite, test["cmd"], max(test["timeout"], 60)))
    return cases


def is_chosen(case, options):
    """Whether the command line asks for this case."""
    if options.engine and case.engine != options.engine:
        return False
    if options.flavour and case.flavour != options.flavour:
        return False
    if options.pattern and not (options.pattern in case.name or fnmatch.fnmatch(case.name, options.pattern)):
        return False
    if not options.names:
        return True
    return any(is_named(case, name) for name in options.names)


class Report:
    """Prints one line per case and keeps the count."""

    def __init__(self, options):
        self.options = options
        self.passed = 0
        self.failed = []
        self.skipped = 0

    def line(self, word, name, seconds, note=""):
        """One line."""
        print(f"{word:<5} {name}  {seconds:.2f} s{note}", flush=True)

    def add(self, name, code, seconds, output, rerun=None, seed=None):
        """The result of one case: 0 passed, 77 skipped with the reason in the last line of its output.

        `rerun` is the command that repeats it, when it is not tests/run NAME; `seed` made what was random in it.
        """
        if code == 0:
            self.passed += 1
            self.line("ok", name, seconds)
            if self.options.verbose:
                self.show(output)
        elif code == SKIPPED:
            reason = (output.strip().splitlines() or ["no reason given"])[-1]
            self.skip(name, reason)
        else:
            self.failed.append(name)
            self.line("FAIL", name, seconds)
            self.show(output)
            print(f"    rerun: {rerun or f'tests/run --seed {seed} {shlex.quote(name)}'}", flush=True)

    def skip(self, name, reason):
        """A case that was not run."""
        self.skipped += 1
        print(f"skip  {name}  {reason}", flush=True)

    def skip_tree(self, flavour, count):
        """All cases of a tree that could not be built."""
        self.skipped += count
        print(f"skip  {count} cases [{flavour}]  build[{flavour}] failed", flush=True)

    def show(self, output):
        """What the case printed, indented and shortened in the middle."""
        lines = output.rstrip().splitlines()
        if len(lines) > 200:
            lines = lines[:60] + [f"… {len(lines) - 180} lines left out …"] + lines[-120:]
        for line in lines:
            print("    " + line)

    def finish(self):
        """The last line, and the exit code."""
        if self.failed:
            print("\nfailed: " + " ".join(shlex.quote(name) for name in self.failed))
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {len(self.failed)} failed{skipped}", flush=True)
        return 1 if self.failed or not self.passed else 0


class Child:
    """A case that runs: a forked process that leads its own group, so that nothing of it stays behind."""

    def __init__(self, case, seed, crowd):
        self.case = case
        self.seed = seed
        self.timeout_s = case.timeout_s * crowd
        self.patience = case.patience * crowd * patience()
        self.output = tempfile.TemporaryFile()
        self.started = time.monotonic()
        self.is_over_time = False
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(self.run())
        self.handle = os.pidfd_open(self.pid)

    def run(self):
        """In the child: runs the case and returns its exit code."""
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(self.output.fileno(), 1)
        os.dup2(self.output.fileno(), 2)
        os.environ["SOJOURN_TEST_PATIENCE"] = str(self.patience)
        os.environ["SOJOURN_TEST_SEED"] = str(self.seed)
        code = 1
        try:
            self.case.run()
            code = 0
        except Skip as skip:
            print(skip, end="\n" if str(skip) else "")
            code = SKIPPED
        except Failure as failure:
            print_failure(failure)
        except BaseException:  # everything, because the line must be printed
            traceback.print_exc(file=sys.stdout)
        sys.stdout.flush()
        return code

    def kill(self):
        """Ends the case and everything it started."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def finish(self):
        """(exit code, seconds, output) of the ended child."""
        _, status = os.waitpid(self.pid, 0)
        self.kill()
        os.close(self.handle)
        seconds = time.monotonic() - self.started
        self.output.seek(0)
        output = self.output.read().decode(errors="replace")
        if self.is_over_time:
            output += f"\nkilled: not finished within {self.timeout_s:g} s"
        return os.waitstatus_to_exitcode(status), seconds, output


def print_failure(failure):
    """The sentence and the line of the test it comes from; the harness itself is left out."""
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if "/harness/" not in frame.filename]
    for frame in frames:
        print(f"{os.path.relpath(frame.filename, ROOT)}:{frame.lineno}: {frame.line}")
    print(failure)


class Scheduler:
    """Runs cases, `jobs` at a time; serial ones at the end, alone. Each repetition of a case gets another seed."""

    def __init__(self, report, jobs, seed):
        self.report = report
        self.jobs = jobs
        self.seed = seed
        self.crowd = 1
        self.times = {}  # case: how often it was begun
        self.running = {}
        self.selector = selectors.DefaultSelector()

    def run(self, cases):
        """Runs all of them."""
        for jobs, chosen in ((self.jobs, [case for case in cases if not case.serial]),
                             (1, [case for case in cases if case.serial])):
            waiting = list(reversed(chosen))
            self.crowd = max(1, jobs / (os.cpu_count() or 1))  # each waits for the processors of the others
            while waiting or self.running:
                while waiting and len(self.running) < jobs:
                    self.begin(waiting.pop())
                self.wait_one()

    def begin(self, case):
        """Starts it."""
        times = self.times[case] = self.times.get(case, -1) + 1
        child = Child(case, self.seed + times, self.crowd)
        self.running[child.handle] = child
        self.selector.register(child.handle, selectors.EVENT_READ)

    def wait_one(self):
        """Waits until a child ends or is over its time."""
        now = time.monotonic()
        next_end = min(child.started + child.timeout_s for child in self.running.values())
        for key, _ in self.selector.select(max(0, next_end - now)):
            self.selector.unregister(key.fd)
            child = self.running.pop(key.fd)
            self.report.add(child.case.name, *child.finish(), seed=child.seed)
        for child in self.running.values():
            if time.monotonic() >= child.started + child.timeout_s and not child.is_over_time:
                child.is_over_time = True
                child.kill()

    def kill_all(self):
        """For an interrupted run."""
        for child in self.running.values():
            child.kill()


def targets_of(cases, flavour):
    """What ninja has to make for them. The first tree is built whole when more than the program is needed, so that all
    of it compiles."""
    programs = [case for case in cases if isinstance(case, ProgramCase)]
    if flavour == "gcc":
        return ["all"] if programs or any(case.suite == "soak" for case in cases) else ["sojourn"]
    first = os.path.join(ROOT, TREES["gcc"]) + "/"
    parts = {part.removeprefix(first) for case in programs for part in case.command
             if part.startswith((first, "tests/"))}
    return ["sojourn", *sorted(part for part in parts if not part.startswith(".."))]


def build_trees(cases, report, jobs):
    """Builds what the cases need and returns the flavours that failed."""
    broken = set()
    for flavour in TREES:
        in_tree = [case for case in cases if case.flavour == flavour]
        targets = targets_of(in_tree, flavour)
        if not any(case.needs_program for case in in_tree):
            continue
        started = time.monotonic()
        prepare_tree(flavour)
        command = ["ninja", "-C", os.path.join(ROOT, TREES[flavour]), "-j", str(jobs), "-k", "10", "--quiet", *targets]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        report.add(f"build[{flavour}]", result.returncode, time.monotonic() - started, result.stdout,
                   f"ninja -C {TREES[flavour]}")
        if result.returncode:
            broken.add(flavour)
    return broken


def parse_options(arguments):
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="tests/run", description="Builds and tests. Without arguments: everything.",
        epilog="NAME is a case as printed (quote the brackets), a test on all its variants, a file, a suite, or a set "
               f"of tests/harness/sets.py ({', '.join(SETS)}): http/test_sessions.test_create, http/test_sessions, "
               "http, check.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-k", dest="pattern", help="only cases whose name contains or matches this")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), help="only cases on this engine")
    parser.add_argument("--tree", dest="flavour", choices=tuple(TREES), help="only cases of this build")
    parser.add_argument("--list", action="store_true", help="print the names and run nothing")
    parser.add_argument("-j", dest="jobs", type=int, default=min(2 * (os.cpu_count() or 2), 8),
                        help="cases at a time; most of them wait most of the time")
    parser.add_argument("--seed", type=int, default=random.randrange(1, 2**31), help="for random tests")
    parser.add_argument("--rounds", type=int, help="how often tests that repeat something repeat it")
    parser.add_argument("--repeat", type=int, default=1, help="run every chosen case this often")
    parser.add_argument("--thorough", action="store_true", help="every test under every sanitizer, not one of them")
    parser.add_argument("--no-build", action="store_true", help="take the programs as they are")
    parser.add_argument("-v", dest="verbose", action="store_true", help="show what passing cases print")
    return parser.parse_args(arguments)


def memory_directory():
    """Where the files of databases live: in memory, or None where there is too little of it. What dies in a test is a
    process, never the machine, so nothing is lost by it; and no test waits for the disk of all the others."""
    memory = "/dev/shm"
    if not os.path.isdir(memory) or shutil.disk_usage(memory).free < MEMORY_BYTES:
        return None
    directory = tempfile.mkdtemp(prefix="sojourn-", dir=memory)
    os.chmod(directory, 0o755)  # the account of the database server must get through
    return directory


def run_cases(cases, options, report, directory):
    """Everything between the choice and the count."""
    os.chmod(directory, 0o755)
    os.environ["SOJOURN_TEST_DIRECTORY"] = directory
    if options.rounds:
        os.environ["SOJOURN_TEST_ROUNDS"] = str(options.rounds)
    broken = set() if options.no_build else build_trees(cases, report, options.jobs)
    cluster, memory = None, memory_directory()
    if memory:
        os.environ["SOJOURN_TEST_MEMORY"] = memory
    scheduler = Scheduler(report, options.jobs, options.seed)
    try:
        no_postgres = None
        if any(case.engine == "postgres" for case in cases):
            try:
                cluster = Cluster(os.path.join(directory, "pg")).create()
                os.environ["SOJOURN_TEST_CLUSTER"] = cluster.directory
            except Skip as skip:
                no_postgres = str(skip)
        ready = []
        for flavour in sorted(broken):
            report.skip_tree(flavour, sum(1 for case in cases if case.needs_program and case.flavour == flavour))
        for case in cases:
            if case.engine == "postgres" and no_postgres:
                report.skip(case.name, no_postgres)
            elif not (case.needs_program and case.flavour in broken):
                ready += [case] * options.repeat
        scheduler.run(ready)
    finally:
        scheduler.kill_all()
        if cluster:
            cluster.remove()
        if memory:
            shutil.rmtree(memory, ignore_errors=True)


def main(arguments):
    """The whole command; returns its exit code."""
    options = parse_options(arguments)
    if options.thorough:
        os.environ["SOJOURN_TEST_THOROUGH"] = "1"
    if not (options.names or options.pattern or options.engine or options.flavour):
        os.environ["SOJOURN_TEST_WHOLE"] = "1"
    cases = [case for case in find_programs() + find_functions() if is_chosen(case, options)]
    if options.list:
        print("\n".join(case.name for case in cases))
        return 0
    if not cases:
        print("no test is called that; tests/run --list names them all", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    report = Report(options)
    directory = tempfile.mkdtemp(prefix="sojourn-")
    try:
        run_cases(cases, options, report, directory)
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return report.finish()
