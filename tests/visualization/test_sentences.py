import html
import html.parser
import io
import itertools
import json
import re
import tracemalloc

import keras
import numpy as np
import pytest
import rich.console
import tensorflow as tf
from keras import ops

from keras_selfattn import visualization
from keras_selfattn.cli import main
from keras_selfattn.data.corpus import Corpus
from keras_selfattn.text import string_tensor
from keras_selfattn.visualization import Explanation
from keras_selfattn.visualization import explain
from keras_selfattn.visualization import write_html
from keras_selfattn.visualization.alignment import align
from tests.tiny_classifier import tiny_classifier

HOSTILE = "<script>alert(1)</script> \"a' & </p></article><!-- <b"
LABELS = ["bad", "good"]


def explanation(text="not bad at all", scores=None, label=None, **arguments):
    tokens = arguments.pop("tokens", text.split())
    if scores is None:
        scores = np.full((3, len(tokens)), 0.5 / len(tokens))
        for head, row in enumerate(scores):
            row[head % len(tokens)] += 0.5
    arguments.setdefault("probabilities", [0.25, 0.75])
    arguments.setdefault("labels", LABELS)
    return Explanation(text, tokens, scores, label=label, **arguments)


def terminal(item, width=80, encoding="utf-8", **arguments):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = rich.console.Console(file=stream, width=width, **arguments)
    item.render(console)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def page(tmp_path, *items, **arguments):
    path = write_html(iter(items), tmp_path / "page.html", **arguments)
    return path.read_text(encoding="utf-8")


class TestAlign:
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
            ("a (b)", ["a", "-LRB-", "b"], ["a", "-LRB-", "b"]),
            ("a\x00b", ["a\x00b"], ["a\ufffdb"]),
        ],
    )
    def test_spans_hold_the_words(self, text, tokens, words):
        shown, spans = align(text, tokens)
        if words is None:
            words = [t if t not in ("``", "''") else '"' for t in tokens]
        assert [shown[start:end] for start, end in spans] == words

    def test_text_stays_as_it_is_written(self):
        assert align("I don't.", ["i", "do", "n't", "."])[0] == "I don't."

    def test_controls_and_surrogates_are_replaced(self):
        shown, _ = align("a\x1b[31m\x9b\ud800b", ["x"])
        assert shown == "x"
        shown, _ = align("a\x1b[31m\x9b\ud800b\t", [])
        assert shown == "a\ufffd[31m\ufffd\ufffdb\t"


class TestExplanation:
    def test_measures(self):
        seen = explanation(
            "a b c", scores=[[1.0, 0, 0], [0.5, 0.5, 0], [0, 0, 1.0]]
        )
        np.testing.assert_allclose(seen.overall, [0.5, 1 / 6, 1 / 3])
        np.testing.assert_allclose(seen.head_overlap, [0.25, 0.25, 0.0])
        assert seen.overlap == pytest.approx(1 / 6)
        assert seen.redundancy == seen.overlap
        # A Aᵀ - I = [[0, .5, 0], [.5, -.5, 0], [0, 0, 0]]
        assert seen.penalty == pytest.approx(0.75)
        assert (seen.predicted, seen.confidence) == ("good", 0.75)

    def test_one_head_has_no_overlap(self):
        assert explanation("a b", scores=[[0.5, 0.5]]).overlap == 0.0

    @pytest.mark.parametrize(
        "label, correct",
        [(None, None), ("good", True), ("bad", False), ("new", False)],
    )
    def test_correct(self, label, correct):
        assert explanation(label=label).correct is correct

    def test_heads_that_differ_come_first(self):
        seen = explanation(
            "a b c",
            scores=[[0.1, 0.9, 0], [0, 1.0, 0], [0.5, 0, 0.5], [0, 0.8, 0.2]],
        )
        assert seen.head_order() == [1, 2, 3, 0]

    def test_unread_end(self):
        assert explanation("a b c d", tokens=["a", "b"]).unread == "c d"

    @pytest.mark.parametrize(
        "change, message",
        [
            ({"scores": np.ones((2, 3))}, r"\(heads, 4\).*got \(2, 3\)"),
            ({"scores": np.ones((2, 4, 5))}, r"got \(2, 4, 5\)"),
            ({"scores": np.ones((0, 4))}, "at least one head"),
            ({"scores": np.full((2, 4), np.nan)}, "scores that are finite"),
            ({"probabilities": [1.0]}, r"shape \(2,\).*got \(1,\)"),
            ({"probabilities": [-1.0, 2.0]}, "probabilities that are"),
        ],
    )
    def test_bad_input(self, change, message):
        with pytest.raises(ValueError, match=message):
            explanation(**change)


