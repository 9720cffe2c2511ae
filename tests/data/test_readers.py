import bz2
import csv
import gzip
import itertools
import json
import lzma
import sys

import pytest

from keras_selfattn.data import compression
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.data.readers import read_rows
from keras_selfattn.data.readers import read_table

ROWS = [("Good, isn't it?", "pos"), ('"Bad"\nit was.', "neg"), ("é", "neg")]
JSON_LINES = "".join(
    json.dumps({"label": label, "id": 7, "text": text}) + "\n"
    for text, label in ROWS
)
CSV = (
    "label,id,text\n"
    'pos,7,"Good, isn\'t it?"\n'
    'neg,7,"""Bad""\nit was."\n'
    "neg,7,é\n"
)
TSV = (
    "label\tid\ttext\n"
    "pos\t7\tGood, isn't it?\n"
    'neg\t7\t"""Bad""\nit was."\n'
    "neg\t7\té\n"
)


def compress_zst(content):
    zstandard = pytest.importorskip("zstandard")
    # Of two frames, as other programs write long files.
    half = len(content) // 2
    return b"".join(map(zstandard.compress, (content[:half], content[half:])))


COMPRESSIONS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": compress_zst,
}
CONTENTS = {".jsonl": JSON_LINES, ".json": JSON_LINES, ".csv": CSV, ".tsv": TSV}


def read_records(path, fields):
    """The records; the first malformed one is raised."""
    for _, record in read_rows(path, fields):
        if isinstance(record, ValueError):
            raise record
        yield record


def read_labelled_texts(path, text="text", label="label"):
    for record in read_records(path, (text, label)):
        yield record[text], record[label]


@pytest.fixture
def write(tmp_path):
    """Writes a file, compressed if its name says so; returns its path."""

    def write(name, content):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        compress = COMPRESSIONS.get(path.suffix.lower())
        if compress is not None:
            content = compress(content)
        path.write_bytes(content)
        return path

    return write


def check_error(path, line, *parts, fields=("text", "label")):
    with pytest.raises(ValueError) as raised:
        list(read_records(path, fields))
    message = str(raised.value)
    assert message.startswith(f"{path}:{line}: expected ")
    assert ", received " in message
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("compression", ["", ".GZ", *COMPRESSIONS])
@pytest.mark.parametrize("suffix", CONTENTS)
def test_formats(write, suffix, compression):
    path = write(f"reviews{suffix}{compression}", CONTENTS[suffix])
    assert list(read_labelled_texts(path)) == ROWS
    assert list(read_labelled_texts(str(path), "id", "text")) == [
        ("7", text) for text, _ in ROWS
    ]
    assert next(read_records(path, ["text"])) == {"text": ROWS[0][0]}


@pytest.mark.parametrize("suffix", CONTENTS)
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace("\n", "\r\n"),
        lambda content: content.rstrip("\n"),
        lambda content: "\n\n" + content.replace("}\n", "}\n \n") + "\n",
        lambda content: "\ufeff" + content,
    ],
    ids=["crlf", "no_last_line_end", "blank_lines", "byte_order_mark"],
)
def test_harmless_variants(write, suffix, change):
    path = write(f"reviews{suffix}", change(CONTENTS[suffix]))
    texts = [
        (text.replace("\r\n", "\n"), label)
        for text, label in read_labelled_texts(path)
    ]
    assert texts == ROWS


@pytest.mark.parametrize(
    "value,expected",
    [
        ("5.0", "5"),
        ("5", "5"),
        ("-0.0", "0"),
        ("0.50", "0.5"),
        ("1e3", "1000"),
        ("12345678901234567890", "12345678901234567890"),
        ('"5.0"', "5.0"),
        ('""', ""),
        ("true", "true"),
        ("false", "false"),
        (r'"a\u2028\ud83d\ude00\n"', "a\u2028\U0001f600\n"),
    ],
)
def test_json_values(write, value, expected):
    path = write("one.jsonl", f'{{"text": {value}}}')
    assert list(read_records(path, ["text"])) == [{"text": expected}]


@pytest.mark.parametrize(
    "value", ["null", "[1]", "{}", "NaN", "-Infinity", "1e999", r'"\ud83d"']
)
def test_json_values_that_are_no_text(write, value):
    path = write("one.jsonl", f'{{"text": "a"}}\n{{"text": {value}}}\n')
    check_error(path, 2, fields=["text"])
    path = write("one.jsonl", f'{{"text": "a", "other": {value}}}')
    assert list(read_records(path, ["text"])) == [{"text": "a"}]


