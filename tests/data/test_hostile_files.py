"""Files of any bytes end in counted rows, or in one line that names a line."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies

from keras_selfattn.data import cells
from keras_selfattn.data import lines
from keras_selfattn.data.checked_texts import Row
from keras_selfattn.data.formats import open_corpus
from keras_selfattn.data.readers import read_table
from keras_selfattn.data.word_vectors import load_word_vectors
from tests.hostile import check_line_error
from tests.hostile import damaged
from tests.hostile import tried

JSON_LINES = (
    b'{"text": "Good, isn\'t it?", "label": "pos", "id": 1}\n'
    b'{"text": "\\u00e9 \\ud83d\\ude00", "label": 5.0, "id": null}\n'
    b'\n{"text": "bad", "label": true, "id": [1, {"a": 2}]}\n'
) * 2
CSV = (
    b"text,label,id\n"
    b'"Good, isn\'t\nit?",pos,1\n'
    b'"""Bad"" it was.",neg,2\n\n'
    b"\xc3\xa9,neg,3\n"
) * 2
TSV = CSV.replace(b",", b"\t")
PLAIN = b"Good, isn't it?\n\n\xc3\xa9 \xf0\x9f\x98\x80\r\nbad\n"
NLI = (
    b"gold_label\tsentence1_binary_parse\tsentence1\tsentence2\tgenre\tpairID\n"
    b"neutral\t( a dog )\tA dog.\tA cat.\tfiction\t1\n"
    b"-\t\tA dog.\tA cat.\t\t2\n"
    b"neutral\t( a dog )\tA dog.\tA cat.\n"
)
TRUTH = b"a:::MALE:::25-34:::1\nb:::female:::xx-xx\n"
AUTHOR = (
    b'<?xml version="1.0" encoding="utf-8"?>\n'
    b'<author lang="en"><documents count="2"><document id="1"><![CDATA[A <b>'
    b"word</b>.]]></document>\n<document>Two &amp; &#233;</document>"
    b"</documents></author>\n"
)
VECTORS = (
    b"the 0.5 1 -2e-3\nWorld 2 -3 .5\nat name@domain.com 1 2 3\n"
    b"\xc3\xa9 1 2 3\n"
    b"the 7 8 9\ncut\xc3 1 2 3\n"
)


def zipped(members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def parquet():
    pa = pytest.importorskip("pyarrow.parquet")
    from pyarrow import Table

    rows = [
        {"text": "Good.", "label": 5.0, "id": 1, "x": [{"a": b"\xff"}]},
        {"text": None, "label": None, "id": None, "x": None},
        {"text": "\xe9" * 50, "label": 1.0, "id": 2, "x": []},
    ]
    file = io.BytesIO()
    pa.write_table(Table.from_pylist(rows * 5), file)
    return file.getvalue()


def ends_well(path, rows, kinds=str):
    """All rows are read, or one line says where they can't be."""
    count = 0
    try:
        for number, columns, record in rows:
            count += 1
            assert number >= 1
            assert isinstance(columns, dict)
            if isinstance(record, ValueError):
                check_line_error(record, path)
            else:
                for text in record.values():
                    assert isinstance(text, kinds)
                    str(text).encode()
    except ValueError as error:
        check_line_error(error, path)
        count += 1
    assert count


TABLES = {
    "a.jsonl": JSON_LINES,
    "a.csv": CSV,
    "a.tsv": TSV,
    "a.txt": PLAIN,
    "a.jsonl.gz": gzip.compress(JSON_LINES, mtime=0),
    "a.csv.bz2": bz2.compress(CSV),
    "a.tsv.xz": lzma.compress(TSV),
}


@pytest.mark.parametrize("name", TABLES)
@tried()
@given(data=strategies.data())
def test_records(tmp_path, name, data):
    content = data.draw(damaged(TABLES[name]))
    path = tmp_path / name
    path.write_bytes(content)
    format = "txt" if name == "a.txt" else None
    ends_well(path, read_table(path, ["text"], format))


@tried()
@given(data=strategies.data())
def test_zstandard(tmp_path, data):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(data.draw(damaged(zstandard.compress(JSON_LINES))))
    ends_well(path, read_table(path, ["text"]))


@tried(100)
@given(data=strategies.data())
def test_parquet(tmp_path, data):
    path = tmp_path / "a.parquet"
    path.write_bytes(data.draw(damaged(parquet())))
    ends_well(path, read_table(path, ["text"]))
    for field in ("label", "x"):
        rows = read_table(path, [field], may_miss=[field])
        ends_well(path, rows, str | None)


def corpus_ends_well(path, corpus):
    try:
        for row in corpus.rows():
            assert isinstance(row, Row)
    except ValueError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)
    report = corpus.report
    assert report.rows >= report.counts.total()
    for message in report.first.values():
        check_line_error(message, path)


ARCHIVES = (
    zipped(
        {
            "snli_1.0/snli_1.0_dev.txt": NLI,
            "__MACOSX/snli_1.0/._snli_1.0_dev.txt": b"\x00",
            "../../snli_1.0_test.jsonl": b"{}\n",
        }
    ),
    zipped({"snli_1.0_dev.jsonl": b'{"gold_label": "neutral"}'}, 0),
    zipped({"snli_1.0_dev.txt": NLI}, zipfile.ZIP_BZIP2),
    zipped({"snli_1.0_dev.txt": NLI}, zipfile.ZIP_LZMA),
)