class TestTerminal:
    def test_both_views(self):
        text = terminal(explanation(label="bad"))
        assert "Predicted good (75%), WRONG: truly bad" in text
        # A little more than even, where three times as much is a full block.
        assert "not▂ bad▂ at▂ all\n" in text
        assert "█ = 75.0%" in text
        assert re.search(r"1 not +29% █+ +62%", text)
        assert "overlap 0.50" in text

    def test_colour_marks_words_by_style(self):
        arguments = {"force_terminal": True, "color_system": "truecolor"}
        coloured = terminal(explanation(), **arguments)
        assert "\x1b[38;2;0;0;0;48;2;189;165;127mnot\x1b[0m" in coloured
        assert "not▂" not in coloured.replace("\x1b[0m", "")
        bare = terminal(explanation(), no_color=True, **arguments)
        assert "48;2" not in bare
        assert "not▂" in bare

    def test_ascii(self):
        text = terminal(explanation(label="good"), encoding="ascii")
        assert "not1 bad1 at1 all\n" in text
        assert "##" in text

    @pytest.mark.parametrize("width", [40, 80, 200])
    @pytest.mark.parametrize(
        "text",
        [
            " ".join(f"word{i}" for i in range(200)),
            "لم يكن الطعام سيئا",
            "菜 的 味道 非常 好" * 9,
            "loved 😍 👩‍👩‍👧 it",
            "x" * 500,
        ],
    )
    def test_fits_the_width(self, text, width):
        lines = terminal(explanation(text), width).splitlines()
        assert all(rich.cells.cell_len(line) <= width for line in lines)
        assert len(lines) < 90

    def test_long_word_is_cut_to_one_row(self):
        text = terminal(explanation("a " + "x" * 50))
        assert re.search(r"2 x{19}… +\d\d% █", text)

    def test_right_to_left_words_keep_their_numbers(self):
        assert "1 \u200eلم\u200e" in terminal(explanation("لم يكن"))

    def test_says_what_it_leaves_out(self):
        many = explanation(" ".join("abcdefghij" * 4), np.full((30, 40), 0.025))
        text = terminal(many)
        assert "24 of 40 words" in text
        assert re.search(r"\d+ of 30 heads, most different first", text)

    def test_escape_sequences_and_markup_are_inert(self):
        text = terminal(explanation("[red]a\x1b[2J[/red]", label="\x1b]0;x"))
        assert "\x1b" not in text
        assert "[red]a\ufffd[2J[/red]" in text

    def test_unread_end_is_told(self):
        text = terminal(explanation("a b c d", tokens=["a", "b"]))
        assert "[not read by the model:] c d" in text


class TestNotebook:
    def test_fragment_is_escaped(self):
        fragment = explanation(
            HOSTILE, labels=["x", "<img src=x>"], label="'\">"
        )._repr_html_()
        assert "<script" not in fragment
        assert "<img" not in fragment
        assert balanced(fragment)

    def test_weights_are_there(self):
        assert 'title="29.2%">not</span>' in explanation()._repr_html_()


class TestFigure:
    def test_rows_are_overall_and_heads(self):
        seen = explanation("a $b c", scores=[[1.0, 0, 0], [0, 0.5, 0.5]])
        (panel,) = seen.figure().axes[:1]
        np.testing.assert_allclose(
            panel.images[0].get_array(),
            [[0.5, 0.25, 0.25], [1.0, 0, 0], [0, 0.5, 0.5]],
        )
        names = [label.get_text() for label in panel.get_yticklabels()]
        assert names == ["overall", "1", "2"]

    def test_long_text_is_drawn_in_panels(self):
        figure = explanation(" ".join(["word", "$_$"] * 45)).figure()
        assert len(figure.axes) == 3 + 1
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=20)
        assert stream.getvalue().startswith(b"\x89PNG")


