from keras_selfattn import leftovers


def test_what_is_left_goes_inner_first():
    gone = []
    with leftovers.cleared(gone.append, "outer"):
        with leftovers.cleared(gone.append, "done"):
            pass
        with leftovers.cleared(gone.append, "inner"):
            leftovers.clear()
            assert gone == ["done", "inner", "outer"]
    leftovers.clear()
    assert gone == ["done", "inner", "outer", "inner", "outer"]
