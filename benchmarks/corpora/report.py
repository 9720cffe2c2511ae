"""Tables and pictures of the outcomes."""

import collections

import numpy as np

from benchmarks.corpora import running
from benchmarks.corpora import texts
from benchmarks.tables import mean_and_spread
from benchmarks.tables import print_table

PANELS = 4
# Colors of Okabe and Ito, by what a system is.
FAMILIES = {
    "linear": ("#000000", ("svm", "nbsvm", "hypothesis")),
    "averages": ("#009E73", ("vectors", "fasttext", "embeddings")),
    "stock Keras": ("#E69F00", ("kim_cnn", "stock_bilstm")),
}
OURS_COLOR = "#0072B2"
MARKERS = "osD^v<>PX*ph"


def by_system(outcomes, rows):
    """By system and corpus the outcomes of all seeds, of some rows."""
    found = collections.defaultdict(lambda: collections.defaultdict(dict))
    for outcome in outcomes:
        if outcome["rows"] == rows:
            seeds = found[outcome["system"]][outcome["corpus"]]
            # Those of older settings are no more of the same.
            if any(
                o["settings"] != outcome["settings"] for o in seeds.values()
            ):
                seeds.clear()
            seeds[outcome["seed"]] = outcome
    return {
        system: {name: list(seeds.values()) for name, seeds in corpora.items()}
        for system, corpora in found.items()
    }


def values_of(outcomes, name):
    return [outcome[name] for outcome in outcomes]


def print_tables(outcomes, systems, corpora):
    """Print accuracies, what they cost, and the chosen values."""
    found = by_system(outcomes, None)
    systems = [name for name in systems if name in found]
    corpora = [n for n in corpora if any(n in found[s] for s in systems)]
    if not systems:
        return

    def of_all(system):
        return [found[system].get(name, []) for name in corpora]

    def table(what, cell, mean=None):
        print_table(
            [
                what,
                *(["mean"] if mean else []),
                *(texts.CORPORA[name].title for name in corpora),
            ],
            [
                [
                    running.label(system),
                    *([mean(of_all(system))] if mean else []),
                    *(
                        cell(found[system][name])
                        if name in found[system]
                        else ""
                        for name in corpora
                    ),
                ]
                for system in systems
            ],
        )

    table(
        "dev accuracy %",
        lambda rows: mean_and_spread(values_of(rows, "accuracy")),
        mean_of,
    )
    shown = [rows for system in systems for rows in of_all(system)]
    if any(map(_of_new_texts, shown)):
        table("without dev texts that are training texts", _of_new_texts)
    for what, name in (
        ("training, processor s", "processor_seconds"),
        ("training, s", "seconds"),
        ("one text, ms", "milliseconds"),
        ("model, MB", "megabytes"),
    ):
        table(what, lambda rows, n=name: f"{np.median(values_of(rows, n)):.3g}")
    table("chosen", lambda rows: _words(rows[0].get("chosen", {})))


def mean_of(corpora):
    """The mean of all corpora; of each seed, where all have the same seeds."""
    if not all(corpora):
        return ""
    by_seed = [{o["seed"]: o["accuracy"] for o in rows} for rows in corpora]
    seeds = by_seed[0]
    if any(other.keys() != seeds.keys() for other in by_seed):
        means = [np.mean(list(accuracies.values())) for accuracies in by_seed]
        return mean_and_spread([np.mean(means)])
    return mean_and_spread(
        [np.mean([each[seed] for each in by_seed]) for seed in seeds]
    )


def _of_new_texts(rows):
    if not rows or not all("new_accuracy" in row for row in rows):
        return ""
    return mean_and_spread(values_of(rows, "new_accuracy"))


def _words(values):
    return ", ".join(f"{name} {value}" for name, value in values.items())


def print_curves(outcomes, systems, corpora, sizes):
    """Print the accuracies by the number of training rows."""
    for corpus in corpora:
        lines = []
        for system in systems:
            points = [by_system(outcomes, n).get(system, {}) for n in sizes]
            if any(corpus in point for point in points):
                cells = [
                    mean_and_spread(values_of(point[corpus], "accuracy"))
                    if corpus in point
                    else ""
                    for point in points
                ]
                lines.append([running.label(system), *cells])
        if lines:
            header = [f"{size:,}" if size else "all" for size in sizes]
            print_table([texts.CORPORA[corpus].title, *header], lines)


def draw_times(outcomes, systems, corpora, path):
    """Draw accuracy against training time, a panel a corpus."""
    found = by_system(outcomes, None)

    def points(corpus, system):
        of_seeds = found.get(system, {}).get(corpus, [])
        if of_seeds:
            seconds = np.median(values_of(of_seeds, "processor_seconds"))
            yield seconds, np.mean(values_of(of_seeds, "accuracy"))

    _draw(points, systems, corpora, "training, processor seconds", path)


def draw_curves(outcomes, systems, corpora, sizes, path):
    """Draw accuracy against the number of training rows, the same way."""
    found = {size: by_system(outcomes, size) for size in sizes}

    def points(corpus, system):
        for size in sizes:
            of_seeds = found[size].get(system, {}).get(corpus, [])
            if of_seeds:
                rows = of_seeds[0]["train_rows"]
                yield rows, np.mean(values_of(of_seeds, "accuracy"))

    _draw(points, systems, corpora, "training rows", path)


def _draw(points, systems, corpora, what, path):
    """A panel a corpus with the points of each system, joined by lines."""
    from matplotlib.figure import Figure

    drawn = {
        corpus: {s: list(points(corpus, s)) for s in systems}
        for corpus in corpora
    }
    drawn = {c: by for c, by in drawn.items() if any(by.values())}
    if not drawn:
        return
    across = min(PANELS, len(drawn))
    down = -(-len(drawn) // across)
    figure = Figure(layout="constrained")
    figure.set_figwidth(max(6, 3.1 * across))
    grid = figure.subplots(down, across, squeeze=False).flat
    styles = _styles(systems)
    for axes, (corpus, by_name) in zip(grid, drawn.items(), strict=False):
        for system, found in by_name.items():
            if found:
                sizes, accuracies = zip(*sorted(found), strict=True)
                axes.plot(
                    sizes,
                    100 * np.array(accuracies),
                    label=running.label(system),
                    markersize=6,
                    alpha=0.85,
                    **styles[system],
                )
        axes.set(title=texts.CORPORA[corpus].title, xscale="log")
        axes.grid(alpha=0.3)
    for axes in list(grid)[len(drawn) :]:
        axes.set_axis_off()
    figure.supxlabel(what, fontsize="medium")
    figure.supylabel("dev accuracy, %", fontsize="medium")
    handles = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    # As many side by side as there is room for, off the label below.
    inches = 0.6 + 0.062 * max(map(len, handles))
    columns = max(1, int(figure.get_figwidth() / inches))
    figure.set_figheight(2.6 * down + 0.6 + 0.2 * -(-len(handles) // columns))
    figure.legend(
        handles.values(),
        handles,
        loc="outside upper center",
        ncols=columns,
        fontsize="small",
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


def _styles(systems):
    """By system its color, that of what it is, and a marker of its own."""
    counts = collections.Counter()
    styles = {}
    for system in systems:
        color = next(
            (color for color, names in FAMILIES.values() if system in names),
            OURS_COLOR,
        )
        marker = MARKERS[counts[color] % len(MARKERS)]
        counts[color] += 1
        styles[system] = {"color": color, "marker": marker}
    return styles