@tried(150)
@given(content=damaged(*ARCHIVES))
def test_archives(tmp_path, content):
    path = tmp_path / "snli_1.0.zip"
    path.write_bytes(content)
    try:
        corpus = open_corpus(path, split="dev", max_bad_rate=1)
    except ValueError as error:
        assert "\n" not in str(error)
        assert str(path) in str(error)
    else:
        corpus_ends_well(path, corpus)
    # Nothing is ever unpacked.
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@tried()
@given(content=damaged(NLI))
def test_pairs(tmp_path, content):
    path = tmp_path / "snli_1.0_dev.txt"
    path.write_bytes(content)
    corpus_ends_well(path, open_corpus(path, max_bad_rate=1))


@tried(100)
@given(truth=damaged(TRUTH), author=damaged(AUTHOR))
def test_authors(tmp_path, truth, author):
    (tmp_path / "truth.txt").write_bytes(truth)
    (tmp_path / "a.xml").write_bytes(author)
    (tmp_path / "b.xml").write_bytes(AUTHOR)
    corpus_ends_well(tmp_path, open_corpus(tmp_path, max_bad_rate=1))


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16", "latin-1", "foo", "utf-7", "idna", "big5"]
)
def test_encodings_of_authors(tmp_path, encoding):
    (tmp_path / "truth.txt").write_bytes(TRUTH)
    content = AUTHOR.replace(b"utf-8", encoding.encode())
    (tmp_path / "a.xml").write_bytes(content)
    (tmp_path / "b.xml").write_bytes(AUTHOR)
    corpus_ends_well(tmp_path, open_corpus(tmp_path, max_bad_rate=1))


WORDS = ["the", "world", "\xe9", "at"]


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.zip"])
@tried(100)
@given(data=strategies.data())
def test_vectors(tmp_path, name, data):
    content = {
        "a.txt": VECTORS,
        "a.txt.gz": gzip.compress(VECTORS, mtime=0),
        "a.zip": zipped({"glove.txt": VECTORS}),
    }[name]
    path = tmp_path / name
    path.write_bytes(data.draw(damaged(content, content)))
    try:
        vectors, found = load_word_vectors(path, WORDS)
    except ValueError as error:
        check_line_error(error, path)
    else:
        assert len(vectors) == len(found) == len(WORDS)
        assert not vectors[~found].any()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_vectors_of_other_encodings(tmp_path, encoding):
    path = tmp_path / "a.txt"
    path.write_bytes("the 1 2\nworld 3 4\n".encode(encoding))
    with pytest.raises(ValueError) as raised:
        load_word_vectors(path, WORDS)
    check_line_error(raised.value, path)


numbers = strategies.sampled_from(
    ["1", "-2.5", "1e400", "nan", "inf", "x", "", "1_0", "٣", "0x1", "1e-400"]
)
rows = strategies.lists(
    strategies.tuples(
        strategies.sampled_from(["the", "The", "", "a b", "5", "\xa0", "1 2"])
        | strategies.text(max_size=3),
        strategies.lists(numbers, max_size=4),
    ),
    max_size=6,
)


@tried(200)
@given(rows, strategies.sampled_from(["", "2 2\n", "2 0\n", "1 " + "9" * 18]))
def test_ragged_vectors(tmp_path, rows, header):
    path = tmp_path / "a.vec"
    lines = [" ".join([word, *numbers]) for word, numbers in rows]
    path.write_text(header + "\n".join(lines), "utf-8", "surrogatepass")
    try:
        vectors, _ = load_word_vectors(path, WORDS)
    except ValueError as error:
        check_line_error(error, path)
    else:
        assert abs(vectors).max() < float("inf")


@tried(100)
@given(
    strategies.recursive(
        strategies.none()
        | strategies.booleans()
        | strategies.floats()
        | strategies.integers()
        | strategies.text(max_size=5),
        lambda inner: (
            strategies.lists(inner, max_size=3)
            | strategies.dictionaries(strategies.text(max_size=3), inner)
        ),
        max_leaves=5,
    ),
    strategies.booleans(),
)
def test_values_of_json(tmp_path, value, may_miss):
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"text": value}))
    fields = ["text"]
    rows = list(read_table(path, fields, may_miss=may_miss * fields))
    ((number, columns, record),) = rows
    assert number == 1
    if isinstance(record, ValueError):
        check_line_error(record, path)
    else:
        assert isinstance(record["text"], str | None)


def limited(monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(cells, "_LONGEST_CELL", 1000)


@pytest.mark.parametrize(
    "content",
    [b'text\n"' + b"x\n" * 1000, b"text\n" + b"x" * 1000, b"x" * 1000],
)
def test_a_cell_that_has_no_end(tmp_path, monkeypatch, content):
    limited(monkeypatch)
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError) as raised:
        list(read_table(path, ["text"]))
    check_line_error(raised.value, path)
    path.write_bytes(
        content.replace(b"x" * 1000, b"x" * 999).replace(b'"', b"")
    )
    ends_well(path, read_table(path, ["text"]))


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst", "zip"])
def test_little_that_stands_for_much(tmp_path, monkeypatch, suffix):
    limited(monkeypatch)
    compress = {
        "gz": lambda content: gzip.compress(content, 1),
        "bz2": lambda content: bz2.compress(content, 1),
        "xz": lambda content: lzma.compress(content, preset=0),
        "zip": lambda content: zipped({"a.txt": content}),
    }
    if suffix == "zst":
        compress["zst"] = pytest.importorskip("zstandard").compress
    path = tmp_path / f"a.txt.{suffix}"
    path.write_bytes(compress[suffix](bytes(30_000_000)))
    assert path.stat().st_size < 200_000
    with pytest.raises(ValueError) as raised:
        for _ in lines.read_lines(path):
            pass
    check_line_error(raised.value, path)
    assert "a line of less than 1,000 bytes" in str(raised.value)
