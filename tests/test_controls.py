from keras_selfattn.controls import clean
from keras_selfattn.controls import one_line


def test_controls_are_seen_and_not_sent():
    text = "a\x1b[2J\x9b5m\x00\x7f\ud800 é\t\r\n"
    assert clean(text) == "a\ufffd[2J\ufffd5m\ufffd\ufffd\ufffd é\t\n"
    assert one_line(" a\n\tb\x1b ") == "a b\ufffd"