class Balance(html.parser.HTMLParser):
    void = {"meta", "br", "img", "input"}

    def __init__(self):
        super().__init__()
        self.open = []
        self.seen = []

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def balanced(text):
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert not parser.open
    return parser.seen


class TestPage:
    def test_texts_are_there_without_javascript(self, tmp_path):
        text = page(tmp_path, explanation(label="bad"))
        assert ">not bad at all</p>" in text
        assert "✗ wrong" in text
        assert "<noscript>" in text

    def test_nothing_breaks_out(self, tmp_path):
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

    def test_asks_for_nothing_outside(self, tmp_path):
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

    def test_weights_are_near(self, tmp_path):
        seen = explanation("a 😍 c", scores=[[0.7, 0.2, 0.1], [0, 0.5, 0.5]])
        card = next(
            attributes
            for tag, attributes in balanced(page(tmp_path, seen))
            if attributes.get("class") == "text"
        )
        assert card["data-spans"] == "0 1 1 2 1 1"
        steps = np.array([ord(c) - 63 for c in card["data-weights"]])
        largest = np.array([float(x) for x in card["data-largest"].split()])
        weights = steps.reshape(3, 3) / 63 * largest[:, None]
        expected = np.vstack([seen.overall, seen.scores])
        np.testing.assert_allclose(weights, expected, atol=0.7 / 126 + 1e-3)

    def test_totals(self, tmp_path):
        text = page(
            tmp_path,
            explanation(label="good"),
            explanation(label="bad"),
            explanation(),
        )
        assert "3 texts · 50.0% right, 1 wrong · heads overlap by 50%" in text

    def test_no_texts(self, tmp_path):
        assert "No texts." in page(tmp_path)

    @pytest.mark.parametrize(
        "other, message",
        [
            ({"labels": ["x", "y"]}, "labels .* in explanation 2"),
            ({"scores": np.ones((1, 4))}, "3 heads .* got 1 in explanation 2"),
        ],
    )
    def test_all_must_fit_the_first(self, tmp_path, other, message):
        with pytest.raises(ValueError, match=message):
            page(tmp_path, explanation(), explanation(**other))

    def test_failure_leaves_the_old_page_alone(self, tmp_path):
        page(tmp_path, explanation("old"))

        def failing():
            yield explanation("new")
            raise RuntimeError("stop")

        with pytest.raises(RuntimeError):
            write_html(failing(), tmp_path / "page.html")
        assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
        assert ">old</p>" in (tmp_path / "page.html").read_text("utf-8")

    def test_memory_does_not_grow_with_the_texts(self, tmp_path):
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


class FakePreprocessor:
    def tokenize(self, texts):
        return tf.strings.split(string_tensor(texts))

    def __call__(self, texts):
        lengths = tf.strings.length(self.tokenize(texts))
        return {"token_ids": lengths.to_tensor().numpy()}


class FakeModel:
    """A head that looks at everything and one that looks at the first."""

    sides = ("",)

    def __init__(self, labels=("short", "long"), logits=False):
        self.preprocessor = FakePreprocessor()
        self.labels = None if labels is None else list(labels)
        self.gives_logits = logits
        self.weights = []
        self.input = {"token_ids": keras.KerasTensor((None, None), "int32")}

    def preprocess(self, texts):
        return self.preprocessor(texts)

    def outputs(self, features):
        longest = ops.max(features["token_ids"], axis=1)
        is_long = ops.cast(longest > 4, "float32")
        outputs = ops.stack([1.0 - is_long, is_long], axis=1)
        return 10.0 * outputs - 5.0 if self.gives_logits else outputs

    def explanation_model(self):
        def run(features, training):
            kept = ops.cast(features["token_ids"] > 0, "float32")
            first = ops.one_hot(ops.zeros_like(kept[:, 0], "int32"), 99)
            even = kept / ops.sum(kept, axis=1, keepdims=True)
            scores = ops.stack([even, first[:, : ops.shape(kept)[1]]], axis=1)
            return {
                "outputs": self.outputs(features),
                "attention_scores": scores,
            }

        return run


