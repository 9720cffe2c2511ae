"""Which model when: corpora, opponents at their best, and this package.

    python -m benchmarks.corpora
    python -m benchmarks.corpora --only trec svm structured_bilstm
    python -m benchmarks.corpora --rows 100 300 1000 3000 10000 all
    python -m benchmarks.corpora --only multinli decomposable from_snli \
        --rows 100 1000 10000

reads the folder that KERAS_SELFATTN_DATA names, trains each system on each
corpus from three seeds, and prints dev accuracies, seconds of training,
milliseconds for one text, and megabytes of the model. Each outcome is kept in
runs/corpora.jsonl as soon as there is one: the same command goes on from
there. The best epoch, and an opponent's values, are chosen on the dev rows.
The cheap systems come first, and all systems from one seed before the next.
"""

import argparse
import contextlib
import pathlib

from benchmarks.corpora import ours
from benchmarks.corpora import report
from benchmarks.corpora import running
from benchmarks.corpora import texts
from benchmarks.corpora.log import Log
from benchmarks.opponents import OPPONENTS
from keras_selfattn import models

# A corpus of questions, one of sentences, one of longer texts, one of pairs.
CURVES = ("trec", "mr", "age", "snli")
SYSTEMS = (*OPPONENTS, *ours.OURS, *ours.STARTS)


def number_of_rows(text):
    """A number of training rows, or `None` for all."""
    return None if text == "all" else int(text)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    presets = models.list_presets()
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        choices=[*texts.CORPORA, *SYSTEMS, *presets],
        metavar="NAME",
        help=(
            "corpora, systems or both: "
            f"{', '.join((*texts.CORPORA, *SYSTEMS))}, or a preset"
        ),
    )
    parser.add_argument(
        "--rows",
        nargs="+",
        type=number_of_rows,
        help=(
            "learning curves: numbers of training rows, or all; of "
            f"{', '.join(CURVES)} where no corpus is named"
        ),
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--tune",
        type=float,
        metavar="MINUTES",
        help="search the package's best values for so long, too, from the "
        "first seed; the others train what it finds",
    )
    parser.add_argument("--log", default="runs/corpora.jsonl")
    parser.add_argument(
        "--output", default="runs", help="folder of the pictures"
    )
    parser.add_argument(
        "--report", action="store_true", help="of what the log has; run nothing"
    )
    return parser.parse_args(arguments)


def plan(options):
    """The systems, corpora and numbers of rows that are asked for."""
    corpora = [name for name in texts.CORPORA if name in options.only]
    systems = [name for name in options.only if name not in texts.CORPORA]
    if not corpora:
        corpora = CURVES if options.rows else list(texts.CORPORA)
    if not systems:
        systems = list(SYSTEMS)
    if options.tune:
        systems.append(running.TUNED)
    return systems, corpora, options.rows or [None]


def work(options):
    """What is to be run, the cheap systems first.

    Yields:
        Pairs of the dictionary that tells an outcome from others, and that of
        the first seed's, which chooses the values.
    """
    systems, corpora, sizes = plan(options)
    for seed in range(options.seeds):
        for system in systems:
            if seed and not running.is_random(system):
                continue
            for corpus in corpora:
                if not running.can(system, corpus):
                    continue
                for rows in sizes:
                    settings = running.settings(
                        system, corpus, rows, options.tune
                    )
                    key = {
                        "corpus": corpus,
                        "system": system,
                        "rows": rows,
                        "settings": settings,
                    }
                    yield {**key, "seed": seed}, {**key, "seed": 0}


def run_all(options, log):
    missing = set()
    for key, first in work(options):
        system, corpus, rows = (key[n] for n in ("system", "corpus", "rows"))
        if system in missing or log.find(**key):
            continue
        what = f"{corpus}, {rows or 'all'} rows, {system}, seed {key['seed']}"
        if rows and rows >= (count := len(texts.read(corpus)[0])):
            # That is all of them, which has its own outcome.
            print(
                f"{what}: left out, as there are {count:,}, which `all` "
                "stands for",
                flush=True,
            )
            continue
        chosen = None
        if key["seed"] and (earlier := log.find(**first)):
            chosen = earlier.get("chosen")
        try:
            measured = running.run(**key, chosen=chosen)
        except ImportError as error:
            print(f"{system} is left out: {error}", flush=True)
            missing.add(system)
            continue
        except FloatingPointError as error:
            print(f"{system} on {corpus} is left out: {error}", flush=True)
            continue
        log.add({**key, **measured})
        print(
            f"{what}: {measured['accuracy']:.1%}, {measured['seconds']:.0f} s",
            flush=True,
        )


def show(options, log):
    """Print the tables, and draw the pictures."""
    systems, corpora, sizes = plan(options)
    if not options.tune:
        systems.append(running.TUNED)
    folder = pathlib.Path(options.output)
    if options.rows:
        report.print_curves(log.outcomes, systems, corpora, sizes)
        report.draw_curves(
            *(log.outcomes, systems, corpora, sizes),
            folder / "learning_curves.png",
        )
    else:
        report.print_tables(log.outcomes, systems, corpora)
        report.draw_times(
            log.outcomes, systems, corpora, folder / "corpora.png"
        )


def main(arguments=None):
    options = parse(arguments)
    log = Log(options.log)
    if not options.report:
        # What there is can be seen before all of it is there.
        with contextlib.suppress(KeyboardInterrupt):
            run_all(options, log)
    show(options, log)


if __name__ == "__main__":
    main()
