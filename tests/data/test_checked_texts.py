import itertools

import pytest

from keras_selfattn.data.adapters import DatasetTexts
from keras_selfattn.data.checked_texts import CheckedTexts
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.corpus import Corpus


class Rows(CheckedTexts):
    """A corpus of given rows, which counts how many were asked for."""

    def __init__(self, rows, **arguments):
        super().__init__(**arguments)
        self.given = rows
        self.taken = 0

    def read(self):
        for row in self.given:
            self.taken += 1
            yield row


def good(number, text="a", label="x", identifier=None):
    return Row("corpus", number, text, label, identifier=identifier)


BAD = {
    "malformed": ValueError("corpus:3: expected sense, received nonsense"),
    "unknown label": good(3, label="z"),
    "empty text": good(3, text=" \t"),
    "duplicated id": good(3, identifier="id0"),
}


def with_bad_row(kind, **arguments):
    rows = [good(1, identifier="id0"), good(2, label="y"), BAD[kind]]
    return Rows([*rows, good(4, "b")], labels=("x", "y"), **arguments)


@pytest.mark.parametrize("kind", BAD)
def test_each_kind_is_left_out_and_counted(kind):
    corpus = with_bad_row(kind, max_bad_rate=0.25)
    assert corpus.report is None
    assert list(corpus) == [("a", "x"), ("a", "y"), ("b", "x")]
    assert corpus.report.rows == 4
    assert corpus.report.counts == {kind: 1}
    assert corpus.report.bad == 1
    assert corpus.report.first[kind].startswith("corpus:3: expected ")
    assert str(corpus.report) == f"4 rows, left out: 1 {kind}"


@pytest.mark.parametrize("kind", BAD)
def test_each_kind_fails_the_pass_above_the_rate(kind):
    corpus = with_bad_row(kind, max_bad_rate=0.24)
    with pytest.raises(ValueError) as raised:
        list(corpus)
    message = str(raised.value)
    assert message.startswith("corpus:3: expected ")
    assert f"1 bad of 4 rows (1 {kind}), 25.00%" in message
    assert "at most 24.00%" in message
    assert corpus.taken == 4


@pytest.mark.parametrize("kind", BAD)
def test_without_tolerance_the_first_bad_row_ends_the_pass(kind):
    corpus = with_bad_row(kind, max_bad_rate=0)
    rows = iter(corpus)
    assert len(list(itertools.islice(rows, 2))) == 2
    with pytest.raises(ValueError, match="1 bad of 3 rows"):
        next(rows)
    assert corpus.taken == 3


def test_one_in_a_thousand_is_the_default():
    rows = [good(number) for number in range(1, 1000)]
    corpus = Rows([*rows, good(1000, text="")])
    assert len(list(corpus)) == 999
    with pytest.raises(ValueError, match="1 bad of 999 rows"):
        list(Rows([*rows[1:], good(1000, text="")]))


def test_rows_without_gold_label_are_no_fault():
    rows = [good(1), good(2, label=None), good(3, label=None)]
    corpus = Rows(rows, max_bad_rate=0)
    assert list(corpus) == [("a", "x")]
    assert corpus.report.counts == {"without gold label": 2}
    assert corpus.report.bad == 0
    assert corpus.report.first["without gold label"].startswith("corpus:2:")


def test_the_first_bad_row_is_named_though_others_came_before():
    rows = [good(1), good(2, label=None), good(3, ""), BAD["malformed"]]
    with pytest.raises(ValueError, match="^corpus:3: expected text.* 2 bad"):
        list(Rows(rows))


def test_nothing_left():
    with pytest.raises(ValueError, match="No row is left .* 1 without gold"):
        list(Rows([good(1, label=None)]))


@pytest.mark.parametrize("labelled", [False, True])
def test_no_rows(labelled):
    with pytest.raises(ValueError, match="at least one row. Received: none"):
        list(Rows([], labelled=labelled))


@pytest.mark.parametrize("text", [("a", ""), (" ", "b"), ("", "")])
def test_either_text_of_a_pair_may_be_empty(text):
    corpus = Rows([good(1, ("a", "b")), good(2, text)], max_bad_rate=0.5)
    assert list(corpus) == [(("a", "b"), "x")]
    assert corpus.report.counts == {"empty text": 1}


def test_ids_are_compared_within_one_pass():
    rows = [good(n, identifier=n and f"id{n}") for n in (0, 0, 1, 2)]
    corpus = Rows(rows, max_bad_rate=0)
    assert len(list(corpus)) == len(list(corpus)) == 4
    assert corpus.report.rows == 4


def test_a_hopeless_corpus_is_not_read_to_its_end():
    corpus = Rows([good(n, label="z") for n in range(5000)], labels=("x",))
    with pytest.raises(ValueError, match="1,000 bad of 1,000 rows"):
        list(corpus)
    assert corpus.taken == 1000
    # Half of them bad: that may get better.
    rows = [good(n, text="a" * (n % 2)) for n in range(1, 5001)]
    corpus = Rows(rows)
    with pytest.raises(ValueError, match="2,500 bad of 5,000 rows"):
        list(corpus)


def test_any_share_may_be_tolerated():
    rows = [good(1), *(good(n, text="") for n in range(2, 3002))]
    assert list(Rows(rows, max_bad_rate=1)) == [("a", "x")]