class TestExplain:
    texts = ["a bb ccc", "ddddd", "e ff", "ééééé x y z", "g"]

    def test_every_text_has_its_own_tokens_and_scores(self):
        seen = list(explain(FakeModel(), self.texts, batch_size=2))
        assert [item.text for item in seen] == self.texts
        assert [item.tokens for item in seen] == [t.split() for t in self.texts]
        for item in seen:
            n = len(item.tokens)
            expected = np.vstack([np.full(n, 1 / n), np.eye(n)[0]])
            np.testing.assert_allclose(item.scores, expected, rtol=1e-6)
        predicted = [item.predicted for item in seen]
        assert predicted == ["short", "long", "short", "long", "short"]

    def test_reads_one_batch_at_a_time(self):
        taken = itertools.count()
        texts = (f"text {next(taken)}" for _ in itertools.count())
        stream = explain(FakeModel(), texts, batch_size=4)
        for _ in range(5):
            next(stream)
        assert next(taken) == 8

    def test_labels(self):
        labels = ["short", "short", None, "long", "new"]
        seen = explain(FakeModel(), self.texts, iter(labels), batch_size=3)
        assert [s.correct for s in seen] == [True, False, None, True, False]

    def test_logits_become_probabilities(self):
        (seen,) = explain(FakeModel(logits=True), ["a b"])
        np.testing.assert_allclose(seen.probabilities.sum(), 1.0, rtol=1e-6)
        assert seen.predicted == "short"

    def test_logits_that_look_like_probabilities(self):
        model = FakeModel(logits=True)
        model.outputs = lambda features: ops.convert_to_tensor([[0.0, 1.0]])
        (seen,) = explain(model, ["a b"])
        np.testing.assert_allclose(
            seen.probabilities, [1 / (1 + np.e), np.e / (1 + np.e)], rtol=1e-6
        )

    def test_later_calls_take_the_graph_of_the_first(self):
        model, made = FakeModel(), []
        make = model.explanation_model
        model.explanation_model = lambda: made.append(1) or make()
        for _ in range(3):
            list(explain(model, ["a b"]))
        assert len(made) == 1
        other = FakeModel()
        other.outputs = lambda features: ops.convert_to_tensor([[0.0, 1.0]])
        assert next(explain(model, ["a b"])).predicted == "short"
        assert next(explain(other, ["a b"])).predicted == "long"

    @pytest.mark.filterwarnings("ignore:.quantize. left these layers")
    def test_weights_that_change_or_are_exchanged(self, tmp_path):
        model = tiny_classifier()

        def answer():
            (seen,) = explain(model, ["good food"])
            inputs = model.preprocess(["good food"])
            expected = ops.convert_to_numpy(model(inputs))[0]
            np.testing.assert_allclose(seen.probabilities, expected, rtol=1e-4)
            return seen.probabilities

        first = answer()
        model.set_weights([2 * weight for weight in model.get_weights()])
        second = answer()
        # The graph that is kept is no part of the model.
        model.save(tmp_path / "model.keras")
        if keras.backend.backend() == "tensorflow":
            model.export(tmp_path / "exported", verbose=False)
        model.quantize("int8")
        third = answer()
        assert abs(second - first).max() > 1e-3
        assert abs(third - second).max() > 1e-6

    def test_a_model_without_labels_numbers_its_classes(self):
        (seen,) = explain(FakeModel(labels=None), ["a b"], labels=[0])
        assert seen.labels == ["0", "1"]
        assert seen.correct

    def test_no_texts(self):
        assert list(explain(FakeModel(), [])) == []

    def test_a_lone_surrogate_is_no_error(self):
        (seen,) = explain(FakeModel(), ["a \ud800"])
        assert seen.tokens == ["a", "\ufffd" * 3]

    @pytest.mark.parametrize(
        "labels, fewer", [(["short"], "labels"), (["short"] * 9, "texts")]
    )
    def test_labels_of_another_length(self, labels, fewer):
        with pytest.raises(ValueError, match=f"as texts.*fewer {fewer}"):
            list(explain(FakeModel(), self.texts, labels))

    def test_labels_by_their_older_name(self):
        (seen,) = explain(FakeModel(), ["a b"], gold=["short"])
        assert seen.label == seen.gold == "short"
        arguments = {"scores": [[1.0]], "probabilities": [1.0], "labels": ["x"]}
        assert Explanation("a", ["a"], **arguments, gold="x").label == "x"
        with pytest.raises(TypeError, match="multiple values"):
            explain(FakeModel(), ["a b"], labels=["short"], gold=["short"])

    def test_bad_arguments(self):
        with pytest.raises(ValueError, match="one string: 'one'"):
            explain(FakeModel(), "one")
        with pytest.raises(ValueError, match="positive batch_size, got 0"):
            explain(FakeModel(), ["one"], batch_size=0)
        model = FakeModel()
        model.preprocessor = None
        with pytest.raises(ValueError, match="with a preprocessor"):
            explain(model, ["one"])


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for text, label in rows:
            file.write(json.dumps({"text": text, "label": label}) + "\n")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    tiny_classifier().save_to_preset(folder)
    return folder