def test_line_separators_of_unicode_end_no_line(write):
    content = '{"text": "a\u2028b\x85c"}\n'
    path = write("one.jsonl", content)
    assert list(read_records(path, ["text"])) == [{"text": "a\u2028b\x85c"}]
    path = write("one.csv", "text\na\u2028b\x85c\n")
    assert list(read_records(path, ["text"])) == [{"text": "a\u2028b\x85c"}]


def test_cells_stay_as_they_are(write):
    path = write("cells.csv", 'text,label\n 5.0 ,""\n')
    assert list(read_labelled_texts(path)) == [(" 5.0 ", "")]


def test_cells_of_any_length(write):
    before = csv.field_size_limit()
    path = write("cells.csv", f"text\n{'a' * 200_000}\n")
    ((_, record),) = read_rows(path, ["text"])
    assert len(record["text"]) == 200_000
    assert csv.field_size_limit() == before


def test_spaces_around_headers(write):
    path = write("cells.csv", " label ,text \npos,good\n")
    assert list(read_labelled_texts(path)) == [("good", "pos")]


@pytest.mark.parametrize("delimiter", [";", "|", "\t"])
def test_other_delimiters(write, delimiter):
    content = CSV.replace(",", delimiter).replace("Good;", "Good,")
    path = write("cells.csv", content)
    hint = f"--delimiter {delimiter!r}"
    check_error(path, 1, "one column 'text'", hint)
    ((_, first), *_) = read_rows(path, ["text"], delimiter=delimiter)
    assert first == {"text": ROWS[0][0].replace(",", delimiter)} or (
        first == {"text": ROWS[0][0]}
    )


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", 1])
def test_delimiters_that_cannot_be(tmp_path, delimiter):
    with pytest.raises(ValueError, match="`delimiter` must be one character"):
        read_rows(tmp_path / "a.csv", ["text"], delimiter=delimiter)


def test_a_delimiter_of_json(tmp_path):
    with pytest.raises(ValueError, match="a.jsonl is read as jsonl"):
        read_rows(tmp_path / "a.jsonl", ["text"], delimiter=";")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16(write, encoding):
    content = "\ufeff" + CSV
    path = write("cells.csv", content.encode(encoding))
    check_error(path, 1, "UTF-8", "iconv -f UTF-16")


@pytest.mark.parametrize("name", ["cells.csv", "rows.jsonl"])
def test_labels_that_are_missing(write, name):
    if name == "cells.csv":
        content = "text,label\na,x\nb,\nc,NaN\nd,null\ne, \n"
    else:
        content = (
            '{"text": "a", "label": "x"}\n{"text": "b", "label": null}\n'
            '{"text": "c", "label": NaN}\n'
        )
    corpus = Corpus(write(name, content), max_bad_rate=0)
    assert list(corpus) == [("a", "x")]
    rows = corpus.report.rows
    assert corpus.report.counts == {"without gold label": rows - 1}
    # No label is asked for.
    assert len(list(Corpus(corpus.path, label=None))) == rows


def test_all_columns_beside_the_record(write):
    path = write("cells.csv", "id,text,text2,id\n1,a,b,c\n2,d\n")
    first, second = read_table(path, ["text"])
    columns = {"id": "1", "text": "a", "text2": "b", "id_2": "c"}
    assert first == (2, columns, {"text": "a"})
    assert second[:2] == (3, {"id": "2", "text": "d"})
    assert isinstance(second[2], ValueError)


@pytest.mark.parametrize(
    "header, names",
    [
        ("a,a,a", ["a", "a_2", "a_3"]),
        ("a,a,a_2", ["a", "a_3", "a_2"]),
        ("a_2,a,a,a", ["a_2", "a", "a_3", "a_4"]),
        ("a,a_2,a_2,a", ["a", "a_2", "a_2_2", "a_3"]),
    ],
)
def test_no_column_takes_the_name_of_another(write, header, names):
    cells = list("pqrs"[: len(names)])
    path = write("cells.csv", f"text,{header}\nx,{','.join(cells)}\n")
    ((_, columns, _),) = read_table(path, ["text"])
    assert columns == {"text": "x", **dict(zip(names, cells, strict=True))}


