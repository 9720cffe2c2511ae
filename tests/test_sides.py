from keras_selfattn import sides


def test_one_text_or_a_pair():
    assert sides.of_text("a text") == sides.SENTENCE == ("",)
    assert sides.of_text(("a", "b")) == sides.PAIR
    assert sides.PAIR == ("premise_", "hypothesis_")


def test_the_strings_of_a_text():
    assert sides.sentences("a text") == ("a text",)
    assert sides.sentences(["a", "b"]) == ("a", "b")
