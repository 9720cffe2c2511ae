"""Dev accuracy by epoch, as a picture."""

import io

from keras_selfattn.files import write_bytes
from keras_selfattn.first_use import import_extra

Figure = import_extra(
    "matplotlib.figure", "A figure", "matplotlib", "reproduction"
).Figure
STYLES = ("-", "--", "-.", ":", (0, (1, 1, 3, 1)))


def write_png(results, path):
    """Draw each row's mean dev accuracy by epoch, and write the picture.

    Rows that are no baselines are drawn in one color, the baselines in
    another. A band shows the smallest and the largest of the seeds.
    """
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axis = figure.subplots()
    drawn = {True: 0, False: 0}
    for row in results.table.rows:
        runs = results.runs.get(row.key)
        if not runs:
            continue
        style = STYLES[drawn[row.is_baseline] % len(STYLES)]
        drawn[row.is_baseline] += 1
        color = "tab:green" if row.is_baseline else "tab:blue"
        # An epoch counts where all seeds have it.
        epochs = list(
            zip(*(run["dev_accuracies"] for run in runs.values()), strict=False)
        )
        numbers = range(1, len(epochs) + 1)
        means = [100 * sum(epoch) / len(epoch) for epoch in epochs]
        axis.plot(
            numbers,
            means,
            linestyle=style,
            color=color,
            marker="." if len(epochs) == 1 else None,
            label=row.name,
        )
        if len(runs) > 1:
            axis.fill_between(
                numbers,
                [100 * min(epoch) for epoch in epochs],
                [100 * max(epoch) for epoch in epochs],
                color=color,
                alpha=0.1,
                linewidth=0,
            )
    table = results.table
    axis.set_title(f"{table.paper}, {table.name} ({results.corpus})")
    axis.set_xlabel("epoch")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_ylabel("dev accuracy %")
    axis.legend(fontsize="small")
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    write_bytes(path, picture.getvalue())
