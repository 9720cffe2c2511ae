import collections
import gzip
import json
import zipfile

import pytest

from keras_selfattn.data.natural_language_inference import (
    NaturalLanguageInference,
)

PAIRS = [
    {
        "gold_label": "neutral",
        "sentence1_binary_parse": "( ( A dog ) ( runs . ) )",
        "sentence2_binary_parse": "( ( It ( is n't ) ) late )",
        "sentence1_parse": "(ROOT (S (NP (DT A) (NN dog)) (VP (VBZ runs)) "
        "(. .)))",
        "sentence2_parse": "(ROOT (S (NP (PRP It)) (VP (VBZ is) (RB n't) "
        "(JJ late))))",
        "sentence1": "A dog runs.",
        "sentence2": "It isn't late",
        "pairID": "7n",
        "genre": "fiction",
    },
    {
        "gold_label": "-",
        "sentence1": "A dog runs.",
        "sentence2": "It rests.",
        "pairID": "7x",
        "genre": "fiction",
    },
    {
        "gold_label": "contradiction",
        "sentence1_binary_parse": "( ( 1\\/2 -LRB- ( of it -RRB- ) ) 3\\*4 )",
        "sentence2_binary_parse": "",
        "sentence1": "1/2 (of it) 3*4",
        "sentence2": "He said \"no'",
        "pairID": "8c",
        "genre": "travel",
    },
]
LABELLED = [
    (("A dog runs .", "It is n't late"), "neutral"),
    (("1/2 ( of it ) 3*4", "He said \"no'"), "contradiction"),
]
# As the official files have them.
COLUMNS = [
    "gold_label",
    "sentence1_binary_parse",
    "sentence2_binary_parse",
    "sentence1_parse",
    "sentence2_parse",
    "sentence1",
    "sentence2",
    "promptID",
    "pairID",
    "genre",
    "label1",
    "label2",
]


def as_jsonl(pairs):
    return "".join(json.dumps(pair) + "\n" for pair in pairs)


def as_txt(pairs):
    lines = [COLUMNS]
    lines += [[pair.get(name, "") for name in COLUMNS] for pair in pairs]
    # Rows with fewer annotators are shorter.
    lines[1].pop()
    return "".join("\t".join(cells) + "\n" for cells in lines)


FORMATS = {".jsonl": as_jsonl, ".txt": as_txt}


def write(folder, name, pairs=PAIRS):
    path = folder / name
    suffix = path.suffixes[-2] if path.suffix == ".gz" else path.suffix
    content = FORMATS[suffix](pairs).encode()
    path.write_bytes(gzip.compress(content) if ".gz" in name else content)
    return path


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def archive(tmp_path):
    """MultiNLI as it is downloaded, but for its size."""
    members = {"multinli_1.0/": "", "multinli_1.0/README.txt": "Read me."}
    for place, split in enumerate(("train", "dev_matched", "dev_mismatched")):
        pairs = [{**pair, "sentence2": split} for pair in PAIRS[place:]]
        for suffix, write in FORMATS.items():
            name = f"multinli_1.0/multinli_1.0_{split}{suffix}"
            members[name] = write(pairs)
            junk = name.replace("/", "/._")
            members[f"__MACOSX/{junk}"] = b"\0\5\x16\7"
    return write_zip(tmp_path / "multinli_1.0.zip", members)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("compression", ["", ".gz"])
