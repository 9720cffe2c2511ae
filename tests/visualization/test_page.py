import tracemalloc

import numpy as np
import pytest

from keras_selfattn.visualization import NGram
from keras_selfattn.visualization import write_html
from tests.visualization.examples import ALL
from tests.visualization.examples import HOSTILE
from tests.visualization.examples import alignment
from tests.visualization.examples import alignment_with_ngrams
from tests.visualization.examples import balanced
from tests.visualization.examples import explanation
from tests.visualization.examples import page
from tests.visualization.examples import pair
from tests.visualization.examples import with_effects
from tests.visualization.examples import with_ngrams


def test_texts_are_there_without_javascript(tmp_path):
    text = page(tmp_path, explanation(label="bad"))
    assert ">not bad at all</p>" in text
    assert "✗ wrong" in text
    assert "<noscript>" in text


def test_nothing_breaks_out(tmp_path):
    hostile = explanation(
        HOSTILE,
        labels=["x", "</option></select><script>y</script>"],
        label='"><script>z</script>',
    )
    harmless = [
        tag for tag, _ in balanced(page(tmp_path, explanation(label="bad")))
    ]
    seen = balanced(page(tmp_path, hostile, title="</title><script>t"))
    assert [tag for tag, _ in seen] == harmless


def test_asks_for_nothing_outside(tmp_path):
    seen = balanced(page(tmp_path, explanation()))
    for tag, attributes in seen:
        assert tag not in ("link", "img", "iframe", "object", "base")
        assert "src" not in attributes
        assert "style" not in attributes
        assert attributes.get("href", "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on")]
    policy = next(a for t, a in seen if "http-equiv" in a)["content"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_weights_are_near(tmp_path):
    seen = explanation("a 😍 c", scores=[[0.7, 0.2, 0.1], [0, 0.5, 0.5]])
    card = next(
        attributes
        for tag, attributes in balanced(page(tmp_path, seen))
        if attributes.get("class") == "text"
    )
    assert card["data-spans"] == "0 1 1 2 1 1"
    digits = np.array([ord(c) - 63 for c in card["data-weights"]])
    largest = np.array([float(x) for x in card["data-largest"].split()])
    roots = digits.reshape(3, 3, 2) @ [64, 1] / 4095
    expected = np.vstack([seen.overall, seen.scores])
    np.testing.assert_allclose(roots**2 * largest[:, None], expected, atol=2e-4)


def test_totals(tmp_path):
    text = page(
        tmp_path,
        explanation(label="good"),
        explanation(label="bad"),
        explanation(),
    )
    assert "3 texts · 50.0% right, 1 wrong · overlap of heads 50%" in text


def test_ngrams_are_told(tmp_path):
    text = page(tmp_path, with_ngrams(labels=["bad", "<good>"]))
    told = "“not bad” -0.25, “&lt;b_” +0.20; all 2 together -0.05</p>"
    assert f"to the logit of &lt;good&gt;: {told}" in text
    assert "n-grams" not in page(tmp_path, explanation())
    text = page(tmp_path, alignment_with_ngrams())
    assert "to the logit of contradiction: “+e =f” +0.75" in text


def test_ngrams_of_scripts_to_the_left_keep_their_numbers(tmp_path):
    seen = explanation(ngrams=[NGram("לא רע", True, np.array([0.5, -0.25]))])
    assert "“\u2068לא רע\u2069” -0.25; all" in page(tmp_path, seen)


def test_unread_words_are_told(tmp_path):
    cut = explanation("a b c d", tokens=["a", "b"])
    text = page(tmp_path, explanation("a b"), cut)
    assert text.count("2 words not read, beyond the model's limit.") == 1
    assert "· 2 words of 1 text not read" in text
    assert "not read" not in page(tmp_path, explanation("a b"))


def test_a_text_without_words_is_told(tmp_path):
    empty = explanation(" ", tokens=["[UNK]"])
    told = "[UNK] stands for a text without words."
    assert told in page(tmp_path, explanation("a b"), empty)
    assert told not in page(tmp_path, explanation("a b"))


def test_no_texts(tmp_path):
    assert "No texts." in page(tmp_path)


@pytest.mark.parametrize(
    "other, message",
    [
        ({"labels": ["x", "y"]}, "bad, good .* x, y in explanation 2"),
        ({"scores": np.ones((1, 4))}, "3 heads.*Received: 1 in explanation 2"),
    ],
)
def test_all_must_fit_the_first(tmp_path, other, message):
    with pytest.raises(ValueError, match=message):
        page(tmp_path, explanation(), explanation(**other))


def test_effects_are_of_the_same_methods(tmp_path):
    with pytest.raises(ValueError, match=r"effects \['leave_one_out'.*\[\] in"):
        page(
            tmp_path, with_effects(), explanation(scores=np.full((2, 4), 0.25))
        )


def test_failure_leaves_the_old_page_alone(tmp_path):
    page(tmp_path, explanation("old"))

    def failing():
        yield explanation("new")
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write_html(failing(), tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert ">old</p>" in (tmp_path / "page.html").read_text("utf-8")


def test_memory_does_not_grow_with_the_texts(tmp_path):
    def peak(count):
        tracemalloc.start()
        write_html(
            (explanation("word " * 50) for _ in range(count)),
            tmp_path / "page.html",
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(2)
    assert peak(300) < peak(10) + 100_000


@pytest.mark.parametrize("make", ALL)
def test_nothing_breaks_out_of_any_kind(make, tmp_path):
    plain = " ".join("x" * len(HOSTILE.split()))
    fragments, pages = [], []
    for text in (plain, HOSTILE):
        seen = make(text)
        seen.labels = [f"{text} {i}" for i in range(len(seen.labels))]
        fragments.append(seen._repr_html_())
        pages.append(page(tmp_path, seen))
    for plain, hostile in (fragments, pages):
        assert [tag for tag, _ in balanced(plain)] == [
            tag for tag, _ in balanced(hostile)
        ]
        assert "<script>alert" not in hostile


def test_pages_name_both_sentences(tmp_path):
    text = page(tmp_path, pair(), pair())
    assert text.count(">premise</h2>") == text.count(">hypothesis</h2>")
    assert text.count('<p class="text" dir') == 4
    assert "2 pairs · overlap of heads " in text


def test_alignments_have_no_heads(tmp_path):
    # The numbers of words differ, and no head is meant by them.
    text = page(tmp_path, alignment(), alignment("a", "b c d"))
    assert 'role="radiogroup"' not in text
    assert "overlap" not in text.split("<script>")[0]


def test_one_kind_a_page(tmp_path):
    with pytest.raises(ValueError, match="PairExplanation.*Alignment.* 2"):
        page(tmp_path, pair(), alignment())
