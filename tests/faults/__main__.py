"""`python -m tests.faults`: commands that are killed, and go on.

Runs each command undisturbed, then again with a fault at a random moment:
signals, full disks, folders and rights that are gone, wrong file times, a
second command with the same path. Then it goes on, and must end with the same
files. The outcomes are kept in a log, so that a run that was interrupted goes
on where it was; the table is that of docs/reliability.md.
"""

import argparse
import collections
import json
import pathlib
import random
import sys
import tempfile
import time

from tests.faults import process
from tests.faults.commands import COMMANDS
from tests.faults.kinds import FAULTS
from tests.faults.trial import Trial
from tests.faults.trial import Undisturbed


def main(arguments=None):
    options = _parser().parse_args(arguments)
    log = read(options.log)
    left = [
        key
        for key in chosen(options.count, options.seed, options.only)
        if key not in log
    ]
    print(f"{len(log)} faults in {options.log}, {len(left)} to try")
    if left:
        process.warm_up()
        with tempfile.TemporaryDirectory(prefix="faults_") as folder:
            _run(left, pathlib.Path(folder), options, log)
    print(table(log))
    problems = {key: entry for key, entry in log.items() if entry["wrong"]}
    for key, entry in problems.items():
        print(*key, *entry["wrong"], sep="; ")
    return 1 if problems else 0


def _run(left, folder, options, log):
    end = time.monotonic() + options.minutes * 60
    undisturbed = Undisturbed(folder / "undisturbed")
    options.log.parent.mkdir(parents=True, exist_ok=True)
    for number, command, fault in left:
        if time.monotonic() > end:
            break
        trial = Trial(number, command, fault, undisturbed, folder / "trial")
        wrong = trial.run()
        entry = {
            **{"number": number, "command": command, "fault": fault},
            **{"moment": round(trial.moment, 3), "codes": trial.codes},
            "wrong": wrong,
        }
        with open(options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
        log[number, command, fault] = entry
        print(command, fault, trial.codes, *(wrong or ["the same"]), sep=", ")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a command, or a fault")
    parser.add_argument(
        "--minutes", type=float, default=1e9, help="how long at most"
    )
    parser.add_argument(
        "--log", type=pathlib.Path, default=pathlib.Path("runs/faults.jsonl")
    )
    return parser


def chosen(count, seed, only=None):
    """The number, command and fault of each trial, all about as often."""
    pairs = [
        (command, fault)
        for command in COMMANDS
        for fault in FAULTS
        if only in (None, command, fault)
    ]
    found = []
    for turn in range(-(-count // len(pairs))):
        random.Random(f"{seed} {turn}").shuffle(pairs)
        found += [(turn, *pair) for pair in pairs]
    return [(f"{seed}-{turn}", *pair) for turn, *pair in found[:count]]


def read(path):
    """The outcomes that a log has, by number, command and fault."""
    if not path.exists():
        return {}
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {(e["number"], e["command"], e["fault"]): e for e in entries}


def table(log):
    """How often each fault was tried on each command, in Markdown."""
    tried = collections.Counter((c, f) for _, c, f in log)
    wrong = collections.Counter(
        (c, f) for (_, c, f), entry in log.items() if entry["wrong"]
    )
    rows = [["fault", *COMMANDS], ["---"] * (1 + len(COMMANDS))]
    for fault in FAULTS:
        cells = []
        for command in COMMANDS:
            pair = command, fault
            cell = str(tried[pair])
            cells.append(f"{cell}, {wrong[pair]} bad" if wrong[pair] else cell)
        rows.append([fault, *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    sys.exit(main())
