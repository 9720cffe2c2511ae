"""`python -m tests.mutants`: changes that no test notices.

Takes a random sample of lines, changes each in one way, and runs the tests
that concern its file, until one fails. What no test noticed is listed, but
for what `equivalent.py` says to change no behavior. The outcomes are kept
in a log, so that a run that was interrupted goes on where it was.
"""

import argparse
import json
import pathlib
import sys
import time

from tests.mutants import concerned
from tests.mutants import running
from tests.mutants.changes import changes_of
from tests.mutants.changes import sample
from tests.mutants.equivalent import EQUIVALENT


def main():
    arguments = _arguments()
    changes = [
        change
        for path in concerned.files()
        for change in changes_of(
            path, (concerned.ROOT / path).read_text(encoding="utf-8")
        )
    ]
    reviewed = {key for keys in EQUIVALENT.values() for key in keys}
    chosen = [
        change
        for change in sample(changes, arguments.seed)
        if change.key not in reviewed
        and change.path.startswith(arguments.only or "")
    ][: arguments.count]
    log = Log(arguments.log)
    left = [
        change
        for change in chosen
        if log.outcome(change) is None
        or (arguments.again and log.outcome(change) == running.SURVIVED)
    ]
    print(f"{len(chosen)} of {len(changes)} changes, {len(left)} to run")
    if left:
        running.prepare()
        _run(left, log, arguments.jobs, arguments.limit)
    return report(chosen, log, arguments.at_least)


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.mutants")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="how the paths of the files begin")
    parser.add_argument(
        "--log", type=pathlib.Path, default=pathlib.Path("runs/mutants.jsonl")
    )
    parser.add_argument(
        "--again", action="store_true", help="run what survived once more"
    )
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--limit",
        type=int,
        default=300,
        help="seconds of processor time for a stage of tests",
    )
    parser.add_argument(
        "--at-least",
        type=float,
        default=95.0,
        help="percent that tests must notice, or the exit status is 1",
    )
    return parser.parse_args()


class Log:
    """Outcomes by change, in a file with a line of JSON for each."""

    def __init__(self, path):
        self.path = path
        self.entries = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.entries[tuple(entry["change"])] = entry

    def outcome(self, change):
        return self.entries.get(change.key, {}).get("outcome")

    def add(self, change, run):
        entry = {
            "change": change.key,
            "outcome": run.outcome,
            "failed": run.failed,
            "seconds": round(time.monotonic() - run.started, 1),
        }
        self.entries[change.key] = entry
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


def _run(left, log, jobs, limit):
    waiting, going, number = list(left), [], 0
    sound = _Sound(limit)
    try:
        while waiting or going:
            while waiting and len(going) < jobs:
                change = waiting.pop(0)
                stages = concerned.stages(change.path)
                going.append(running.Run(stages, change, limit))
            time.sleep(0.05)
            for run in [each for each in going if each.poll()]:
                going.remove(run)
                number += 1
                outcome = run.outcome
                if sound.check(run):
                    log.add(run.change, run)
                else:
                    outcome = "red or too slow without the change as well"
                print(
                    f"{number}/{len(left)} {outcome}: {_line(run.change)}"
                    + (f"  [{run.failed}]" if run.failed else ""),
                    flush=True,
                )
    finally:
        for run in going:
            run.stop()


class _Sound:
    """Sees that what fails for a change passes without it."""

    def __init__(self, limit):
        self.limit = limit
        self.passed = {}

    def check(self, run):
        if run.outcome == running.SURVIVED:
            return True
        stages = [[run.failed]]
        if run.outcome == running.TOO_LONG or run.failed is None:
            stages = concerned.stages(run.change.path)
        key = json.dumps(stages)
        if key not in self.passed:
            if "::" not in (run.failed or "::"):
                # A file could not be imported, or an argument be read.
                stages = [["--collect-only", run.failed]]
            plain = running.Run(stages, limit=self.limit)
            while not plain.poll():
                time.sleep(0.05)
            self.passed[key] = plain.outcome == running.SURVIVED
        return self.passed[key]


def _line(change):
    return (
        f"{change.path}:{change.line} {_short(change.before)}"
        f"  ->  {_short(change.after)}"
    )


def _short(text, length=160):
    return text if len(text) <= length else f"{text[:length]} ..."


def report(chosen, log, at_least):
    """Prints what survived, and counts by room; gives the exit status."""
    rooms = {}
    for change in chosen:
        room = change.path.split("/")[1].removesuffix(".py")
        rooms.setdefault(room, []).append(log.outcome(change))
    columns = (running.CAUGHT, running.TOO_LONG, running.SURVIVED, None)
    print(f"\n{'':12}", *(f"{name or 'unknown':>9}" for name in columns))
    everything = [each for found in rooms.values() for each in found]
    for room, found in [*rooms.items(), ("all", everything)]:
        counts = (f"{found.count(name):9}" for name in columns)
        print(f"{room:12}", *counts)
    survivors = [
        change for change in chosen if log.outcome(change) == running.SURVIVED
    ]
    if survivors:
        print("\nNo test notices:")
    for change in sorted(survivors, key=lambda each: (each.path, each.line)):
        print(f"{change.path}:{change.line} {change.where}")
        print(f"  - {change.before}\n  + {change.after}")
    if not chosen:
        return 0
    unnoticed = len(survivors) + everything.count(None)
    noticed = 100 * (1 - unnoticed / len(chosen))
    print(f"\nNoticed: {noticed:.1f} % of {len(chosen)}")
    return int(noticed < at_least)


if __name__ == "__main__":
    sys.exit(main())
