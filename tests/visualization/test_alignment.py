import pytest

from keras_selfattn.visualization.alignment import align


@pytest.mark.parametrize(
    "text, tokens, words",
    [
        ("I don't.", ["i", "do", "n't", "."], ["I", "do", "n't", "."]),
        ('He: "no"', ["He", ":", "``", "no", "''"], None),
        ("  a\r\n\nb ", ["a", "b"], ["a", "b"]),
        ("好吃 😍😍!", ["好吃", "😍", "😍", "!"], None),
        ("", ["[UNK]"], ["[UNK]"]),
        (
            "Is  It?",
            ["[NULL]", "is", "it", "?"],
            ["[NULL]", "Is", "It", "?"],
        ),
        (
            "I don’t ‘know’.",
            ["i", "do", "n't", "'", "know", "'", "."],
            ["I", "do", "n’t", "‘", "know", "’", "."],
        ),
        ("It’s", ["it", "’s"], ["It", "’s"]),
        ("‘‘a’’", ["''", "a", "''"], ["‘‘", "a", "’’"]),
        ("a (b)", ["a", "-LRB-", "b"], ["a", "-LRB-", "b"]),
        ("a\x00b", ["a\x00b"], ["a\ufffdb"]),
        # Half a surrogate pair is three bytes that are no UTF-8.
        ("So  \ud83d!", ["so", "\ufffd" * 3, "!"], ["So", "\ufffd" * 3, "!"]),
        # What the tokenizer takes for white space.
        ("A\x0bb\x0cc\x1cd\x85e", [*"abcde"], [*"Abcde"]),
        # Of other letters, or of another length, in lower case.
        ("İyi.", ["i̇yi", "."], ["İyi", "."]),
        ("i̇yi.", ["i̇yi", "."], ["i̇yi", "."]),
        ("ΟΔΟΣ.", ["οδοσ", "."], ["ΟΔΟΣ", "."]),
    ],
)
def test_spans_hold_the_words(text, tokens, words):
    shown, spans = align(text, tokens)
    if words is None:
        words = [t if t not in ("``", "''") else '"' for t in tokens]
    assert [shown[start:end] for start, end in spans] == words


def test_text_stays_as_it_is_written():
    assert align("I don't.", ["i", "do", "n't", "."])[0] == "I don't."
    shown, _ = align("I don’t.", ["i", "do", "n't", "."])
    assert shown == "I don’t."


def test_controls_and_surrogates_are_replaced():
    shown, _ = align("a\x1b[31m\x9b\ud800b", ["x"])
    assert shown == "x"
    shown, _ = align("a\x1b[31m\x9b\ud800b\t", [])
    assert shown == "a\ufffd[31m\ufffd" + "\ufffd" * 3 + "b\t"
