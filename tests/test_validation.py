import pytest

from keras_selfattn import validation


@pytest.mark.parametrize("value", [0, -1, 1.0, True, None])
def test_an_integer_is_none_of_these(value):
    message = (
        f"`size` must be an integer of 1 or more. Received: size={value!r}"
    )
    with pytest.raises(ValueError) as error:
        validation.integer(value, "size")
    assert str(error.value) == message


def test_what_is_as_expected_comes_back():
    assert validation.integer(0, "size", least=0) == 0
    assert validation.integers([3, 1], "sizes") == (3, 1)
    assert validation.integers([], "sizes") == ()
    assert validation.widths(iter([3]), "sizes") == (3,)
    assert validation.fraction(0, "share") == 0.0
    assert validation.one_of(None, ("a", None), "kind") is None


@pytest.mark.parametrize(
    "check, value, message",
    [
        (validation.integers, "12", "sequence of integers.*x='12'"),
        (validation.integers, 12, "sequence of integers.*x=12"),
        (validation.integers, [1, 0], "1 or more.*x=0"),
        (validation.widths, [], r"at least one integer. Received: x=\(\)"),
        (validation.fraction, 1, "not including, 1. Received: x=1"),
        (validation.fraction, "0.5", "number from 0.*x='0.5'"),
        (validation.fraction, False, "number from 0.*x=False"),
        (validation.positive, True, "number above 0.*x=True"),
    ],
)
def test_what_is_not_is_refused(check, value, message):
    with pytest.raises(ValueError, match=f"`x` must.*{message}"):
        check(value, "x")


@pytest.mark.parametrize("value", ["c", None, ["a"]])
def test_one_of_several(value):
    with pytest.raises(ValueError, match="`kind` must be one of 'a', 'b'. Rec"):
        validation.one_of(value, {"a": 1, "b": 2}, "kind")
