"""How fast the package is beside stock Keras and plain PyTorch.

    python -m benchmarks.speed
    python -m benchmarks.speed epoch
    python -m benchmarks.speed latency
    python -m benchmarks.speed backends
    python -m benchmarks.speed scaling --output scaling.png

All do the same work: the same models, sizes, losses, penalties, dropout and
kind of optimizer. Each peer has a process of its own, only one computes at a
time, and they take turns; "times" is how many times as long as ours a peer
takes, the median over the turns with the least and the most. "% of limit" are
the multiplications that the kept words need, beside those of one large float32
product of matrices in the same run.

`epoch` reads the folder that KERAS_SELFATTN_DATA names.
"""

import argparse
import contextlib
import math
import pathlib
import platform
import statistics
import tempfile

from benchmarks.peers import measuring
from benchmarks.peers.corpora import EPOCHS
from benchmarks.peers.corpora import write_corpus
from benchmarks.peers.measuring import QUIET
from benchmarks.peers.measuring import Worker
from benchmarks.peers.measuring import progress
from benchmarks.peers.measuring import python_worker
from benchmarks.peers.measuring import take_turns
from benchmarks.peers.workloads import WORKS
from benchmarks.peers.workloads import made_up_words
from benchmarks.peers.workloads import make_rows
from benchmarks.peers.workloads import multiply_adds
from benchmarks.tables import print_table

IN_BFLOAT16 = ("W1", "W2", "W3")
TASKS = ("train", "infer")
THREADS = "threads"
# By corpus the forms of PyTorch that take over ten processor seconds a batch.
TOO_SLOW = {"IMDB, structured self-attention": ("packed",)}
HEADER = (
    *("work", "peer", "ms", "times", "processor ms", "peak MiB"),
    *("% of limit", "first loss", "trained weights"),
)


def peers_of(name, work, with_torch):
    """By name of each peer what its worker is to be told."""
    recurrent = "units" in work.arguments
    peers = {
        "ours": {"peer": "ours"},
        "Keras": {"peer": "stock_keras"},
    }
    if with_torch:
        variants = ["eager", "packed"] if recurrent else ["eager"]
        for variant in (*variants, "compile"):
            peers[f"PyTorch, {variant}"] = {
                "peer": "stock_torch",
                "variant": variant,
            }
        if name in IN_BFLOAT16:
            for peer in ("ours", *(f"PyTorch, {v}" for v in variants)):
                peers[f"{peer}, bfloat16"] = {
                    **peers[peer],
                    "precision": "bfloat16",
                }
    return peers


def by_precision(peers):
    """The peers that are compared, one precision after the other.

    Of all at once W3 would not fit into the memory of a small machine.
    """
    for reduced in (False, True):
        found = {
            peer: spec
            for peer, spec in peers.items()
            if ("bfloat16" in peer) == reduced
        }
        if found:
            yield found


def compare(name, work, peers, tasks, repeats, environment=None, **arguments):
    """Measures the peers on one work.

    Returns:
        By task a dictionary of `Measured` and one of failures, and the facts
        of each peer.
    """
    job = "Epochs" if work.fit_steps or arguments else "Steps"
    facts, results = {}, {}
    with contextlib.ExitStack() as stack:
        workers = {}
        for peer, spec in peers.items():
            progress(f"{name}: starting {peer}")
            spec = {"precision": "float32", **spec, **arguments}
            workers[peer] = python_worker(
                job=job, work=work, environment=environment, **spec
            )
            stack.callback(workers[peer].close)
            facts[peer] = workers[peer].facts
        for task in tasks:
            first = 1 if job == "Epochs" and task == "train" else 5
            found = take_turns(workers, task, repeats, first)
            results[task] = found
            for peer, reason in found[1].items():
                if "ours" in peer:
                    raise measuring.PeerError(f"{name}, {peer}: {reason}")
                workers.pop(peer, None)
    return results, facts


def times_of(taken, base):
    """How many times as long as `base` something takes, for a table."""
    if taken is base:
        return "1"
    return "{:.2f} ({:.2f} to {:.2f})".format(*taken.times(base))


