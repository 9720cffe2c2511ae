"""`python -m tests.conformance`: law by law, every layer and model.

Runs the harness on each backend of Keras that is named, or on all three, and
prints how many tests each layer and each model passed for each law.
"""

import argparse
import collections
import sys

from tests.conformance import laws


def main():
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("backends", nargs="*", metavar="backend")
    backends = parser.parse_args().backends or laws.BACKENDS
    for law, words in laws.laws().items():
        print(f"Law {law}: {words}")
    sound = [_run(backend) for backend in backends]
    return int(not all(sound))


def _run(backend):
    """Prints what became of the laws on a backend, and tells if all hold."""
    print(f"\n{backend}", flush=True)
    if not laws.is_installed(backend):
        print("is not installed")
        return False
    outcomes, fault = laws.run(
        backend,
        str(laws.HERE),
        # Runs this on the other backends.
        f"--ignore={laws.HERE / 'test_backends.py'}",
    )
    print(table(outcomes))
    for outcome in outcomes:
        if outcome.result == "failed":
            print(f"failed: {outcome.path}::{outcome.name}")
    if fault is not None:
        print(fault[-4000:])
    return fault is None


def table(outcomes):
    """The numbers of tests passed, by layer or model and by law, as text.

    What failed is behind a minus sign.
    """
    numbers = sorted({laws.law_of(each.path) for each in outcomes} - {0})
    counts = collections.Counter(
        (each.subject, laws.law_of(each.path), each.result) for each in outcomes
    )
    subjects = {each.subject: each.path for each in outcomes if each.subject}
    lines = [f"{'law':28}" + "".join(f"{law:>7}" for law in numbers)]
    for subject in sorted(
        subjects, key=lambda name: ("/models/" in subjects[name], name)
    ):
        cells = []
        for law in numbers:
            passed = counts[subject, law, "passed"]
            failed = counts[subject, law, "failed"]
            cells.append(f"{passed}-{failed}" if failed else f"{passed or '.'}")
        lines.append(f"{subject:28}" + "".join(f"{c:>7}" for c in cells))
    total = collections.Counter(each.result for each in outcomes)
    lines.append(
        ", ".join(
            f"{total[result]} {result}"
            for result in ("passed", "failed", "skipped")
        )
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
