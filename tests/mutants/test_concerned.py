from tests.mutants import concerned


def test_every_room_has_files_and_every_file_tests():
    files = list(concerned.files())
    for room in concerned.ROOMS:
        assert any(path.startswith(f"keras_selfattn/{room}") for path in files)
    for path in files:
        parts = [part for stage in concerned.stages(path) for part in stage]
        assert any(part.startswith("tests/") for part in parts)


def test_own_tests_come_first_and_then_the_layers_that_build_on_it():
    own, table, *_ = concerned.stages(
        "keras_selfattn/layers/_tensorflow/packed_lstm.py"
    )
    assert own == ["tests/layers/_tensorflow/test_packed_lstm.py"]
    assert table[:2] == ["tests/conformance", "-k"]
    assert "StackedBiLSTM" in table[2].split(" or ")
    assert "GatedEncoder" not in table[2].split(" or ")


def test_what_names_another_backend_is_tried_there():
    *_, last = concerned.stages("keras_selfattn/training/averaging.py")
    assert last[0] == "tests/backends/test_suites.py"
    assert last[-1] == "training and jax"
