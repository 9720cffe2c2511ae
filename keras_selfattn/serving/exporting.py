"""Models written as SavedModels that TensorFlow Serving loads."""

import hashlib
import os
import pathlib

import keras
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import keras_selfattn
from keras_selfattn import validation
from keras_selfattn.checksums import write_checksums
from keras_selfattn.controls import one_line
from keras_selfattn.files import new_folder
from keras_selfattn.files import write_json
from keras_selfattn.model_card import model_card
from keras_selfattn.models.portable import without_cudnn
from keras_selfattn.serving import agreement
from keras_selfattn.serving import graph
from keras_selfattn.serving import warmup
from keras_selfattn.serving.checks import check_model
from keras_selfattn.serving.endpoints import endpoints
from keras_selfattn.serving.endpoints import input_names
from keras_selfattn.serving.format_card import CARD_FILE
from keras_selfattn.serving.served_model import REQUIREMENTS
from keras_selfattn.serving.storage import Storage
from keras_selfattn.serving.tensorflow_process import in_tensorflow


def export(
    model: keras.Model,
    folder: str | os.PathLike,
    version: int = 1,
    card: str | None = None,
) -> pathlib.Path:
    """Write a model as a SavedModel that answers raw text.

    The folder `folder/version` is what TensorFlow Serving loads. The inputs
    of its signatures are strings of shape `(B,)`: `text`, or, for a model of
    pairs, `premise` and `hypothesis`.

    - `serving_default`: `label`, strings of shape `(B,)`, and
      `probabilities`, float32 of shape `(B, num_classes)`.
    - `attend`, of single texts: `tokens`, strings of shape `(B, n)` padded
      with `""`, and `scores`, float32 of shape `(B, num_heads, n)`. Where
      each feature has scores of its own, they are averaged.
    - `align`, of pairs: `premise_tokens` `(B, n_p)` and `hypothesis_tokens`
      `(B, n_h)`, with `premise_scores` and `hypothesis_scores`, which are
      `(B, num_heads, n_p)` and `(B, num_heads, n_h)`. For decomposable
      attention they are `(B, n_p, n_h)`, how the premise looks at the
      hypothesis, and `(B, n_h, n_p)`; with intra-sentence attention there
      are also `premise_intra_scores` `(B, n_p, n_p)` and
      `hypothesis_intra_scores` `(B, n_h, n_h)`.
    - `embed`: `embedding`, float32 of shape `(B, num_heads, D)`; of pairs
      `premise_embedding` and `hypothesis_embedding`. Decomposable attention
      embeds no sentence and has no `embed`.

    The vocabulary is an asset. In `assets.extra` are a warm-up request for
    each signature; `requirements.json` with the versions it was written with
    and, in `op_libraries`, the libraries in the `tensorflow_text` package
    whose ops the graph calls; and `model_card.md`. `checksums.json` has the
    SHA-256 of all files. The folder appears in one step, when it is complete
    and what was loaded back from it has answered like `model`.

    The same model gives the same bytes in each new process. Within one
    process the functions in `saved_model.pb` get higher numbers each time,
    and nothing else differs.

    Args:
        model: A classifier with a `preprocessor` and `labels`, or what
            `reduce_precision` made of it.
        folder: Path of the folder that holds the version folders; it is made
            when it does not exist.
        version: Positive integer, the name of the new folder in `folder`.
        card: String, the model card in Markdown. Defaults to `None`, which
            is `keras_selfattn.model_card.model_card(model)`.

    Returns:
        `pathlib.Path` of the version folder.

    Raises:
        ValueError: if the version exists already, the folder cannot be
            written, or the model cannot be served.
        RuntimeError: if the graph holds an op that not every server runs, or
            the loaded SavedModel answers otherwise than the model.
    """
    validation.integer(version, "version")
    check_model(model, "savedmodel")
    folder = pathlib.Path(folder)
    target = folder / str(version)
    if os.path.lexists(target):
        raise ValueError(f"{target} exists already; choose another version")
    with new_folder(target) as written:
        card = card or model_card(model)
        in_tensorflow(write_checked, model, written, card=card)
        write_checksums(written)
    return target


def write_checked(model, folder, card):
    """Write a SavedModel, and check that it answers as the model."""
    names = input_names(model)
    with without_cudnn(model):
        _write(model, folder, names, card)
        agreement.check(model, folder, names)


def _write(model, folder, names, card):
    module = tf.Module()
    module.preprocessor = model.preprocessor
    storage = Storage(model)
    module.weights = storage.variables
    signatures, together = endpoints(model, storage.read)
    # No signature, which a server would offer: `ServedModel` alone calls it.
    module.together = together
    try:
        tf.saved_model.save(
            module,
            str(folder),
            signatures,
            # What is served isn't trained.
            tf.saved_model.SaveOptions(experimental_custom_gradients=False),
        )
    except AssertionError as error:
        raise RuntimeError(
            "A served graph reads no variable that is no weight of the model. "
            f"Received: {one_line(error)}"
        ) from error

    path = folder / "saved_model.pb"
    saved_model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    graph_def = saved_model.meta_graphs[0].graph_def
    graph.check(graph_def)
    graph.forget_gradients(graph_def)
    graph.rename_tables(
        graph_def, _digest(folder / "assets", model.preprocessor.characters)
    )
    path.write_bytes(saved_model.SerializeToString(deterministic=True))
    # It is the fingerprint of the file before the change, and not required.
    (folder / "fingerprint.pb").unlink(missing_ok=True)

    extra = folder / "assets.extra"
    extra.mkdir()
    warmup.write(extra / warmup.FILE, signatures, names)
    _write_requirements(extra / REQUIREMENTS, graph.op_libraries(graph_def))
    (extra / CARD_FILE).write_text(card, encoding="utf-8")


def _digest(folder, characters):
    digest = hashlib.sha256(repr(characters).encode())
    for path in sorted(folder.rglob("*")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _write_requirements(path, libraries):
    requirements = {
        "keras": keras.__version__,
        "keras_selfattn": keras_selfattn.__version__,
        "op_libraries": libraries,
        "tensorflow": tf.__version__,
        "tensorflow_text": None,
    }
    if libraries:
        import tensorflow_text

        requirements["tensorflow_text"] = tensorflow_text.__version__
    write_json(path, requirements)
