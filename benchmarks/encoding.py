"""Rows a second of `encode` by workers, and whether it survives being killed.

    python -m benchmarks.encoding

writes a million generated sentences into files, and encodes them with an
untrained BiLSTM of 100 units: by one process without workers, by one worker
and by two, each on one core. The sentences then are encoded once more by two
workers, of which, or of what started them, one process is killed at a random
moment, 20 times; the command is given again whenever it has ended. At the end
each file must be, byte by byte, the one that nobody disturbed.

`--rows`, `--files`, `--kills`, `--longest` and `--workers` change the numbers;
`--kills 0` only measures. Whatever else runs on the machine changes the
figures.
"""

import argparse
import json
import os
import pathlib
import random
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

from benchmarks.tables import print_table

POOL = 20_000
ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}
GIVE = "label,probabilities,embedding"


def write_sentences(folder, rows, files, seed=0):
    """Files of generated sentences, JSON Lines."""
    from keras_selfattn.data.generated_pairs import generate_pairs

    pool = [pair.premise for pair in generate_pairs(POOL, seed=seed)]
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    for number in range(files):
        count = rows // files + (number < rows % files)
        with open(folder / f"part-{number:05}.jsonl", "w") as file:
            for _ in range(count):
                # Two of them, so that lengths differ.
                text = " ".join(rng.choices(pool, k=rng.randint(1, 2)))
                file.write(json.dumps({"text": text}) + "\n")
    return pool


def save_model(folder, texts):
    """An untrained classifier, as fast as a trained one."""
    from keras_selfattn import models
    from keras_selfattn.text import TextPreprocessor

    preprocessor = TextPreprocessor()
    preprocessor.adapt(texts)
    models.SentenceClassifier(
        preprocessor=preprocessor,
        labels=["1", "2", "3"],
        embedding_dim=100,
        units=100,
        attention_dim=100,
        num_heads=8,
        hidden_units=200,
    ).save_to_preset(folder)


def command(model, texts, output, *more):
    program = [sys.executable, "-m", "keras_selfattn", "encode", model]
    pattern = f"{texts}/part-*"
    arguments = [pattern, f"--output={output}", f"--give={GIVE}", *more]
    return [str(each) for each in (*program, *arguments)]


def descendants(process):
    """By number the commands of the processes that one has started."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True
    ).stdout.splitlines()
    rows = [line.split(maxsplit=2) for line in listed]
    found = {process: ""}
    # Those that are started later have higher numbers only until they wrap.
    for _ in range(10):
        for number, parent, *arguments in rows:
            if int(parent) in found:
                found.setdefault(int(number), " ".join(arguments))
    del found[process]
    return found


def workers_of(process):
    return [
        number
        for number, arguments in descendants(process).items()
        if arguments.startswith("ray::Worker")
    ]


def kill(number):
    """Kill a process, unless it has ended by itself."""
    try:
        os.kill(number, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def survive(arguments, kills, rng, longest):
    """Give a command again and again until it ends well.

    Args:
        arguments: List of strings, the command.
        kills: Integer, how many processes are killed.
        rng: `random.Random`.
        longest: Float, the most seconds until the next one is.

    Returns:
        The number of kills of workers, and of the command itself.
    """
    killed = {"worker": 0, "command": 0}
    while True:
        with subprocess.Popen(
            arguments, stdout=subprocess.PIPE, text=True
        ) as process:
            while process.poll() is None and sum(killed.values()) < kills:
                time.sleep(rng.uniform(0, longest))
                workers = workers_of(process.pid)
                if rng.random() < 0.5 and workers:
                    killed["worker"] += kill(rng.choice(workers))
                elif process.poll() is None:
                    killed["command"] += kill(process.pid)
            shown, _ = process.communicate()
        if process.returncode not in (0, -signal.SIGKILL):
            raise SystemExit(f"{shlex.join(arguments)} failed")
        if process.returncode == 0:
            return killed


def compare(folder, other):
    """Raise `SystemExit` unless two folders hold the same files."""
    one, two = (
        {
            path.relative_to(each): path
            for path in each.rglob("*")
            if path.is_file()
        }
        for each in (folder, other)
    )
    if one.keys() != two.keys():
        raise SystemExit(f"{folder} and {other} hold other files")
    for name, path in one.items():
        if path.read_bytes() != two[name].read_bytes():
            raise SystemExit(f"{name} differs in {folder} and {other}")


def check_rows(texts, output):
    """Raise `SystemExit` unless each row of the texts is there once."""
    import pyarrow.parquet

    for path in texts.iterdir():
        with open(path, "rb") as file:
            expected = sum(1 for _ in file)
        written = output / path.with_suffix(".parquet").name
        found = pyarrow.parquet.read_metadata(written).num_rows
        if found != expected:
            raise SystemExit(f"{written} has {found} rows, not {expected}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2, help="at most")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--longest",
        type=float,
        help="the most seconds from a kill to the next; the default leaves "
        "time for a start",
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, texts = folder / "model", folder / "texts"
        save_model(model, write_sentences(texts, options.rows, options.files))
        table, seconds = [], []
        for count in range(options.workers + 1):
            more = [f"--workers={count}"] if count else []
            output = folder / f"out{count}"
            started = time.perf_counter()
            subprocess.run(
                command(model, texts, output, *more),
                env={**os.environ, **ONE_CORE},
                check=True,
            )
            seconds.append(time.perf_counter() - started)
            rate = options.rows / seconds[-1]
            alone = options.rows / seconds[0]
            table.append([count, f"{rate:,.0f}", f"{rate / alone:.2f}"])
            check_rows(texts, output)
            compare(output, folder / "out0")
        print_table(["workers", "rows/s", "times one process"], table)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"\nAt most {peak / 1024:,.0f} MiB in one process")
        if options.kills:
            disturbed = folder / "disturbed"
            killed = survive(
                command(
                    model, texts, disturbed, f"--workers={options.workers}"
                ),
                options.kills,
                random.Random(options.seed),
                options.longest or 30 + seconds[-1] / options.kills,
            )
            compare(disturbed, folder / "out0")
            print(
                f"{killed['worker']} workers and {killed['command']} commands "
                "were killed: each row is there once, in order, as if not"
            )


if __name__ == "__main__":
    main()
