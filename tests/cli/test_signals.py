import os
import pathlib
import signal
import subprocess
import sys

import pytest

import keras_selfattn

ROOT = pathlib.Path(keras_selfattn.__file__).parents[1]
PROGRAM = """
import ctypes, gc, os, pathlib, signal, sys, time
from keras_selfattn import cli
from keras_selfattn.cli import listing
from keras_selfattn.cli import signals
from keras_selfattn.files import replaced_folder

def kill():
    os.kill(os.getpid(), signal.{name})

def presets(options):
    {body}

signals.SECONDS = 2
listing.presets = presets
sys.argv = ["keras-selfattn", "presets"]
{before}
sys.exit(cli.main())
"""
IN_A_CALLBACK = """
    gc.callbacks.append(lambda *_: kill())
    gc.collect()
    gc.callbacks.clear()
    time.sleep(60)
"""
SWALLOWED = """
    pathlib.Path("kept").mkdir()
    with replaced_folder("new") as beside:
        (beside / "half").touch()
        try:
            kill()
            time.sleep(60)
        except BaseException:
            time.sleep(60)
"""
IN_C = """
    with replaced_folder("new") as beside:
        kill()
        ctypes.CDLL(None).sleep(3)
        time.sleep(1)
        ctypes.CDLL(None).sleep(60)
"""
TWICE = """
    try:
        kill()
        time.sleep(60)
    except BaseException:
        pathlib.Path("first").touch()
        time.sleep(1.5)
        signals.SECONDS = 60
        kill()
        time.sleep(60)
"""
MADE_ANOTHER_OF = """
    try:
        kill()
        time.sleep(60)
    except BaseException:
        raise SystemError("bad argument") from None
"""
LOST_AND_DONE = """
    class Lost:
        def __del__(self):
            kill()
            for _ in range(1000):
                pass
    sys.unraisablehook = print
    lost = Lost()
    del lost
"""
CAUSE_OF_A_LOST_ONE = """
    class Lost:
        def __del__(self):
            try:
                kill()
                time.sleep(60)
            except BaseException as error:
                # As of C code that calls Python's.
                raise SystemError("returned with an exception set") from error
    lost = Lost()
    del lost
    time.sleep(60)
"""
TRACED = """
    import tensorflow as tf
    def traced():
        kill()
        for _ in range(1000):
            pass
        pathlib.Path("traced").touch()
        return tf.constant(1)
    tf.function(traced, autograph=False)()
    time.sleep(60)
"""
TRACED_FOR_LONG = """
    import tensorflow as tf
    def traced():
        with replaced_folder("new") as beside:
            kill()
            time.sleep(60)
    tf.function(traced, autograph=False)()
"""
BODIES = {
    "in a callback": IN_A_CALLBACK,
    "swallowed": SWALLOWED,
    "in C": IN_C,
    "twice": TWICE,
    "made another of": MADE_ANOTHER_OF,
    "lost and done": LOST_AND_DONE,
    "cause of a lost one": CAUSE_OF_A_LOST_ONE,
    "traced": TRACED,
    "traced for long": TRACED_FOR_LONG,
}
# What else they leave behind.
LEFT = {SWALLOWED: ["kept"], TWICE: ["first"], TRACED: ["traced"]}


# Runs programs, each in a process of its own that need import nothing again.
FORKING = """
import os, signal, sys
import tensorflow
from keras_selfattn import cli

for line in sys.stdin:
    folder, errors, path = line[:-1].split("\\t")
    child = os.fork()
    if not child:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
signal.alarm(50)
os.chdir(folder)
for number, name in enumerate((os.devnull, os.devnull, errors)):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
with open(path) as program:
    exec(program.read())
"""
pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture(scope="module")
def process():
    with subprocess.Popen(
        [sys.executable, "-c", FORKING],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        yield started


@pytest.fixture
def end(process, tmp_path):
    """How a command ends that gets a signal."""
    folder = tmp_path / "folder"
    folder.mkdir()

    def ended(body, name, before=""):
        program = PROGRAM.format(name=name, body=body, before=before)
        (tmp_path / "program").write_text(program)
        paths = folder, tmp_path / "errors", tmp_path / "program"
        process.stdin.write("\t".join(map(str, paths)) + "\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        left = sorted(path.name for path in folder.iterdir())
        return code, (tmp_path / "errors").read_text(), left

    return ended


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_signal_ends_the_command(end, body, name):
    code, errors, left = end(body, name)
    assert code == 128 + getattr(signal, name), errors
    assert "Traceback" not in errors
    assert "internal error" not in errors
    assert left == LEFT.get(body, [])


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_ends_what_has_hardly_begun(end, name):
    before = "signals.threading.Thread.start = lambda thread: kill()"
    code, errors, _ = end("time.sleep(60)", name, before)
    assert code == 128 + getattr(signal, name), errors
    assert "Traceback" not in errors
