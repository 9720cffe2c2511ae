import csv
import json

import pytest

from keras_selfattn.reproduction import report
from keras_selfattn.reproduction.results import Results
from keras_selfattn.reproduction.tables import Column
from keras_selfattn.reproduction.tables import Row
from keras_selfattn.reproduction.tables import Table

ALL = Column("all", "pairs")
YES = Column("yes only", "pairs", "dev", "yes")
ELSEWHERE = Column("elsewhere", "others")
TABLE = Table(
    "paper2020",
    "table 7",
    "A table",
    (ALL, YES, ELSEWHERE),
    (
        Row("theirs", {"all": 50.0}),
        Row("weak", {"all": 40.0}, "weak", {"pairs": "a"}, {}, True),
        Row(
            "strong", {"all": 45.0}, "strong", {"pairs": "b"}, is_baseline=True
        ),
        Row(
            "ours",
            {"all": 60.0, "elsewhere": 70.5},
            "ours",
            {"pairs": "c"},
            parameters={"total": "1.2K"},
        ),
    ),
    parts=("total",),
    notes=("A note.",),
)


def run(yes, no, dev_accuracies=(0.5,)):
    return {
        "epoch": 1,
        "parameters": {"total": 1234},
        "right": {"dev": {"no": no, "yes": yes}},
        "dev_accuracies": list(dev_accuracies),
    }


@pytest.fixture
def results():
    return Results(
        TABLE,
        "pairs",
        {"all": "dev", "yes only": "dev", "elsewhere": None},
        {
            "weak": {0: run("00", "00"), 1: run("10", "00")},
            "strong": {1: run("10", "10"), 0: run("10", "00")},
            "ours": {0: run("11", "10"), 1: run("11", "00")},
        },
        {("ours", 2): "FloatingPointError: The loss is nan"},
    )


def figure(results, number, column):
    return results.figure(TABLE.rows[number], column)


def test_accuracies_by_seed(results):
    strong = figure(results, 2, ALL)
    assert strong["accuracies"] == {0: 25.0, 1: 50.0}
    assert strong["mean"] == 37.5
    assert strong["standard_deviation"] == pytest.approx(12.5 * 2**0.5)
    assert figure(results, 3, YES)["accuracies"] == {0: 100.0, 1: 100.0}
    assert figure(results, 0, ALL)["mean"] is None
    assert figure(results, 3, ELSEWHERE)["mean"] is None
    assert figure(results, 3, ELSEWHERE)["published"] == 70.5


def test_the_best_baseline_is_the_one_tested_against(results):
    assert results.best_baseline(ALL).key == "strong"
    assert figure(results, 2, ALL)["is_best_baseline"]
    assert not figure(results, 1, ALL)["is_best_baseline"]
    ours = figure(results, 3, ALL)
    # By item, no before yes: 1/2, 0, 1, 1 against 1/2, 0, 1, 0. So t is 1.
    assert ours["p_over_items"] == pytest.approx(0.195501, abs=1e-6)
    # By seed 3/4 and 1/2 against 1/4 and 1/2.
    assert ours["p_over_seeds"] == pytest.approx(0.25)
    assert figure(results, 1, ALL)["p_over_items"] is None


def test_seeds_are_paired_by_their_number(results):
    # A seed that the baseline lacks has no pair.
    results.runs["ours"][5] = run("00", "00")
    assert figure(results, 3, ALL)["p_over_seeds"] == pytest.approx(0.25)
    del results.runs["ours"][0]
    assert figure(results, 3, ALL)["p_over_seeds"] is None


def test_texts_trained_on_are_not_tested(results):
    results.measured_on["all"] = "train"
    for runs in results.runs.values():
        for each in runs.values():
            each["right"]["train"] = each["right"]["dev"]
    assert figure(results, 3, ALL)["mean"] == 62.5
    assert figure(results, 3, ALL)["p_over_items"] is None


def test_markdown(results):
    text = report.as_markdown(results)
    assert "# paper2020, table 7: A table (pairs)" in text
    assert "| † theirs | 50.0 |  |  |  |" in text
    assert "| strong | 45.0 | 37.50 ± 17.68 (2) * |  |  |" in text
    assert "| ours | 60.0 | 62.50 ± 17.68 (2) | 0.19550 | 0.25000 |" in text
    assert "## accuracy %, elsewhere: published only" in text
    assert "| ours | 70.5 |" in text
    assert "| ours | 1.2K / 1,234 |" in text
    assert "- A note." in text
    assert "Failed: ours, seed 2: FloatingPointError" in text
    assert "measured ones of the dev" in text


def test_markdown_of_test_figures(results):
    results.measured_on = {"all": "dev", "yes only": "dev", "elsewhere": None}
    results.measured_on["all"] = "test"
    for runs in results.runs.values():
        for each in runs.values():
            each["right"]["test"] = each["right"]["dev"]
    text = report.as_markdown(results)
    assert "here, test" in text
    assert "measured ones of the dev" not in text


def test_the_terminal(results, capsys):
    report.print_report(results)
    shown = capsys.readouterr().out
    assert "62.50 ± 17.68 (2)" in shown
    assert "† is not ours" in shown


def test_files(results, tmp_path):
    report.write_report(results, tmp_path)
    saved = json.loads((tmp_path / "results.json").read_text())
    ours = saved["rows"][3]
    assert ours["figures"]["all"]["mean"] == 62.5
    assert ours["parameters"]["total"] == {
        "published": "1.2K",
        "measured": 1234,
    }
    assert ours["dev_accuracies"] == {"0": [0.5], "1": [0.5]}
    assert saved["failures"] == [
        {
            "key": "ours",
            "seed": 2,
            "error": "FloatingPointError: The loss is nan",
        }
    ]
    with open(tmp_path / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    (row,) = [
        row
        for row in rows
        if (row["row"], row["figure"]) == ("ours", "accuracy %, all")
    ]
    assert row["published"] == "60.0"
    assert row["mean"] == "62.5"
    assert row["measured on"] == "dev"
    assert row["seeds"] == "2"
    assert float(row["p over seeds"]) == pytest.approx(0.25)
    assert not (tmp_path / "figure.png").exists()