class TestCommandLine:
    def explain(self, folder, path, *more):
        target = path.parent / "page.html"
        options = [f"--file={path}", f"--html={target}", *more]
        assert main(["explain", str(folder), *options]) == 0
        return target.read_text(encoding="utf-8")

    def test_nothing_breaks_out(self, folder, tmp_path, capsys):
        tags = []
        for name, text in (
            ("rows.jsonl", "x " * len(HOSTILE.split())),
            ("<script>alert(2)<b>\"'&.jsonl", HOSTILE),
        ):
            path = write_rows(tmp_path / name, [(text, text)])
            page = self.explain(folder, path, "--label=label")
            assert f"looked at in {html.escape(name)}</h1>" in page
            assert "<script>alert" not in page
            tags.append([tag for tag, _ in balanced(page)])
        assert tags[0] == tags[1]
        # Only the page's path; the bar is for the eye.
        assert (
            capsys.readouterr().out.split() == [str(tmp_path / "page.html")] * 2
        )

    def test_rows_are_not_gathered(self, folder, tmp_path, monkeypatch):
        path = write_rows(tmp_path / "rows.jsonl", [("good food", "1")] * 300)
        read = []
        passes = Corpus.__iter__

        def counted(self):
            read.append(0)
            for row in passes(self):
                read[-1] += 1
                yield row

        monkeypatch.setattr(Corpus, "__iter__", counted)
        most = []

        def look(items, *arguments, **options):
            for number, _ in enumerate(items, start=1):
                most.append(read[1] - number)

        monkeypatch.setattr(visualization, "write_html", look)
        options = [f"--file={path}", "--html=x.html", "--label=label"]
        assert main(["explain", str(folder), *options]) == 0
        # One pass counts, one explains, never more than a batch ahead.
        assert read == [300, 300]
        assert len(most) == 300
        assert max(most) <= 32

    @pytest.mark.slow
    def test_10000_texts_take_no_more_memory_than_1000(
        self, folder, tmp_path, capsys
    ):
        def peak(count):
            text = "the food was good , but not that good"
            rows = ((f"{i} {text}", "1") for i in range(count))
            path = write_rows(tmp_path / f"{count}.jsonl", rows)
            tracemalloc.start()
            page = tmp_path / "page.html"
            options = [f"--file={path}", f"--html={page}", "--label=label"]
            assert main(["explain", str(folder), *options]) == 0
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            return most

        peak(100)
        few = peak(1000)
        many = peak(10_000)
        # The rows alone are 2 MB, their explanations over 20 MB.
        assert many < few + 1_000_000