def test_formats(tmp_path, suffix, compression):
    path = write(tmp_path, f"multinli_1.0_train{suffix}{compression}")
    corpus = NaturalLanguageInference(path)
    for _ in range(2):
        assert list(corpus) == LABELLED
        assert corpus.report.rows == 3
        assert corpus.report.counts == {"without gold label": 1}
    rows = list(corpus.rows())
    assert [row.genre for row in rows] == ["fiction", "travel"]
    assert [row.identifier for row in rows] == ["7n", "8c"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_without_parses(tmp_path, suffix):
    path = write(tmp_path, f"pairs{suffix}")
    pairs = [text for text, _ in NaturalLanguageInference(path, use_parses=0)]
    assert pairs == [
        ("A dog runs.", "It isn't late"),
        ("1/2 (of it) 3*4", "He said \"no'"),
    ]


def test_splits_of_an_archive(archive):
    expected = {
        "train": ["neutral", "contradiction"],
        "dev_matched": ["contradiction"],
        "dev_mismatched": ["contradiction"],
    }
    for split, labels in expected.items():
        corpus = NaturalLanguageInference(archive, split, use_parses=False)
        rows = list(corpus)
        assert [label for _, label in rows] == labels
        assert {hypothesis for (_, hypothesis), _ in rows} == {split}
    assert corpus.report.rows == 1


@pytest.mark.parametrize("split", [None, "dev", "test", "matched"])
def test_a_split_that_is_not_there(archive, split):
    splits = "dev_matched, dev_mismatched, train"
    with pytest.raises(
        ValueError, match=f"{splits}. Received: split={split!r}"
    ):
        NaturalLanguageInference(archive, split)


def test_an_archive_of_txt_alone(tmp_path):
    path = write_zip(
        tmp_path / "snli_1.0.zip", {"snli_1.0_dev.txt": as_txt(PAIRS)}
    )
    assert list(NaturalLanguageInference(path, "dev")) == LABELLED


@pytest.mark.parametrize(
    "content, fault",
    [
        (as_jsonl(PAIRS) + "nonsense\n", "4: expected a line of"),
        (as_jsonl(PAIRS).encode("utf-16"), "1: expected UTF-8"),
    ],
)
def test_faults_in_an_archive_name_the_member(tmp_path, content, fault):
    name = "snli_1.0/snli_1.0_dev.jsonl"
    path = write_zip(tmp_path / "snli_1.0.zip", {name: content})
    with pytest.raises(ValueError) as raised:
        list(NaturalLanguageInference(path, "dev"))
    assert str(raised.value).startswith(f"{path}/{name}:{fault}")


def test_a_damaged_archive(archive):
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match="zip:1: expected an intact file"):
        NaturalLanguageInference(archive, "train")


def test_an_archive_damaged_within(tmp_path):
    lines = as_jsonl(PAIRS[:1] * 2000)
    path = tmp_path / "snli_1.0.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("snli_1.0_dev.jsonl", lines)
    content = bytearray(path.read_bytes())
    place = content.index(b"A dog", len(content) // 2)
    content[place : place + 5] = b"A cat"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="dev.jsonl:.*expected an intact file"):
        list(NaturalLanguageInference(path, "dev", max_bad_rate=1))


def test_an_archive_is_not_read_whole_at_first(tmp_path, monkeypatch):
    path = write_zip(
        tmp_path / "snli_1.0.zip",
        {"snli_1.0_train.jsonl": as_jsonl(PAIRS[:1] * 100_000)},
    )
    read = []
    original = zipfile.ZipExtFile.readinto

    def readinto(file, buffer):
        size = original(file, buffer)
        read.append(size)
        return size

    monkeypatch.setattr(zipfile.ZipExtFile, "readinto", readinto, raising=False)
    assert next(iter(NaturalLanguageInference(path, "train"))) == LABELLED[0]
    with zipfile.ZipFile(path) as archive:
        size = archive.infolist()[0].file_size
    assert 0 < sum(read) < size / 10


def test_genres(tmp_path):
    path = write(tmp_path, "multinli_1.0_train.jsonl")
    corpus = NaturalLanguageInference(path, genres=["travel", "letters"])
    assert list(corpus) == LABELLED[1:]
    assert corpus.report.rows == 1
    corpus = NaturalLanguageInference(path, genres=["letters"])
    with pytest.raises(ValueError, match=r"\['fiction', 'travel'\].*letters"):
        list(corpus)
    with pytest.raises(ValueError, match="`genres`.*'travel'"):
        NaturalLanguageInference(path, genres="travel")


