"""What stands between two commands that write the same arrays."""

import numpy as np
import pytest

from keras_selfattn.cli.array_files import check_vectors
from keras_selfattn.cli.array_files import new_vectors


def write(path, number):
    with new_vectors(path, ["no", "yes"]) as add:
        add({"embedding": np.full((2, 3), number, "float32")})


def test_a_folder_that_another_has_written_meanwhile(tmp_path):
    folder = tmp_path / "vectors"
    # Both find it new; the slower one begins when the other has ended.
    check_vectors(folder, ())
    write(folder, 1)
    with pytest.raises(ValueError, match="must be new or empty. Rec.*vectors"):
        write(folder, 2)
    np.testing.assert_array_equal(
        np.load(folder / "embedding.npy"), np.ones((2, 3))
    )
    assert [path.name for path in tmp_path.iterdir()] == ["vectors"]
