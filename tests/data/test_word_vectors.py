import gzip
import zipfile

import numpy as np
import pytest

from keras_selfattn.data.word_vectors import load_word_vectors
from keras_selfattn.data.word_vectors import words_with_vectors

GLOVE = "the 0.5 -1 2e-1\nCat 1 2 3\ncat 4 5 6\n. . . 7 8 9\ncAt 0 0 1\n"
VOCABULARY = ["", "[UNK]", "cat", "THE", "missing", ". . .", "CAT", "cat"]
VECTORS = [
    [0, 0, 0],
    [0, 0, 0],
    [4, 5, 6],
    [0.5, -1, 0.2],
    [0, 0, 0],
    [7, 8, 9],
    [1, 2, 3],
    [4, 5, 6],
]
FOUND = [False, False, True, True, False, True, True, True]


@pytest.fixture
def write(tmp_path):
    """Writes a file, compressed if its name says so; returns its path."""

    def write(content, name="vectors.txt"):
        path = tmp_path / name
        if isinstance(content, str):
            content = content.encode()
        if name.endswith(".zip"):
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("vectors.txt", content)
            return path
        if name.endswith(".gz"):
            content = gzip.compress(content)
        path.write_bytes(content)
        return path

    return write


def check_vectors(path):
    vectors, found = load_word_vectors(path, VOCABULARY)
    assert vectors.dtype == np.float32
    assert found.dtype == bool
    np.testing.assert_array_equal(vectors, np.array(VECTORS, "float32"))
    assert found.tolist() == FOUND


def check_error(path, line, *parts, vocabulary=("a", "b")):
    with pytest.raises(ValueError) as raised:
        load_word_vectors(path, vocabulary)
    message = str(raised.value)
    assert message.startswith(f"{path}:{line}: expected ")
    assert ", received " in message
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize("suffix", ["", ".gz", ".zip"])
@pytest.mark.parametrize("header", ["", "5 3\n"])
def test_formats(write, header, suffix):
    check_vectors(write(header + GLOVE, f"vectors.txt{suffix}"))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace("\n", " \n"),
        lambda content: content.replace("\n", "\r\n"),
        lambda content: content.rstrip("\n"),
        lambda content: f"\ufeff{content}",
        lambda content: content + "\n",
    ],
    ids=["spaces", "crlf", "no_last_line_end", "byte_order_mark", "blank_line"],
)
@pytest.mark.parametrize("header", ["", "5 3\n"])
def test_harmless_variants(write, header, change):
    check_vectors(write(change(header + GLOVE)))


@pytest.mark.parametrize("suffix", ["", ".gz", ".zip"])
@pytest.mark.parametrize("header", ["", "5 3\n"])
def test_words(write, header, suffix):
    path = write(header + GLOVE, f"vectors.txt{suffix}")
    assert list(words_with_vectors(path)) == [
        "the",
        "Cat",
        "cat",
        ". . .",
        "cAt",
    ]


def test_words_of_a_ragged_file(write):
    words = words_with_vectors(write("a 1 2\nc 1 2\nb 1\n"))
    assert [next(words), next(words)] == ["a", "c"]
    with pytest.raises(ValueError, match=":3: expected .*2 numbers.*'b 1'"):
        next(words)


@pytest.mark.parametrize("order", [1, -1])
def test_exact_match_wins_wherever_it_is(write, order):
    rows = ["The 1 2\n", "the 3 4\n", "THE 5 6\n"][::order]
    vectors, found = load_word_vectors(
        write("".join(rows)), ["the", "THE", "tHE"]
    )
    other = [1, 2] if order == 1 else [5, 6]
    assert vectors.tolist() == [[3, 4], [5, 6], other]
    assert found.all()


def test_a_repeated_word_keeps_its_first_vector(write):
    vectors, _ = load_word_vectors(
        write("a 1 2\nB 3 4\na 5 6\nB 7 8\nb 9 0\nb 0 9\n"), ["a", "b"]
    )
    assert vectors.tolist() == [[1, 2], [9, 0]]


