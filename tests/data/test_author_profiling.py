import pytest

from keras_selfattn.data import author_profiling
from keras_selfattn.data.author_profiling import AuthorProfiling

AUTHORS = {
    "0a1b": """<?xml version="1.0" encoding="UTF-8"?>
<author type="twitter" lang="en">
  <documents count="2">
    <document id="1" url="http://example.com"><![CDATA[Nice <b>day</b> & é]]>
    </document>
    <document id="2"><![CDATA[two
lines]]></document>
  </documents>
</author>
""",
    "2c3d": "<author><document>plain &amp; simple</document>stray</author>",
    "4e5f": "<author><document>of no known age</document></author>",
}
TRUTH = """4e5f:::FEMALE:::XX-XX
2c3d:::FEMALE:::50-64:::0.1:::-0.2

0a1b:::MALE:::25-34
"""
DOCUMENTS = ["Nice <b>day</b> & é\n    ", "two\nlines", "plain & simple"]


@pytest.fixture
def folder(tmp_path):
    for name, content in AUTHORS.items():
        (tmp_path / f"{name}.xml").write_text(content, encoding="utf-8")
    (tmp_path / "truth.txt").write_text(TRUTH)
    return tmp_path


def test_age_groups(folder):
    corpus = AuthorProfiling(folder)
    labels = ["25-34", "25-34", "50-64"]
    expected = list(zip(DOCUMENTS, labels, strict=True))
    for _ in range(2):
        assert list(corpus) == expected
        assert corpus.report.rows == 4
        assert corpus.report.counts == {"without gold label": 1}
    row = list(corpus.rows())[1]
    assert (row.path, row.number) == (folder / "0a1b.xml", 6)


def test_genders(folder):
    labels = [label for _, label in AuthorProfiling(folder, "gender")]
    assert labels == ["male", "male", "female", "female"]


def test_unlabelled(folder):
    (folder / "truth.txt").unlink()
    rows = list(AuthorProfiling(folder, label=None))
    assert rows == [(text, None) for text in (*DOCUMENTS, "of no known age")]


def test_authors_without_truth_have_no_gold_label(folder):
    (folder / "new.xml").write_text("<a><document>x</document></a>")
    corpus = AuthorProfiling(folder)
    assert len(list(corpus)) == 3
    assert corpus.report.counts == {"without gold label": 2}
    assert "new.xml" not in corpus.report.first["without gold label"]


ENTITY = '<!ENTITY a "boo"><!ENTITY b "&a;&a;&a;&a;">'
BAD_FILES = {
    "entities": f"<!DOCTYPE a [{ENTITY}]><a><document>&b;</document></a>",
    "external": '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hosts">]>'
    "<a><document>&x;</document></a>",
    "doctype": '<!DOCTYPE a SYSTEM "a.dtd"><a><document>b</document></a>',
    "undeclared": "<a><document>&x;</document></a>",
    "cut": "<a><document>a</document><document>b",
    "empty": "",
    "none": "<a><documents></documents></a>",
    "bytes": b"<a><document>\xff</document></a>",
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(folder, name):
    content = BAD_FILES[name]
    content = content.encode() if isinstance(content, str) else content
    (folder / "0a1b.xml").write_bytes(content)
    corpus = AuthorProfiling(folder, max_bad_rate=0.5)
    assert list(corpus) == [("plain & simple", "50-64")]
    assert corpus.report.counts == {"malformed": 1, "without gold label": 1}
    message = corpus.report.first["malformed"]
    assert message.startswith(f"{folder / '0a1b.xml'}:1: expected ")
    if name in ("entities", "external", "doctype"):
        assert "document type declaration" in message
    with pytest.raises(ValueError, match="0a1b.xml:1: .*1 bad of 3 rows"):
        list(AuthorProfiling(folder))


def test_a_file_too_large(folder, monkeypatch):
    size = (folder / "0a1b.xml").stat().st_size
    monkeypatch.setattr(author_profiling, "_LARGEST", size)
    assert len(list(AuthorProfiling(folder))) == 3
    monkeypatch.setattr(author_profiling, "_LARGEST", size - 1)
    with pytest.raises(ValueError, match=f"{size - 1} bytes, received {size}"):
        list(AuthorProfiling(folder))


@pytest.mark.parametrize(
    "line,message",
    [
        ("0a1b:::MALE:::25-34", "each author once"),
        ("ffff:::MALE:::25-34", "an author with a file ffff.xml"),
        ("../0a1b:::MALE:::25-34", "an author with a file"),
        ("0a1b MALE 25-34", "author:::gender:::age_group"),
        ("0a1b:::MALE", "author:::gender:::age_group"),
        ("é:::MALE:::25-34", "UTF-8"),
    ],
)
def test_bad_lines_of_the_truth(folder, line, message):
    path = folder / "truth.txt"
    path.write_bytes((TRUTH + line).encode("latin-1"))
    corpus = AuthorProfiling(folder, max_bad_rate=0.2)
    assert len(list(corpus)) == 3
    assert corpus.report.counts["malformed"] == 1
    first = corpus.report.first["malformed"]
    assert first.startswith(f"{path}:5: expected {message}")


@pytest.mark.parametrize(
    "label,line",
    [("age_group", "0a1b:::MALE:::young"), ("gender", "0a1b:::25-34:::MALE")],
)
def test_unknown_labels(folder, label, line):
    truth = TRUTH.replace("0a1b:::MALE:::25-34", line)
    (folder / "truth.txt").write_text(truth)
    corpus = AuthorProfiling(folder, label, max_bad_rate=0.5)
    list(corpus)
    assert corpus.report.counts["unknown label"] == 2


def test_empty_documents(folder):
    (folder / "0a1b.xml").write_text(
        "<author><document/><document> </document></author>"
    )
    corpus = AuthorProfiling(folder, max_bad_rate=0.5)
    assert list(corpus) == [("plain & simple", "50-64")]
    assert corpus.report.counts["empty text"] == 2


def test_folders_of_something_else(tmp_path):
    with pytest.raises(ValueError, match="must be a folder"):
        AuthorProfiling(tmp_path / "none")
    with pytest.raises(ValueError, match=r"Expected \.xml files"):
        list(AuthorProfiling(tmp_path))
    (tmp_path / "a.xml").write_text("<a><document>b</document></a>")
    with pytest.raises(FileNotFoundError, match="truth.txt"):
        list(AuthorProfiling(tmp_path))
    with pytest.raises(ValueError, match="'gender', 'age_group'.*'age'"):
        AuthorProfiling(tmp_path, "age")
