"""Results as files and as a table to read."""

import csv
import io

from keras_selfattn.files import write_json
from keras_selfattn.files import write_text

CSV_COLUMNS = (
    "paper",
    "table",
    "row",
    "ours",
    "figure",
    "measured on",
    "published",
    "mean",
    "standard deviation",
    "seeds",
    "p over items",
    "p over seeds",
)
NOT_OURS = "†"


def write_report(results, folder):
    """Write `results.json`, `.csv`, `.md` and, for a figure, `figure.png`."""
    as_dict = results.as_dict()
    write_json(folder / "results.json", as_dict, ensure_ascii=False)
    write_text(folder / "results.csv", as_csv(results))
    write_text(folder / "results.md", as_markdown(results))
    if results.table.is_figure and results.runs:
        from keras_selfattn.reproduction import curves

        curves.write_png(results, folder / "figure.png")


def as_csv(results):
    """One line a row and figure, with the numbers as they are."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    table = results.table
    for row in table.rows:
        start = [table.paper, table.name, row.name, row.key is not None]
        for column in table.columns:
            figure = results.figure(row, column)
            writer.writerow(
                [
                    *start,
                    f"accuracy %, {column.name}",
                    results.measured_on[column.name],
                    figure["published"],
                    figure["mean"],
                    figure["standard_deviation"],
                    len(figure["accuracies"]),
                    figure["p_over_items"],
                    figure["p_over_seeds"],
                ]
            )
        for part in table.parts:
            counted = results.parameters(row, part)
            published = row.parameters.get(part)
            if published or counted:
                writer.writerow(
                    [*start, f"weights, {part}", "", published, counted]
                    + [""] * 4
                )
    return text.getvalue()


def sections(results):
    """The tables to read, one a column and one of the sizes.

    Yields:
        A title, the header as a list of texts, and a list of such lines.
    """
    table = results.table
    rows = [
        (row, row.name if row.key else f"{NOT_OURS} {row.name}")
        for row in table.rows
    ]
    for column in table.columns:
        figures = [(name, results.figure(row, column)) for row, name in rows]
        title = f"accuracy %, {column.name}"
        split = results.measured_on[column.name]
        if split is None:
            yield (
                f"{title}: published only",
                ["row", "published"],
                [
                    [name, str(figure["published"])]
                    for name, figure in figures
                    if figure["published"] is not None
                ],
            )
            continue
        yield (
            title,
            ["row", "published", f"here, {split}", "p, items", "p, seeds"],
            [
                [
                    name,
                    _text(figure["published"]),
                    measured(figure),
                    p_value(figure["p_over_items"]),
                    p_value(figure["p_over_seeds"]),
                ]
                for name, figure in figures
                if figure["published"] is not None or figure["accuracies"]
            ],
        )
    if table.parts:
        yield (
            "weights without word vectors, published and here",
            ["row", *table.parts],
            [
                [name, *(_sizes(results, row, part) for part in table.parts)]
                for row, name in rows
                if row.parameters
            ],
        )


def _sizes(results, row, part):
    counted = results.parameters(row, part)
    here = "" if counted is None else f" / {counted:,}"
    return row.parameters.get(part, "") + here


def measured(figure):
    """Mean, deviation and number of seeds of a figure, as text."""
    if figure["mean"] is None:
        return ""
    text = f"{figure['mean']:.2f}"
    if figure["standard_deviation"] is not None:
        text += f" ± {figure['standard_deviation']:.2f}"
        text += f" ({len(figure['accuracies'])})"
    return text + (" *" if figure["is_best_baseline"] else "")


def p_value(value):
    if value is None:
        return ""
    return "< 0.00001" if value < 1e-5 else f"{value:.5f}"


def _text(value):
    return "" if value is None else str(value)


def title(results):
    table = results.table
    return f"{table.paper}, {table.name}: {table.title} ({results.corpus})"


def sentences(results):
    """What a reader of the table has to know."""
    table = results.table
    if any(
        column.split == "test" and results.measured_on[column.name] == "dev"
        for column in table.columns
    ):
        yield (
            "Published figures are of test texts, measured ones of the dev "
            "texts, which also chose the best epoch."
        )
    else:
        yield "The best epoch was chosen on the dev texts."
    if any(row.is_baseline for row in table.rows):
        yield (
            "* is the best baseline. p is of the one-tailed paired t-test "
            "against it: over the items, each with its share of right seeds, "
            "and over the seeds."
        )
    if any(row.key is None for row in table.rows):
        yield f"{NOT_OURS} is not ours: another system, which is not run."
    yield from table.notes
    for (key, seed), error in results.failures.items():
        yield f"Failed: {key}, seed {seed}: {error}"


def as_markdown(results):
    """The tables to read, in Markdown."""
    blocks = [f"# {title(results)}"]
    for heading, header, lines in sections(results):
        rows = [header, ["---"] * len(header), *lines]
        table = ["| " + " | ".join(line) + " |" for line in rows]
        blocks += [f"## {heading}", "\n".join(table)]
    blocks.append("\n".join(f"- {each}" for each in sentences(results)))
    return "\n\n".join(blocks) + "\n"


def print_report(results):
    """Print the tables in the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(title(results), style="bold", highlight=False)
    for heading, header, lines in sections(results):
        table = Table(
            *header, title=heading, box=box.SIMPLE, title_justify="left"
        )
        for line in lines:
            dim = "dim" if line[0].startswith(NOT_OURS) else None
            table.add_row(*line, style=dim)
        console.print(table)
    for sentence in sentences(results):
        console.print(sentence, highlight=False, markup=False)