def test_letter_case_beyond_ascii(write):
    vectors, found = load_word_vectors(write("ÉTÉ 1 2\n"), ["été", "ete"])
    assert vectors.tolist() == [[1, 2], [0, 0]]
    assert found.tolist() == [True, False]


def test_the_padding_has_no_vector(write):
    vectors, found = load_word_vectors(write("a 1 2\n 3 4\n"), ["", "a"])
    assert vectors.tolist() == [[0, 0], [1, 2]]
    assert found.tolist() == [False, True]


def test_words_that_are_numbers(write):
    vectors, _ = load_word_vectors(
        write("1 2 3\n7 4 5\n2.5 6 7\n"), ["7", "2.5"]
    )
    assert vectors.tolist() == [[4, 5], [6, 7]]


def test_other_spaces_belong_to_the_word(write):
    vectors, _ = load_word_vectors(
        write("b\u00a0c 1 2\n\u0085 3 4\n"), ["b\u00a0c", "\u0085"]
    )
    assert vectors.tolist() == [[1, 2], [3, 4]]


def test_words_cut_off_within_a_character(write):
    content = b"\xc3 1 2\na 3 4\n"
    vectors, found = load_word_vectors(write(content), ["a", "\ufffd"])
    assert vectors.tolist() == [[3, 4], [0, 0]]


def test_no_words(write):
    vectors, found = load_word_vectors(write(GLOVE), [])
    assert vectors.shape == (0, 3)
    assert found.shape == (0,)


def test_bad_numbers_do_not_change_the_width(write):
    path = write("b x 2 3\nc x 2 3\na 1 2 3\n")
    assert load_word_vectors(path, ["a"])[0].tolist() == [[1, 2, 3]]
    check_error(path, 1, "numbers", "x", vocabulary=["b"])


def test_first_rows_whose_words_hold_spaces(write):
    vectors, _ = load_word_vectors(write(". . . 1 2\n. . 3 4\na 5 6\n"), ["a"])
    assert vectors.tolist() == [[5, 6]]
    vectors, _ = load_word_vectors(write(". . . 1 2\n"), [". . ."])
    assert vectors.tolist() == [[1, 2]]


@pytest.mark.parametrize("header", ["", "151 2\n"])
@pytest.mark.parametrize(
    "row", ["b 1", "b 1 2 3", "b", "b 1 2 .5", "b 1 2 0 -3e-2"]
)
def test_ragged_rows(write, header, row):
    """Both near the beginning and beyond, and whether wanted or not."""
    rows = [f"w{i} 1 2" for i in range(151)]
    for place in (1, 140):
        ragged = [*rows[:place], row, *rows[place + 1 :]]
        path = write(header + "\n".join(ragged))
        line = place + 1 + bool(header)
        for vocabulary in (["a"], ["b"]):
            check_error(path, line, "2 numbers", row, vocabulary=vocabulary)


def test_first_row_is_ragged(write):
    check_error(write("b 1\na 1 2\nc 1 2\n"), 1, "2 numbers", "'b 1'")
    check_error(write("b 1 2 3\na 1 2\nc 1 2\n"), 1, "2 numbers", "'b 1 2 3'")


def test_wrong_width_in_the_header(write):
    check_error(write("2 3\na 1 2\nb 1 2\n"), 2, "3 numbers", "'a 1 2'")
    check_error(write("2 1\na 1 2\nb 1 2\n"), 2, "1 numbers", "'a 1 2'")
    check_error(write(f"2 {10**15}\na 1 2\nb 1 2\n"), 2, "'a 1 2'")
    check_error(write("2 0\na\nb\n"), 2, "numbers", "'a'")


@pytest.mark.parametrize("count", [1, 3])
def test_wrong_count_in_the_header(write, count):
    path = write(f"{count} 2\na 1 2\nb 1 2\n")
    check_error(path, 1, f"{count} rows", "received 2")


