from tests.visualization.examples import HOSTILE
from tests.visualization.examples import alignment
from tests.visualization.examples import alignment_with_ngrams
from tests.visualization.examples import balanced
from tests.visualization.examples import explanation
from tests.visualization.examples import with_effects
from tests.visualization.examples import with_ngrams


def test_fragment_is_escaped():
    fragment = explanation(
        HOSTILE, labels=["x", "<img src=x>"], label="'\">"
    )._repr_html_()
    assert "<script" not in fragment
    assert "<img" not in fragment
    assert balanced(fragment)


def test_weights_are_there():
    assert 'title="29%">not</span>' in explanation()._repr_html_()


def test_shades_count_even_shares():
    seen = explanation("a b c d", [[0.125, 0.5, 0.375, 0.0]])._repr_html_()
    assert '/ 0.30);border-radius:3px" title="50%">b</span>' in seen
    assert '/ 0.20);border-radius:3px" title="38%">c</span>' in seen
    assert '/ 0.00);border-radius:3px" title="12%">a</span>' in seen
    assert "8</span> or more × an even share" in seen
    assert "No word stands out" not in seen


def test_unread_words_are_told():
    seen = explanation("a b <c> d", tokens=["a", "b"])._repr_html_()
    assert "<b>[2 words not read]</b>" in seen
    assert "&lt;c&gt; d</span>" in seen


def test_even_weights_are_told():
    seen = explanation("a b c", [[1 / 3] * 3])._repr_html_()
    assert "No word stands out: each has less than 1.5× an even" in seen
    one = explanation("a", [[1.0]])._repr_html_()
    assert "No word stands out" not in one


def test_ngrams_are_told():
    seen = with_ngrams()._repr_html_()
    told = "“not bad” -0.25, “&lt;b_” +0.20; all 2 together -0.05</div>"
    assert f"to the logit of good: {told}" in seen
    assert "n-grams" not in explanation()._repr_html_()


def test_ngrams_of_pairs_are_told():
    seen = alignment_with_ngrams()._repr_html_()
    told = "“+e =f” +0.75, “+ =” -0.30; all 2 together +0.45</div>"
    assert f"to the logit of contradiction: {told}" in seen
    assert "+ one that it has not" in seen
    assert "n-grams" not in alignment()._repr_html_()


def test_maps_say_which_side_looks_at_which():
    seen = alignment()._repr_html_()
    title = "The premise (rows) looks at the hypothesis (columns); each row"
    assert f"<summary>{title} adds up to 100%</summary>" in seen


def test_effects_are_beside_the_weights():
    seen = with_effects(labels=["bad", "<good>"])._repr_html_()
    assert "Effect of leaving each word out</div>" in seen
    assert "for <bdi>&lt;good&gt;</bdi>" in seen
    green = "rgb(77 146 33 / "
    assert f'{green}0.40);border-radius:3px" title="+60 points">at<' in seen
    assert f'{green}0.00);border-radius:3px" title="-10 points">$bad$<' in seen
    assert f'{green}0.30);border-radius:3px" title="+50%">not<' in seen
    assert "“at” has the most effect" in seen
    assert "<th>left out</th><th>gradient</th><th>overall</th>" in seen
    assert ">+60</td>" in seen
    assert balanced(seen)


def test_effects_against_the_answer_are_pink():
    effects = {"leave_one_out": [0.1, -0.5, 0.0, 0.0]}
    seen = with_effects(effects=effects)._repr_html_()
    pink = "rgb(197 27 125 / 0.40)"
    assert f'{pink};border-radius:3px" title="-50 points">$bad$<' in seen
