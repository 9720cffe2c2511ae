import pytest

from keras_selfattn import endings


def test_what_goes_on_after_an_error_ends_where_a_signal_asked(monkeypatch):
    monkeypatch.setattr(endings, "_asked", False)
    endings.raise_if_asked()
    endings.ask()
    with pytest.raises(KeyboardInterrupt):
        endings.raise_if_asked()