def test_parquet(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    from pyarrow import Table

    path = tmp_path / "reviews.parquet"
    rows = [
        {"stars": 5.0, "text": "Nice."},
        {"stars": None, "text": "So."},
        {"stars": 1.0, "text": None},
    ]
    parquet.write_table(Table.from_pylist(rows), path)
    first, *_ = read_rows(path, ["text", "stars"])
    assert first == (1, {"text": "Nice.", "stars": "5"})
    corpus = Corpus(path, label="stars", max_bad_rate=1)
    assert list(corpus) == [("Nice.", "5")]
    assert corpus.report.counts == {"without gold label": 1, "malformed": 1}
    check_error(path, 1, "one column 'review'", fields=["review"])
    path.write_bytes(path.read_bytes()[:-30])
    check_error(path, 1, "a Parquet file", fields=["text"])
    path.write_text("text\n")
    check_error(path, 1, "a Parquet file", fields=["text"])


@pytest.mark.parametrize(
    "suffix,line", [(".jsonl", 1), (".csv", 1), (".tsv", 1)]
)
def test_missing_column(write, suffix, line):
    path = write(f"reviews{suffix}", CONTENTS[suffix])
    check_error(
        path,
        line,
        "'stars'",
        "['label', 'id', 'text']",
        fields=["text", "stars"],
    )


def test_column_missing_in_a_later_line(write):
    path = write("reviews.jsonl", JSON_LINES + '\n{"text": "a"}\n')
    check_error(path, 5, "'label'", "['text']")


def test_column_twice(write):
    path = write("reviews.csv", "text,label,text\na,b,c\n")
    check_error(path, 1, "one column 'text'")


@pytest.mark.parametrize("suffix", CONTENTS)
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_truncated(write, suffix, compression):
    path = write(f"reviews{suffix}{compression}", CONTENTS[suffix] * 50)
    path.write_bytes(path.read_bytes()[:-20])
    expected = rf"\{compression}:\d+: expected an intact file"
    with pytest.raises(ValueError, match=expected):
        list(read_records(path, ["text"]))


def test_a_package_that_is_not_installed(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    path = write("reviews.csv", CSV)
    path = path.rename(path.with_name("reviews.csv.zst"))
    with pytest.raises(ImportError, match=r'pip install ".*\[zstd\]"'):
        list(read_records(path, ["text"]))


@pytest.mark.parametrize(
    "place,byte",
    [(0, 0), (10, 7), (20, 0), (-6, 0)],
    ids=["magic", "block", "data", "sum"],
)
def test_broken_gzip(write, place, byte):
    path = write("reviews.jsonl.gz", JSON_LINES)
    content = bytearray(path.read_bytes())
    assert content[place] != byte
    content[place] = byte
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"\.gz:\d+: expected an intact file"):
        list(read_records(path, ["text"]))


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_text_named_like_a_compressed_file(tmp_path, compression):
    if compression == ".zst":
        pytest.importorskip("zstandard")
    path = tmp_path / f"reviews.jsonl{compression}"
    path.write_text(JSON_LINES)
    check_error(path, 1, "an intact file")


@pytest.mark.parametrize(
    "line",
    ['{"text": "a"', "[" * 100_000, "{'text': 'a'}", '{"text": "a"} {}'],
    ids=["cut", "deep", "quotes", "two"],
)
def test_malformed_json(write, line):
    path = write("reviews.jsonl", f"{JSON_LINES}{line}\n")
    check_error(path, 4, "a line of JSON", repr(line[:9])[:-1])


@pytest.mark.parametrize("line", ["[1, 2]", '"a\\nb"', "3", "null"])
def test_json_that_is_no_object(write, line):
    path = write("reviews.jsonl", f"{JSON_LINES}\n{line}\n")
    check_error(path, 5, "a JSON object", line)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv.gz"])
def test_not_utf8(write, suffix):
    content = CONTENTS[suffix.removesuffix(".gz")].encode()
    line = content.count(b"\n") + 1
    path = write(f"reviews{suffix}", content + "é".encode("latin-1") + b"\n")
    check_error(path, line, "UTF-8", "0xe9")
    path = write(f"reviews{suffix}", content.decode().encode("utf-16"))
    check_error(path, 1)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv"])
def test_nul_bytes(write, suffix):
    content = CONTENTS[suffix]
    line = content.count("\n") + 1
    path = write(f"reviews{suffix}", content + "a\0b\n")
    check_error(path, line, "a NUL byte")


@pytest.mark.parametrize("suffix", [".jsonl", ".json.gz", ".csv", ".tsv.gz"])
@pytest.mark.parametrize("content", ["", "\n\n"])
def test_empty_file(write, suffix, content):
    path = write(f"reviews{suffix}", content)
    check_error(path, 1, "at least one record", "none")


def test_empty_gzip_without_a_member(tmp_path):
    path = tmp_path / "reviews.jsonl.gz"
    path.touch()
    check_error(path, 1, "at least one record", "none")


def test_header_alone(write):
    check_error(write("reviews.csv", "text,label\n"), 1, "at least one record")


@pytest.mark.parametrize("row,cells", [("pos,7", "2"), ("pos,7,a,b", "4")])
def test_number_of_cells(write, row, cells):
    # The third record takes two lines, so that lines aren't rows.
    path = write("reviews.csv", f"{CSV}\n{row}\n")
    check_error(path, 7, "3 cells", f"received {cells}")


@pytest.mark.parametrize("text", ['"never closed', '"closed" early', "a\rb"])
def test_malformed_csv(write, text):
    path = write("reviews.csv", f"{CSV}neg,7,{text}\nneg,7,a\nneg,7,b\n")
    check_error(path, 6, "a row of cells")


@pytest.mark.parametrize(
    "rows,texts",
    [
        ('"Great" said the chef\tpos', ['"Great" said the chef']),
        ('"Great" said\tpos\r\n"Ok"\tneg\r\n', ['"Great" said', "Ok"]),
        ('"Never closed\tpos', ['"Never closed']),
        ('5" of snow\tpos', ['5" of snow']),
        ('"a ""b"" c"\tpos', ['a "b" c']),
        ('"tab\there"\tpos', ["tab\there"]),
        ('"two\nlines"\tpos\nb\tneg', ["two\nlines", "b"]),
        ('"two\n\nparts"\tpos\nb\tneg', ["two\n\nparts", "b"]),
    ],
)
def test_quotes_between_tabs(write, rows, texts):
    path = write("rows.tsv", f"text\tlabel\n{rows}")
    assert [text for text, _ in read_labelled_texts(path)] == texts


@pytest.mark.parametrize("blank", ["", "\n"])
def test_a_quote_between_tabs_swallows_no_row(write, blank):
    rows = ['"I left early', "So so", 'They call it "art"', '"Ok', 'Not "ok"']
    content = "".join(f"pos\t{text}\n{blank}" for text in rows)
    path = write("rows.tsv", f"label\ttext\n{content}")
    with pytest.warns(UserWarning, match=r"rows\.tsv:2: .* read as text"):
        found = list(read_labelled_texts(path))
    assert found == [(text, "pos") for text in rows]
    # What is read again says it no more.
    assert list(read_labelled_texts(path)) == found


def test_a_row_of_its_own_between_tabs_after_quotes_of_text(write):
    content = 'a\tb\tc\n"He came\tShe left"\tyes\nx\ty\tz\n'
    path = write("rows.tsv", content)
    records = read_records(path, ["a", "b", "c"])
    assert [list(record.values()) for record in records] == [
        ['"He came', 'She left"', "yes"],
        ["x", "y", "z"],
    ]


def test_a_row_between_tabs_that_cannot_be_told(write):
    path = write("rows.tsv", 'a\tb\nx\ty\n"He came\nx\ty\n')
    check_error(path, 3, "a row of cells", fields=["a", "b"])


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz", "a.csv.zip", "csv"])
def test_unknown_suffix(tmp_path, name):
    # Even before the first record is asked for.
    with pytest.raises(ValueError, match=r"\.jsonl, \.json, \.csv, \.tsv"):
        read_rows(tmp_path / name, ["text"])


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv.gz"])
def test_nonexistent_file(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError) as raised:
        list(read_labelled_texts(path))
    assert str(path) in str(raised.value)


def test_fields_in_one_string(write):
    with pytest.raises(ValueError, match="`fields`.*'text'"):
        read_rows(write("reviews.csv", CSV), "text")


def test_streams(write):
    """Records come before a later fault of the file is met."""
    path = write("reviews.jsonl", JSON_LINES + "broken\n")
    records = read_labelled_texts(path)
    assert list(itertools.islice(records, len(ROWS))) == ROWS
    with pytest.raises(ValueError, match="jsonl:4: "):
        next(records)


@pytest.mark.parametrize(
    "name,label,labels",
    [
        ("yelp/yelp_review_dev.jsonl.gz", "stars", set("12345")),
        ("age/blog_age_dev.jsonl.gz", "age_group", {"10s", "20s", "30s"}),
        ("sst/sst_fine_dev.jsonl.gz", "label", set("01234")),
    ],
)
def test_real_files(real_data, name, label, labels):
    rows = list(read_labelled_texts(real_data / name, label=label))
    assert {label for _, label in rows} == labels
    assert all(text for text, _ in rows)


def test_a_frame_is_decompressed_in_parts(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "a.csv.zst"
    path.write_bytes(zstandard.compress(bytes(1 << 28)))
    opened, _ = compression.opener(".zst")
    with open(path, "rb") as file, opened(file) as content:
        assert content.read(10) == bytes(10)
        assert len(content._rest) < 1 << 27
