"""Which tests there are, on what each runs, and how one is run."""
import glob
import importlib.util
import inspect
import os
import random
import shutil
import tempfile
import zlib

from harness.check import Skip
from harness.postgres import Cluster
from harness.server import ROOT, Server, program_path

ENGINES = ("sqlite", "postgres")
TREES = {"gcc": "build", "asan": "build-asan", "tsan": "build-tsan"}
# The sanitizers see one engine each, so that a run stays short and no engine stays unseen.
OPTIMISED = ("sqlite", "postgres")
SANITIZED = ("sqlite asan", "postgres tsan")
EVERYWHERE = OPTIMISED + SANITIZED
PATIENCE = {"gcc": 1, "asan": 3, "tsan": 5}


class Env:
    """What a test gets when it asks for `env`: its engine, a directory, and as many servers as it wants.

    `seed` makes random tests repeatable: it is printed with the command that reruns a failed test.
    """

    def __init__(self, variant, directory, options=()):
        self.variant = variant
        self.engine = engine_of(variant)
        self.flavour = flavour_of(variant)
        self.tree = TREES[self.flavour]
        self.directory = directory
        self.options = list(options)
        self.seed = int(os.environ.get("SOJOURN_TEST_SEED", "1"))
        self.servers = []
        self.databases = []
        self.directories = []
        self.shared_cluster = None

    def cluster(self):
        """The cluster of this run."""
        if not self.shared_cluster:
            self.shared_cluster = Cluster(os.environ["SOJOURN_TEST_CLUSTER"], is_ours=False)
        return self.shared_cluster

    def own_cluster(self):
        """A cluster for this test alone, already running."""
        os.chmod(self.directory, 0o755)  # its account must get through
        return Cluster(os.path.join(self.directory, "cluster")).create()

    def database(self):
        """A fresh database URL on PostgreSQL, None on SQLite."""
        if self.engine != "postgres":
            return None
        self.databases.append(self.cluster().new_database())
        return self.databases[-1]

    def server(self, options=(), environment=None, database=None, start=True):
        """A new server with fresh data; it is stopped, and its end checked, when the test is over."""
        directory = os.path.join(self.directory, f"server{len(self.servers) + 1}")
        server = Server(directory, self.engine, self.tree, database or self.database(), self.options + list(options),
                        environment)
        self.servers.append(server)
        return server.start() if start else server

    def directory_outside_tmp(self):
        """A directory that goes with the test: a sandbox hides what lies below /tmp."""
        self.directories.append(tempfile.mkdtemp(prefix="sojourn-test-", dir="/var/tmp"))
        return self.directories[-1]

    def random(self):
        """A random source that repeats itself for the same seed."""
        return random.Random(self.seed)

    def rounds(self, usual):
        """How often to repeat: `usual`, or what `tests/run --rounds N` said."""
        return int(os.environ.get("SOJOURN_TEST_ROUNDS", "0")) or usual

    def finish(self):
        """Stops every server politely, checking how each ends."""
        for server in self.servers:
            server.stop()

    def explain(self):
        """Prints what the servers of a failed test said last."""
        for number, server in enumerate(self.servers, 1):
            if server.process and server.log:
                code = server.process.poll()
                state = "is running" if code is None else f"has ended with {code}"
                print(f"server {number} {state}; its log ends with\n{server.log.tail(15)}")

    def clean(self):
        """Leaves no process and no database behind, whatever happened."""
        for server in self.servers:
            server.kill()
        for url in self.databases:
            self.cluster().drop_database(url)
        for directory in self.directories:
            shutil.rmtree(directory, ignore_errors=True)


def engine_of(variant):
    """The engine named in a variant such as "postgres tsan"; None when it names none."""
    return next((engine for engine in ENGINES if engine in variant.split()), None)


def flavour_of(variant):
    """The kind of build named in a variant."""
    return next((flavour for flavour in TREES if flavour in variant.split()), "gcc")


def test(function=None, *, on=EVERYWHERE, options=(), serial=False, timeout_s=60):
    """Marks a test function.

    A function with a parameter `server` gets a fresh running server, one with `env` an Env; either runs once per
    variant in `on`: an engine, alone or with a sanitizer ("postgres tsan"). A function without these runs once; a
    parameter `program` is the path of the built program.
    `options` are added to the command line of every server. `serial` tests run while no other does. A test that takes
    longer than `timeout_s` (stretched under sanitizers) is killed and has failed.
    """
    def mark(function):
        needs_engine = bool({"server", "env"} & set(inspect.signature(function).parameters))
        function.test = {"on": tuple(on) if needs_engine else ("",), "options": list(options), "serial": serial,
                         "timeout_s": timeout_s}
        return function
    return mark(function) if function else mark


class Case:
    """One line of a run: a test on one variant."""

    def __init__(self, name, variant, suite, timeout_s, serial=False):
        self.base = name
        self.name = f"{name}[{variant}]" if variant else name
        self.variant = variant
        self.suite = suite
        self.engine = engine_of(variant)
        self.flavour = flavour_of(variant)
        self.patience = PATIENCE[self.flavour]
        self.timeout_s = timeout_s * self.patience
        self.serial = serial
        self.needs_program = False  # something that is built

    def run(self):
        """Runs in a process of its own and raises what went wrong."""
        raise NotImplementedError


class FunctionCase(Case):
    """A marked Python function."""

    def __init__(self, name, variant, suite, function):
        settings = function.test
        super().__init__(name, variant, suite, settings["timeout_s"], settings["serial"])
        self.function = function
        self.options = settings["options"]
        self.parameters = set(inspect.signature(function).parameters)
        self.needs_program = bool(self.parameters)

    def run(self):
        if not self.parameters:
            self.function()
            return
        with tempfile.TemporaryDirectory(prefix="t", dir=os.environ.get("SOJOURN_TEST_DIRECTORY")) as directory:
            env = Env(self.variant, directory, self.options)
            try:
                offered = {"env": env, "program": program_path(env.tree)}
                arguments = {name: value for name, value in offered.items() if name in self.parameters}
                if "server" in self.parameters:
                    arguments["server"] = env.server()
                self.function(**arguments)
                env.finish()
            except Skip:
                raise
            except BaseException:
                env.explain()
                raise
            finally:
                env.clean()


def load_module(path):
    """Imports a test file under a name that can't collide with a library."""
    name = "suite_" + os.path.relpath(path, ROOT).replace("/", "_").removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def variants_of(function, name):
    """Where a test runs. One that runs everywhere meets one sanitizer, chosen by its name: each sees half of the tests.
    `tests/run --thorough` runs it under both. In a run of everything the sanitizer stands for the plain build on its
    engine."""
    variants = function.test["on"]
    if variants != EVERYWHERE or os.environ.get("SOJOURN_TEST_THOROUGH"):
        return variants
    sanitized = SANITIZED[zlib.crc32(name.encode()) % len(SANITIZED)]
    is_whole = bool(os.environ.get("SOJOURN_TEST_WHOLE"))
    return tuple(one for one in OPTIMISED if not (is_whole and one in sanitized)) + (sanitized,)


def find_functions():
    """All cases of tests/<suite>/test_*.py, in the order in which they are written."""
    cases = []
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "*", "test_*.py"))):
        suite = os.path.basename(os.path.dirname(path))
        module = load_module(path)
        for function in vars(module).values():
            if callable(function) and hasattr(function, "test"):
                name = f"{suite}/{os.path.basename(path).removesuffix('.py')}.{function.__name__}"
                cases += [FunctionCase(name, variant, suite, function) for variant in variants_of(function, name)]
    return cases