def rows_of(name, work, task, found, facts, limit):
    """The rows of the table of a task."""
    measured, failures = found
    multiplications = multiply_adds(work, make_rows(work)[0], task == "train")
    calls = work.fit_steps if task == "train" and work.fit_steps else 1
    for peer, taken in measured.items():
        ours = "ours, bfloat16" if "bfloat16" in peer else "ours"
        share = ""
        if limit and peer in ("ours", "Keras") and not work.fit_steps:
            rate = multiplications / statistics.median(taken.seconds)
            share = f"{100 * rate / limit:.0f}"
        yield [
            name,
            peer,
            f"{taken.milliseconds / calls:.2f}",
            times_of(taken, measured[ours]),
            f"{taken.processor_milliseconds / calls:.2f}",
            f"{taken.peak_mib:.0f}",
            share,
            "" if taken.result is None else f"{taken.result:.3f}",
            f"{facts[peer]['trainable']:,}",
        ]
    for peer, reason in failures.items():
        yield [name, f"{peer}: {reason}", *[""] * 7]


def matmul_limit():
    """Multiplications a second of one large product of matrices."""
    worker = python_worker("running_keras", "MatrixProduct")
    found, _ = take_turns({"product": worker}, "train", 7)
    worker.close()
    count = worker.facts["multiplications"]
    return count / min(found["product"].seconds)


class Report:
    """Tables, and below which circumstances they were measured."""

    def __init__(self):
        self.versions, self.disturbed = {}, []

    def note(self, facts, *found):
        """Keeps versions, and which samples other processes disturbed."""
        self.versions.update((each["version"], None) for each in facts.values())
        for measured, _ in found:
            for taken in measured.values():
                self.disturbed += [x > QUIET for x in taken.others]

    def print(self, tables, more=""):
        """Prints tables, by title their header and rows."""
        progress("")
        cpus = pathlib.Path("/proc/cpuinfo")
        lines = cpus.read_text().splitlines() if cpus.exists() else []
        names = [x.split(": ")[1] for x in lines if x.startswith("model name")]
        print(
            ", ".join([f"Python {platform.python_version()}", *self.versions])
        )
        if names:
            print(f"{len(names)} processors {names[0]}")
        print(
            f"{sum(self.disturbed)} of {len(self.disturbed)} samples while "
            f"others used over {QUIET} of a core"
        )
        for title, (header, rows) in tables.items():
            print(f"\n{title}")
            print_table(header, rows)


def works(options):
    """The table of all works, for training and for inference."""
    limit = matmul_limit()
    tables = {task: (HEADER, []) for task in options.tasks}
    report = Report()
    for name in options.work:
        work = WORKS[name]
        for peers in by_precision(peers_of(name, work, options.torch)):
            results, facts = compare(
                name, work, peers, options.tasks, options.repeats or 7
            )
            report.note(facts, *results.values())
            for task, found in results.items():
                tables[task][1].extend(
                    rows_of(name, work, task, found, facts, limit)
                )
    print(f"The large product: {2e-9 * limit:.0f} GFLOP/s")
    report.print(tables)


def epoch(options):
    """Epochs of real corpora, through `fit`, with all that belongs to them."""
    header = ["corpus", "timed", "peer", "epoch s", "times", "processor s"]
    header += ["peak MiB", "loss of first epoch"]
    for name in EPOCHS:
        report, rows = Report(), []
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "corpus.npz"
            progress(f"{name}: encoding")
            work, whole = write_corpus(name, path)
            peers = peers_of(name, work, options.torch)
            for variant in ("compile", *TOO_SLOW.get(name, ())):
                peers.pop(f"PyTorch, {variant}", None)
            results, facts = compare(
                *(name, work, peers, ["train"], options.repeats or 3),
                corpus=str(path),
            )
        report.note(facts, results["train"])
        measured, failures = results["train"]
        for peer, taken in measured.items():
            rows.append(
                [
                    name,
                    f"{work.fit_steps} batches of {work.batch_size}",
                    peer,
                    f"{1e-3 * whole * taken.milliseconds:.1f}",
                    times_of(taken, measured["ours"]),
                    f"{1e-3 * whole * taken.processor_milliseconds:.1f}",
                    f"{taken.peak_mib:.0f}",
                    f"{taken.result:.3f}",
                ]
            )
        for peer, reason in failures.items():
            rows.append([name, "", f"{peer}: {reason}", *[""] * 5])
        report.print({"One epoch": (header, rows)})


BACKENDS = {"TensorFlow": "tensorflow", "JAX": "jax", "torch": "torch"}