def test_unlabelled_texts_are_all_kept():
    rows = [good(1, ""), good(2, label=None, identifier="a")]
    corpus = Rows([*rows, rows[1]], labelled=False, labels=("y",))
    assert list(corpus) == [("", None), ("a", None), ("a", None)]
    assert not corpus.report.counts
    corpus = Rows([*rows, BAD["malformed"]], labelled=False, max_bad_rate=1)
    with pytest.raises(ValueError, match="nonsense$"):
        list(corpus)


def test_labels_that_are_told_later():
    corpus = Rows([good(1), good(2, label="y")], max_bad_rate=0.5)
    assert len(list(corpus)) == 2
    corpus.expect(["x"])
    assert list(corpus) == [("a", "x")]
    assert corpus.report.counts == {"unknown label": 1}
    # It knows its own by then.
    corpus.expect(["y"])
    assert list(corpus) == [("a", "x")]


@pytest.mark.parametrize("rate", [-0.1, 1.1, True, "0.1", None, float("nan")])
def test_a_rate_out_of_range(rate):
    with pytest.raises(ValueError, match="`max_bad_rate`.*from 0 to 1"):
        CheckedTexts(max_bad_rate=rate)


BAD_LINES = {
    ".jsonl": [
        b'{"text": "a"}',
        b'{"text": "a", "label": ["x"]}',
        b"nonsense",
        b'{"text": "a\xe9", "label": "x"}',
        b'{"text": "\\ud83d", "label": "x"}',
        b'{"text": "a\0b", "label": "x"}',
    ],
    ".csv": [b"a,x,y", b"a", b"\xe9,x", b"a\0b,x"],
}


@pytest.mark.parametrize(
    "suffix,line",
    [(suffix, line) for suffix in BAD_LINES for line in BAD_LINES[suffix]],
)
def test_a_file_is_read_on_behind_a_malformed_line(tmp_path, suffix, line):
    path = tmp_path / f"texts{suffix}"
    before, after = (b"text,label\n", b"a,x\nb,y\n")
    if suffix == ".jsonl":
        before = b'{"text": "a", "label": "x"}\n'
        after = b'{"text": "b", "label": "y"}\n'
    path.write_bytes(before + line + b"\n" + after)
    corpus = Corpus(path, max_bad_rate=0.5)
    assert list(corpus) == [("a", "x"), ("b", "y")]
    assert corpus.report.counts == {"malformed": 1}
    assert corpus.report.first["malformed"].startswith(f"{path}:2: expected ")
    with pytest.raises(ValueError, match=":2: expected .*1 bad of 3 rows"):
        list(Corpus(path))


def test_a_stray_quote_ends_the_pass(tmp_path):
    """Behind it nobody knows where a row begins."""
    path = tmp_path / "texts.csv"
    path.write_text('text,label\na,x\n"b" c,x\nd,x\n')
    with pytest.raises(ValueError, match=":3: expected a row of cells"):
        list(Corpus(path, max_bad_rate=1))


@pytest.mark.parametrize(
    "names,first,second",
    [
        ({"text_pair": "text"}, "text", "text_pair"),
        ({"label": "text"}, "text", "label"),
        ({"text_pair": "label"}, "text_pair", "label"),
    ],
)
def test_a_column_is_one_thing_alone(names, first, second):
    (column,) = names.values()
    expected = f"`{first}` and `{second}` must be different .*{column!r} for"
    with pytest.raises(ValueError, match=expected):
        Corpus("texts.csv", **names)
    with pytest.raises(ValueError, match=expected):
        DatasetTexts([], **names)


def test_labels_of_a_file(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,label\na,x\nb,y\nc,z\n")
    corpus = Corpus(path, labels=("x", "z"), max_bad_rate=0.5)
    assert list(corpus) == [("a", "x"), ("c", "z")]
    assert corpus.report.counts == {"unknown label": 1}
    assert "one of the labels x, z" in corpus.report.first["unknown label"]


def test_of_many_long_labels_the_first_are_shown_shortened():
    labels = [f"{number}\n{'long ' * 50}" for number in range(3000)]
    corpus = Rows(
        [good(1, label=labels[0]), good(2)], labels=labels, max_bad_rate=1
    )
    assert len(list(corpus)) == 1
    message = corpus.report.first["unknown label"]
    assert "one of the labels 0 long long" in message
    assert "..., 19 long" in message and "20 long" not in message
    assert "... and so on, 3,000 in all, received 'x'" in message
    assert "\n" not in message and len(message) < 1000


def test_reviews_as_yelp_ships_them(tmp_path):
    path = tmp_path / "yelp_academic_dataset_review.json"
    path.write_text(
        '{"review_id":"KU_O5udG6zpxOg-VcAEodg","user_id":"mh_-eMZ6K5RLWhZyIS",'
        '"business_id":"XQfwVwDr-v0ZS3_CbbE5Xw","stars":3.0,"useful":0,'
        '"funny":0,"cool":0,"text":"Long wait.\\n\\nGood food.",'
        '"date":"2018-07-07 22:09:11"}\n'
    )
    assert list(Corpus(path, label="stars")) == [
        ("Long wait.\n\nGood food.", "3")
    ]