@pytest.mark.parametrize("number", ["x", "1,5", "0x1", "--1"])
@pytest.mark.parametrize("header", ["", "2 2\n"])
def test_non_numbers(write, header, number):
    path = write(f"{header}a 1 2\nb 1 {number}\n")
    check_error(path, 2 + bool(header), number)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e39", "1e999"])
@pytest.mark.parametrize("rows", ["a 1 2\nb {} 1\n", "a 1 2\nb 1 {}\n"])
def test_non_finite_numbers(write, rows, number):
    check_error(write(rows.format(number)), 2, "finite numbers", number)
    check_error(write(f"a {number} 1\n"), 1, "finite numbers", number)


@pytest.mark.parametrize("name", ["vectors.txt", "v.txt.gz", "v.zip"])
@pytest.mark.parametrize("content", ["", "\n \n", "3 2\n"])
def test_empty_file(write, name, content):
    check_error(write(content, name), 1, "a word and its vector", "empty")


def test_no_numbers(write):
    check_error(write("just some text\nand more\n"), 1, "'just some text'")
    check_error(write("a\t1\t2\nb\t1\t2\n"), 1, "spaces", r"'a\t1\t2'")


def test_long_rows_are_shown_in_part(write):
    path = write("a 1 2\nb " + "1 " * 10_000)
    with pytest.raises(ValueError) as raised:
        load_word_vectors(path, [])
    assert len(str(raised.value)) < 500 + len(str(path))


@pytest.mark.parametrize("name", ["vectors.txt.gz", "vectors.zip"])
@pytest.mark.parametrize("place", [0.4, 0.95])
def test_truncated_file(write, name, place):
    rows = "".join(f"w{i} {i} {i * i}\n" for i in range(500))
    path = write(rows, name)
    content = path.read_bytes()
    path.write_bytes(content[: int(place * len(content))])
    with pytest.raises(ValueError, match=r":\d+: expected an intact file"):
        load_word_vectors(path, ["a"])


def test_damaged_zip(write):
    path = write(GLOVE, "vectors.zip")
    content = bytearray(path.read_bytes())
    content[50] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r":\d+: expected an intact file"):
        load_word_vectors(path, ["a"])


@pytest.mark.parametrize(
    "place,byte,reason",
    [(8, 1, "encrypted"), (10, 77, "compression")],
    ids=["encrypted", "method"],
)
def test_unreadable_zip(write, place, byte, reason):
    path = write(GLOVE, "vectors.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + place] = byte
    path.write_bytes(content)
    check_error(path, 1, "an intact file", reason)


def test_zip_with_other_members(tmp_path):
    path = tmp_path / "vectors.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("LICENSE", "Do as you like.")
        archive.writestr("folder/vectors.vec", "5 3\n" + GLOVE)
        archive.writestr("__MACOSX/folder/._vectors.vec", b"\0")
    check_vectors(path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("more.txt", GLOVE)
    check_error(path, 1, "one file", "'folder/vectors.vec', 'more.txt'")


@pytest.mark.parametrize("name", ["v.txt", "v.gz", "v.zip"])
def test_nonexistent_file(tmp_path, name):
    with pytest.raises(FileNotFoundError) as raised:
        load_word_vectors(tmp_path / name, ["a"])
    assert str(tmp_path / name) in str(raised.value)


def test_vocabulary_in_one_string(write):
    with pytest.raises(ValueError, match="`vocabulary`.*'the cat'"):
        load_word_vectors(write(GLOVE), "the cat")


@pytest.mark.parametrize(
    "name",
    [
        "vectors/glove.840B.300d_top256.txt",
        "vectors/word2vec_googlenews_8000x300.txt.gz",
    ],
)
def test_real_files(real_data, name):
    vectors, found = load_word_vectors(
        real_data / name, ["", "in", "for", "In", "qqq"]
    )
    assert vectors.shape == (5, 300)
    assert found.tolist() == [False, True, True, True, False]
    assert (vectors.any(axis=1) == found).all()