def backends(options):
    """Training through `fit` on each backend, and beside it plain PyTorch."""
    header = ["work", "peer", "step ms", "times", "processor ms", "peak MiB"]
    header += ["first loss", "trained weights"]
    report, rows = Report(), []
    for name in options.work:
        work = WORKS[name]
        with contextlib.ExitStack() as stack:
            workers = {}
            for peer, backend in BACKENDS.items():
                progress(f"{name}: starting {peer}")
                workers[f"ours on {peer}"] = python_worker(
                    *("fitting", "Fits"),
                    environment={"KERAS_BACKEND": backend},
                    work=work,
                    precision="float32",
                )
            for variant in ("eager", "packed") if options.torch else ():
                if variant == "packed" and "units" not in work.arguments:
                    continue
                workers[f"PyTorch, {variant}"] = python_worker(
                    *("stock_torch", "Steps"),
                    work=work.changed(fit_steps=0),
                    precision="float32",
                    variant=variant,
                )
            for worker in workers.values():
                stack.callback(worker.close)
            facts = {peer: worker.facts for peer, worker in workers.items()}
            found = take_turns(workers, "train", options.repeats or 5, 2)
        report.note(facts, found)
        measured, failures = found
        base = measured["ours on TensorFlow"]
        for peer, taken in measured.items():
            rows.append(
                [
                    name,
                    peer,
                    f"{taken.milliseconds:.2f}",
                    times_of(taken, base),
                    f"{taken.processor_milliseconds:.2f}",
                    f"{taken.peak_mib:.0f}",
                    f"{taken.result:.3f}",
                    f"{facts[peer]['trainable']:,}",
                ]
            )
        for peer, reason in failures.items():
            rows.append([name, f"{peer}: {reason}", *[""] * 6])
    report.print({"A training step, through `fit`": (header, rows)})


# By name what takes the place of the arguments of W1.
LATENCY = {
    "W1": {},
    # Where not nearly all weights are those of the first hidden layer.
    "W1 with 100 hidden units": {"hidden_units": 100},
}


def latency(options):
    """One sentence of 40 words."""
    report, tables = Report(), {}
    for name, changes in LATENCY.items():
        tables[f"Latency, {name}"] = latency_of(changes, options, report)
    report.print(tables)


def latency_of(changes, options, report):
    """The header and rows of one work's table."""
    work = WORKS["W1"].changed(
        {"activation": "softmax", **changes},
        batch_size=1,
        lengths=((40, None, 40),),
    )
    text = " ".join(made_up_words(40))
    rows = []
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        text = {"work": work, "text": text}
        start = {
            "ours, text, in Python": lambda: python_worker(
                "ours", "Served", folder=folder, **text
            ),
            "Keras, text": lambda: python_worker(
                "stock_keras", "Served", **text
            ),
        }
        if options.torch:
            start["PyTorch, forward alone"] = lambda: python_worker(
                "stock_torch", "Steps", work=work, precision="float32"
            )
        workers = {}
        for name, make in start.items():
            progress(f"starting {name}")
            workers[name] = make()
            stack.callback(workers[name].close)
        ours = workers["ours, text, in Python"]
        if ours.facts["command"]:
            workers["ours, text, in C"] = Worker(ours.facts["command"])
            stack.callback(workers["ours, text, in C"].close)
        repeats = options.repeats or 7
        found = take_turns(workers, "infer", repeats)
        measured = dict(found[0])
        predict = take_turns(
            {"Keras": workers["Keras, text"]}, "predict", repeats
        )
        measured["Keras, text, `predict`"] = predict[0]["Keras"]
        facts = {name: worker.facts for name, worker in workers.items()}
        report.note(facts, found, predict)
    bases = [name for name in measured if name.startswith("ours")]
    for name, taken in measured.items():
        rows.append(
            [
                name,
                f"{taken.milliseconds:.3f}",
                *(times_of(taken, measured[base]) for base in bases),
                f"{taken.processor_milliseconds:.3f}",
            ]
        )
    header = ["one sentence of 40 words", "ms"]
    header += [f"times {base}" for base in bases]
    return [*header, "processor ms"], rows


def scaling_works():
    """By what changes the works at each of its values."""
    document, table = WORKS["W1"], WORKS["table"]
    return {
        "words of a text": {
            n: document.changed(lengths=((n, None, n),))
            for n in (25, 50, 100, 200, 400, 1000, 2000)
        },
        "batch size": {
            n: document.changed(batch_size=n, lengths=((40, None, 40),))
            for n in (4, 16, 64, 256, 512)
        },
        "heads": {
            n: document.changed({"num_heads": n}, lengths=((40, None, 40),))
            for n in (1, 5, 15, 30, 60, 100)
        },
        "words of a tuned table": {
            n: table.changed({"vocabulary_size": n, "embedding_dim": 100})
            for n in (10_000, 40_000, 160_000, 640_000, 2_000_000)
        },
        THREADS: dict.fromkeys((1, 2, 4), document),
    }


