"""Runs tests with one file of the package changed, in a process of their own.

Processes are forked, so that TensorFlow is imported once for all changes. The
process that forks must not have run any of its ops, whose threads would be
gone, nor imported the package itself, which each process imports changed.
"""

import contextlib
import importlib.abc
import importlib.machinery
import json
import linecache
import os
import pathlib
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback

from tests.mutants.concerned import ROOT

SURVIVED, CAUGHT, TOO_LONG = "survived", "caught", "too long"
# Names a file for the processes that tests start.
VARIABLE = "CHANGED_SOURCE"
SITE = """
from tests.mutants import running

running.install_from_environment()
"""


def prepare():
    """Imports what tests import, but not the package."""
    import jax  # noqa: F401
    import keras  # noqa: F401
    import pytest  # noqa: F401
    import tensorflow  # noqa: F401

    for name in ("keras_tuner", "tensorflow_text"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "keras_selfattn" in sys.modules:
        raise RuntimeError("The package must not have been imported yet.")


class Run:
    """Stages of tests, each in a process, until one fails or all passed.

    Args:
        stages: Lists of arguments of pytest.
        change: The `Change` to make, or None for none.
        limit: Seconds of processor time that a stage may take, and a fifth
            of the time on the clock.

    Attributes:
        outcome: None until it is known.
        failed: The name of the first test that failed.
    """

    def __init__(self, stages, change=None, limit=300):
        self.stages = list(stages)
        self.change = change
        self.limit = limit
        self.outcome = None
        self.failed = None
        self.started = time.monotonic()
        self._start()

    def poll(self):
        """Goes on, and tells whether there is an outcome."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if not pid:
            if time.monotonic() - self._since > 5 * self.limit:
                self.stop()
                self.outcome = TOO_LONG
            return self.outcome is not None
        report = _Report(self._folder).read()
        self._clear_away()
        if "error" in report:
            raise RuntimeError(report["error"])
        if os.WIFSIGNALED(status):
            late = os.WTERMSIG(status) == signal.SIGXCPU
            self.failed = report.get("at")
            self.outcome = TOO_LONG if late else CAUGHT
        elif status:
            self.failed = report["failed"]
            self.outcome = CAUGHT
        elif self.stages:
            self._start()
        else:
            self.outcome = SURVIVED
        return self.outcome is not None

    def stop(self):
        """Ends it where it is."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        self._clear_away()

    def _clear_away(self):
        with contextlib.suppress(ProcessLookupError):
            # What tests started and left behind.
            os.killpg(self._pid, signal.SIGKILL)
        shutil.rmtree(self._folder)

    def _start(self):
        self._since = time.monotonic()
        arguments = self.stages.pop(0)
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="changed_"))
        sys.stdout.flush()
        self._pid = os.fork()
        if self._pid:
            return
        status = 1
        report = _Report(self._folder)
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nothing, stream)
            resource.setrlimit(
                resource.RLIMIT_CPU, (self.limit, self.limit + 30)
            )
            # A loop that never ends may fill all memory first.
            resource.setrlimit(resource.RLIMIT_DATA, (12 << 30, 12 << 30))
            if self.change is not None:
                _install_here_and_below(self.change, self._folder)
            status = _run_tests(arguments, report)
        except BaseException:
            report.write(error=traceback.format_exc())
        finally:
            os._exit(status)


def _run_tests(arguments, report):
    import pytest

    code = pytest.main(
        [
            "-x",
            "-p",
            "no:cacheprovider",
            # To rewrite assertions pytest would import files its own way.
            "--assert=plain",
            *arguments,
        ],
        plugins=[report],
    )
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            module = sys.modules.get(finder.name)
            if module and not isinstance(module.__loader__, _Loader):
                raise RuntimeError(f"{module} was imported unchanged")
    passed = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if code in passed:
        return 0
    if report.failed is None:
        report.write(failed=arguments[0])
    return 1


class _Report:
    """A plugin of pytest that writes where it is and what failed first."""

    def __init__(self, folder):
        self.path = folder / "report.json"
        self.failed = None

    def read(self):
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def write(self, **values):
        self.path.write_text(json.dumps(values))

    def pytest_runtest_logstart(self, nodeid):
        self.write(at=nodeid)

    def pytest_runtest_logreport(self, report):
        self._note(report)

    def pytest_collectreport(self, report):
        self._note(report)

    def _note(self, report):
        if report.failed and self.failed is None:
            self.failed = report.nodeid
            self.write(failed=report.nodeid)


def _install_here_and_below(change, folder):
    """Changes the file in this process and in those that it starts."""
    source = folder / "source.json"
    text = (ROOT / change.path).read_text(encoding="utf-8")
    source.write_text(json.dumps([change.path, change.apply(text)]))
    (folder / "sitecustomize.py").write_text(SITE)
    os.environ[VARIABLE] = str(source)
    paths = [str(folder), str(ROOT), os.environ.get("PYTHONPATH")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    install_from_environment()


def install_from_environment():
    """Has the import of one module give a changed source."""
    path, source = json.loads(pathlib.Path(os.environ[VARIABLE]).read_text())
    name = ".".join(pathlib.PurePosixPath(path).with_suffix("").parts)
    sys.meta_path.insert(0, _Finder(name, source))
    # AutoGraph traces what it reads there, and others clear what is kept.
    filename, lines = str(ROOT / path), source.splitlines(keepends=True)
    read = linecache.updatecache

    def read_changed(asked, module_globals=None):
        return lines if asked == filename else read(asked, module_globals)

    linecache.updatecache = read_changed
    linecache.cache.pop(filename, None)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, name, source):
        self.name = name
        self.source = source

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        spec.loader = _Loader(name, spec.origin, self.source)
        return spec


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name, path, source):
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname):
        return compile(self.source, self.path, "exec", dont_inherit=True)

    def get_source(self, fullname):
        return self.source