BAD = {
    "unknown label": {**PAIRS[2], "gold_label": "hidden", "pairID": "9c"},
    "empty text": {
        **PAIRS[2],
        "sentence1_binary_parse": "",
        "sentence1": " ",
        "pairID": "9c",
    },
    "duplicated id": {**PAIRS[2], "pairID": "7n"},
    "malformed": {
        **PAIRS[2],
        "sentence1_binary_parse": "( ( A dog )",
        "pairID": "9c",
    },
}


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("kind", BAD)
def test_bad_pairs(tmp_path, suffix, kind):
    path = write(tmp_path, f"pairs{suffix}", [*PAIRS, BAD[kind]])
    corpus = NaturalLanguageInference(path, max_bad_rate=0.25)
    assert list(corpus) == LABELLED
    assert corpus.report.counts == {"without gold label": 1, kind: 1}
    line = 4 + (suffix == ".txt")
    assert corpus.report.first[kind].startswith(f"{path}:{line}: expected ")
    with pytest.raises(ValueError, match=f"1 bad of 4 rows .*1 {kind}"):
        list(NaturalLanguageInference(path))


@pytest.mark.parametrize("suffix", FORMATS)
def test_empty_lines(tmp_path, suffix):
    path = write(tmp_path, f"pairs{suffix}")
    path.write_text(path.read_text().replace("\n", "\n \n\n"))
    assert list(NaturalLanguageInference(path)) == LABELLED


def test_empty_ids_are_none(tmp_path):
    pairs = [{**PAIRS[0], "pairID": ""}] * 2
    path = write(tmp_path, "pairs.jsonl", pairs)
    assert list(NaturalLanguageInference(path)) == LABELLED[:1] * 2


@pytest.mark.parametrize("cells", [4, 13])
def test_rows_of_other_widths(tmp_path, cells):
    path = write(tmp_path, "pairs.txt")
    with open(path, "a") as file:
        file.write("\t".join(["neutral"] * cells) + "\n")
    with pytest.raises(ValueError, match=f"12 cells, received {cells}"):
        list(NaturalLanguageInference(path))


def test_missing_columns(tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("gold_label\tsentence1\nneutral\ta\n")
    with pytest.raises(ValueError, match="pairs.txt:1: .*'sentence2'"):
        list(NaturalLanguageInference(path))
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"sentence1": "a", "sentence2": "b"}\n')
    with pytest.raises(ValueError, match="pairs.jsonl:1: .*'gold_label'"):
        list(NaturalLanguageInference(path))
    pairs = NaturalLanguageInference(path, labelled=False)
    assert list(pairs) == [(("a", "b"), None)]


def test_unlabelled_pairs_are_all_kept(tmp_path):
    path = write(tmp_path, "pairs.jsonl")
    pairs = list(NaturalLanguageInference(path, labelled=False))
    assert len(pairs) == 3
    assert {label for _, label in pairs} == {None}


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_file(tmp_path, suffix):
    path = tmp_path / f"pairs{suffix}"
    path.write_text("")
    with pytest.raises(ValueError, match="at least one record"):
        list(NaturalLanguageInference(path))


def test_paths_of_other_formats(tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.jsonl or \.txt"):
        NaturalLanguageInference(tmp_path / "pairs.csv")
    with pytest.raises(ValueError, match="`split`.*'dev'"):
        NaturalLanguageInference(tmp_path / "pairs.jsonl", "dev")
    with pytest.raises(FileNotFoundError):
        NaturalLanguageInference(tmp_path / "snli_1.0.zip", "dev")


def test_the_real_dev_file(real_data):
    path = real_data / "snli" / "snli_1.0_dev.jsonl.gz"
    corpus = NaturalLanguageInference(path, max_bad_rate=0)
    labels = collections.Counter(label for _, label in corpus)
    assert labels == {
        "entailment": 3329,
        "contradiction": 3278,
        "neutral": 3235,
    }
    assert corpus.report.rows == 10_000
    assert corpus.report.counts == {"without gold label": 158}


def test_real_parses_give_their_words_back(real_data):
    """The words of the parses, joined, are split as the parser split them."""
    from keras_selfattn.text import PennTreebankTokenizer

    path = real_data / "snli" / "snli_1.0_dev.jsonl.gz"
    corpus = NaturalLanguageInference(path, labelled=False)
    sentences = [sentence for pair, _ in corpus for sentence in pair]
    assert len(sentences) == 20_000
    tokenizer = PennTreebankTokenizer()
    agreeing = 0
    for start in range(0, len(sentences), 2000):
        part = sentences[start : start + 2000]
        for sentence, tokens in zip(
            part, tokenizer(part).to_list(), strict=True
        ):
            agreeing += sentence.encode().split(b" ") == tokens
    assert agreeing == 20_000