def scaling(options):
    """Training steps of ours and of the others, and a plot of them."""
    rows, curves, report = [], {}, Report()
    peers = {"ours": {"peer": "ours"}, "Keras": {"peer": "stock_keras"}}
    if options.torch:
        peers["PyTorch"] = {"peer": "stock_torch", "variant": "eager"}
    for what, points in scaling_works().items():
        curve = curves.setdefault(what, {peer: {} for peer in peers})
        for value, work in points.items():
            results, facts = compare(
                *(f"{what}: {value}", work, peers),
                *(["train"], options.repeats or 5),
                environment=_limited(value) if what == THREADS else None,
            )
            report.note(facts, results["train"])
            measured, failures = results["train"]
            for peer, taken in measured.items():
                curve[peer][value] = taken.milliseconds
                rows.append(
                    [
                        *(what, f"{value:,}", peer),
                        f"{taken.milliseconds:.2f}",
                        times_of(taken, measured["ours"]),
                        f"{taken.peak_mib:.0f}",
                    ]
                )
            for peer, reason in failures.items():
                failed = f"{peer}: {reason}"
                rows.append([what, f"{value:,}", failed, *[""] * 3])
    header = ["what grows", "to", "peer", "ms", "times", "peak MiB"]
    growth = [
        [what, peer, f"{exponent(points):.2f}", crossing(points, curve["ours"])]
        for what, curve in curves.items()
        for peer, points in curve.items()
        if len(points) > 1 and what != THREADS
    ]
    report.print(
        {
            "Training step": (header, rows),
            "How it grows": (
                ["what grows", "peer", "exponent", "faster than ours"],
                growth,
            ),
        }
    )
    plot(curves, options.output)


def _limited(threads):
    """The environment variables that limit a process's threads."""
    names = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
    return dict.fromkeys((*names, "TF_NUM_INTEROP_THREADS"), str(threads))


def exponent(points):
    """The power that times grow by from the last but one value to the last."""
    (x, y), (further, longer) = list(points.items())[-2:]
    return math.log(longer / y) / math.log(further / x)


def crossing(points, ours):
    """At which values a peer takes less time than ours, in words."""
    if points is ours:
        return ""
    less = [value for value in points if points[value] < ours[value]]
    return ", ".join(f"at {value:,}" for value in less) or "nowhere"


def plot(curves, path):
    """Draws a panel for each curve, milliseconds over what grows."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    figure = Figure(figsize=(10, 6.5), layout="constrained")
    panels = figure.subplots(2, 3).flat
    for (what, curve), axes in zip(curves.items(), panels, strict=False):
        # Three colors of Okabe and Ito that nobody confuses.
        for (name, points), color, marker in zip(
            *(curve.items(), ("#0072B2", "#D55E00", "#009E73"), "os^"),
            strict=False,
        ):
            axes.plot(*_unzip(points), color=color, marker=marker, label=name)
        values = curve["ours"]
        axes.set(xlabel=what, ylabel="training step, ms")
        axes.set(xscale="log", yscale="log")
        axes.set_xticks([*values], [f"{value:,}" for value in values])
        axes.tick_params(axis="x", labelrotation=45)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    for axes in panels:
        axes.set_axis_off()
    figure.axes[0].legend()
    figure.savefig(path, dpi=120)


def _unzip(points):
    return [*points], [*points.values()]


COMMANDS = {
    "works": works,
    "epoch": epoch,
    "latency": latency,
    "backends": backends,
    "scaling": scaling,
}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=COMMANDS, default="works")
    parser.add_argument(
        "--work", nargs="+", choices=WORKS, default=WORKS, metavar="W"
    )
    parser.add_argument("--only", choices=TASKS)
    parser.add_argument("--repeats", type=int, help="samples of each")
    parser.add_argument(
        "--torch", action=argparse.BooleanOptionalAction, default=True
    )
    parser.add_argument("--output", default="scaling.png", help="of scaling")
    options = parser.parse_args(arguments)
    options.tasks = [options.only] if options.only else TASKS
    COMMANDS[options.what](options)


if __name__ == "__main__":
    main()
