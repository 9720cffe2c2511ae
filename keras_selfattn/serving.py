"""SavedModels with raw text in: writing them, and loading them in Python."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import tempfile
import uuid

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import keras_selfattn
from keras_selfattn.layers import StackedBiLSTM

SIGNATURES = ("serving_default", "attend", "embed")
REQUIREMENTS = "requirements.json"
TOLERANCE = 1e-5

# What a loaded model must answer like the Keras model: empty and blank rows,
# punctuation, other scripts, emoji, bytes that are no text, a long row.
PROBES = (
    b"",
    b" \t\n",
    b"It isn't bad at all, is it?",
    "Größe 中文 \U0001f600!".encode(),
    b"\xff\xfe a\x00b",
    b"good food, but slow. " * 12,
)


def export(model, folder, version=1):
    """Writes a model as a SavedModel that answers raw text.

    The folder `folder/version` is what TensorFlow Serving loads. It has three
    signatures, each with the input `text`, strings of shape `(B,)`:

    - `serving_default`: `label`, strings of shape `(B,)`, and
      `probabilities`, float32 of shape `(B, num_classes)`.
    - `attend`: `tokens`, strings of shape `(B, n)` padded with `""`, and
      `scores`, float32 of shape `(B, num_heads, n)`.
    - `embed`: `embedding`, float32 of shape `(B, num_heads, D)`.

    The vocabulary is an asset. `assets.extra/requirements.json` has the
    versions it was written with and, in `op_libraries`, the libraries in the
    `tensorflow_text` package whose ops the graph calls. The folder appears
    in one step, when it is complete and what was loaded back from it has
    answered like `model`.

    Args:
        model: A single-sentence classifier with a `preprocessor` and `labels`.
        folder: Path of the folder that holds the version folders; it is made
            when it does not exist.
        version: Positive int, the name of the new folder in `folder`.

    Returns:
        `pathlib.Path` of the version folder.

    Raises:
        ValueError: If the version exists already, the folder cannot be
            written, or the model cannot be served.
        RuntimeError: If the graph holds an op that not every server runs, or
            the loaded SavedModel answers otherwise than the model.
    """
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(
            f"`version` must be a positive int. Received {version!r}"
        )
    _check_model(model)
    folder = pathlib.Path(folder)
    target = folder / str(version)
    if os.path.lexists(target):
        raise ValueError(f"{target} exists already; choose another version")
    with _staging_folder(folder) as staging:
        # The inner folder gets the ordinary permissions that a temporary
        # one lacks; without them a server of another user could not read it.
        written = staging / str(version)
        with _without_cudnn(model):
            _write(model, written)
            _check_equal(model, written)
        os.replace(written, target)
    return target


def load_savedmodel(path):
    """Loads what `export` wrote.

    Args:
        path: Path of a version folder, or of a folder of version folders, of
            which the newest is taken.

    Returns:
        A `ServedModel`.

    Raises:
        ValueError: If there is no such SavedModel.
        ImportError: If the graph calls ops of tensorflow-text, and that
            package is not there.
    """
    return ServedModel(_version_folder(pathlib.Path(path)))


class ServedModel:
    """A SavedModel in Python, without the Keras model that it came from.

    Args:
        folder: `pathlib.Path` of the version folder.
    """

    def __init__(self, folder):
        self.folder = folder
        self.requirements = _read_requirements(folder)
        if self.requirements["op_libraries"]:
            _import_text_ops(folder)
        try:
            self._loaded = tf.saved_model.load(str(folder))
        except (OSError, tf.errors.OpError) as error:
            raise ValueError(
                f"{folder} is not a complete SavedModel: {_one_line(error)}"
            ) from error
        self.signatures = dict(self._loaded.signatures)

    def predict(self, texts):
        """Classifies texts.

        Args:
            texts: List of B str or bytes, at least one.

        Returns:
            The B labels, a list of str, and their probabilities, a float32
            array of shape `(B, num_classes)`.
        """
        outputs = self._run("serving_default", texts)
        labels = [_decoded(label) for label in outputs["label"]]
        return labels, outputs["probabilities"]

    def attend(self, texts):
        """Says which words the model looked at.

        Args:
            texts: List of B str or bytes, at least one.

        Returns:
            The tokens, B lists of str, and their attention scores, a float32
            array of shape `(B, num_heads, n)` that is 0 after a row's tokens.
        """
        outputs = self._run("attend", texts)
        tokens = [[_decoded(t) for t in row if t] for row in outputs["tokens"]]
        return tokens, outputs["scores"]

    def embed(self, texts):
        """Embeds texts.

        Args:
            texts: List of B str or bytes, at least one.

        Returns:
            A float32 array of shape `(B, num_heads, D)`.
        """
        return self._run("embed", texts)["embedding"]

    def _run(self, name, texts):
        outputs = self.signatures[name](text=_string_tensor(texts))
        return {key: value.numpy() for key, value in outputs.items()}


def _check_model(model):
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "A SavedModel is written on Keras's TensorFlow backend. Received "
            f"the backend {keras.backend.backend()!r}"
        )
    for attribute in ("preprocessor", "labels"):
        if getattr(model, attribute, None) is None:
            raise ValueError(
                f"A model that answers text needs `{attribute}`. Received "
                f"a model whose `{attribute}` is None"
            )
    features = model.preprocessor(tf.constant(["a"]))
    names = {tensor.name for tensor in model.inputs}
    if not names <= set(features):
        raise ValueError(
            f"The preprocessor must give the model's inputs {sorted(names)}. "
            f"Received a preprocessor that gives {sorted(features)}"
        )
    if model.output_shape[-1] != len(model.labels):
        raise ValueError(
            f"The model has {model.output_shape[-1]} classes, so it needs as "
            f"many labels. Received {len(model.labels)} labels"
        )


@contextlib.contextmanager
def _staging_folder(folder):
    """Yields a folder in `folder`; nothing of both stays after a failure."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # A server that watches `folder` passes over names that are no
            # numbers.
            staging = tempfile.TemporaryDirectory(prefix=".export-", dir=folder)
        except OSError as error:
            raise ValueError(
                f"{folder} must be a folder that can be written: "
                f"{_one_line(error)}"
            ) from error
        with staging as path:
            yield pathlib.Path(path)
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


@contextlib.contextmanager
def _without_cudnn(model):
    """Keeps cuDNN's ops, which run on a GPU only, out of a traced graph."""
    recurrent = list(_recurrent_layers(model))
    before = [layer.use_cudnn for layer in recurrent]
    for layer in recurrent:
        layer.use_cudnn = False
    try:
        yield
    finally:
        for layer, use_cudnn in zip(recurrent, before, strict=True):
            layer.use_cudnn = use_cudnn


def _recurrent_layers(model):
    for layer in model.layers:
        if isinstance(layer, StackedBiLSTM):
            for direction in layer.directions:
                yield direction.forward_layer
                yield direction.backward_layer


def _endpoints(model):
    """Returns by signature name the function from text to named outputs."""
    preprocessor = model.preprocessor
    attention_model = model.attention_model()
    embedding_model = model.embedding_model()
    labels = tf.constant(model.labels)

    def classify(text):
        probabilities = model(preprocessor(text), training=False)
        return {
            "label": tf.gather(labels, tf.argmax(probabilities, axis=-1)),
            "probabilities": tf.cast(probabilities, tf.float32),
        }

    def attend(text):
        scores = attention_model(preprocessor(text), training=False)
        return {
            "tokens": preprocessor.tokenize(text).to_tensor(default_value=""),
            "scores": tf.cast(scores, tf.float32),
        }

    def embed(text):
        embedding = embedding_model(preprocessor(text), training=False)
        return {"embedding": tf.cast(embedding, tf.float32)}

    return dict(zip(SIGNATURES, (classify, attend, embed), strict=True))


def _refusing_empty_batch(function):
    """Wraps an endpoint: the layers' own errors on no rows explain nothing."""

    def endpoint(text):
        check = tf.debugging.Assert(
            tf.size(text) > 0, ["text must have at least one row"]
        )
        with tf.control_dependencies([check]):
            text = tf.identity(text)
        return function(text)

    return endpoint


def _write(model, folder):
    archive = keras.export.ExportArchive()
    # The endpoints' weights are found without being tracked; tracking the
    # model would write each of them twice.
    archive.track(model.preprocessor)
    signature = [tf.TensorSpec((None,), tf.string, name="text")]
    for name, function in _endpoints(model).items():
        archive.add_endpoint(name, _refusing_empty_batch(function), signature)
    archive.write_out(str(folder), verbose=False)

    path = folder / "saved_model.pb"
    saved_model = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    graph = saved_model.meta_graphs[0].graph_def
    _check_graph(graph)
    _rename_tables(graph, _digest(folder / "assets"))
    path.write_bytes(saved_model.SerializeToString(deterministic=True))
    # It is the fingerprint of the file before the change; loaders take a
    # SavedModel without.
    (folder / "fingerprint.pb").unlink(missing_ok=True)

    libraries = _op_libraries(graph)
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
    extra = folder / "assets.extra"
    extra.mkdir()
    (extra / REQUIREMENTS).write_text(
        json.dumps(requirements, indent=2) + "\n", encoding="utf-8"
    )


def _nodes(graph):
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def _check_graph(graph):
    compiled = [
        owner
        for owner in (*_nodes(graph), *graph.library.function)
        # Reading a missing key of the map would add it to the graph.
        if "_XlaMustCompile" in owner.attr and owner.attr["_XlaMustCompile"].b
    ]
    refused = {
        node.op
        for node in _nodes(graph)
        if "PyFunc" in node.op or node.op.startswith(("Xla", "Cudnn"))
    }
    if compiled or refused:
        raise RuntimeError(
            "A served graph holds no Python function, no cuDNN op and nothing "
            f"compiled by XLA. Received {sorted(refused) or 'compiled nodes'}"
        )


def _rename_tables(graph, digest):
    """Names each lookup table by its file's name and content.

    TensorFlow's own name is the file's absolute path, or a counter. Tables of
    one name are one table in a Python process, so that two loaded models with
    the same counter would answer from one vocabulary.
    """
    names = {}
    for node in _nodes(graph):
        if node.op.endswith("HashTableV2"):
            before = node.attr["shared_name"].s.decode()
            *folders, name = re.split(r"[/\\]", before)
            unique = digest if folders else uuid.uuid4().hex
            after = names.setdefault(before, f"{name}_{unique}")
            node.attr["shared_name"].s = after.encode()


def _digest(folder):
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _op_libraries(graph):
    """Returns the libraries of TF Text's ops, relative to its package."""
    names = {node.op.replace(">", "_") for node in _nodes(graph)}
    own = {function.signature.name for function in graph.library.function}
    names = {n for n in names - own if not hasattr(tf.raw_ops, n)}
    if not names:
        return []
    import tensorflow_text

    root = pathlib.Path(tensorflow_text.__file__).parent
    libraries = []
    for path in sorted((root / "python" / "ops").glob("*.so")):
        library = tf.load_op_library(str(path))
        if any(hasattr(library, name) for name in names):
            libraries.append(path.relative_to(root).as_posix())
        names = {name for name in names if not hasattr(library, name)}
    if names:
        raise RuntimeError(
            "A served graph calls the ops of TensorFlow and TF Text only. "
            f"Received {sorted(names)}"
        )
    return libraries


def _check_equal(model, folder):
    """Compares a loaded SavedModel with the model, in a batch and by row."""
    served = ServedModel(folder)
    expected = {
        name: {key: value.numpy() for key, value in outputs.items()}
        for name, function in _endpoints(model).items()
        for outputs in [function(_string_tensor(PROBES))]
    }
    sums = expected["serving_default"]["probabilities"].sum(axis=-1)
    if not np.allclose(sums, 1, atol=1e-2):
        raise ValueError(
            "A served model must give probabilities, with the activation "
            f'"softmax". Received outputs that sum to {sums[0]}'
        )
    for rows in (slice(None), *(slice(i, i + 1) for i in range(len(PROBES)))):
        for name in SIGNATURES:
            outputs = served._run(name, PROBES[rows])
            for key, output in outputs.items():
                # A row alone is shorter than the same row in a batch.
                crop = tuple(slice(size) for size in output.shape)
                reference = expected[name][key][rows][crop]
                if output.dtype == np.float32:
                    equal = np.allclose(
                        output, reference, rtol=0, atol=TOLERANCE
                    )
                else:
                    equal = np.array_equal(output, reference)
                if not equal:
                    raise RuntimeError(
                        f"The SavedModel's `{name}` gives other `{key}` than "
                        f"the Keras model, for texts {PROBES[rows]}"
                    )


def _version_folder(path):
    if (path / "saved_model.pb").is_file():
        return path
    versions = [
        file.parent
        for file in path.glob("*/saved_model.pb")
        if file.parent.name.isdecimal()
    ]
    if not versions:
        raise ValueError(
            "Expected the folder of a SavedModel, or a folder of numbered "
            f"ones. Received {path}"
        )
    return max(versions, key=lambda version: int(version.name))


def _read_requirements(folder):
    path = folder / "assets.extra" / REQUIREMENTS
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{folder} is not a SavedModel of keras_selfattn: "
            f"{_one_line(error)}"
        ) from error


def _import_text_ops(folder):
    try:
        import tensorflow_text  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"{folder} calls ops of TF Text, and the package tensorflow-text "
            f"cannot be imported: {_one_line(error)}"
        ) from error


def _string_tensor(texts):
    if isinstance(texts, str | bytes):
        raise ValueError(f"`texts` must be a list of texts. Received {texts!r}")
    # What str holds beyond Unicode's scalars goes on as invalid UTF-8, which
    # the tokenizer takes.
    rows = [
        text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        for text in texts
    ]
    if not rows or not all(isinstance(row, bytes) for row in rows):
        raise ValueError(
            "`texts` must be a list of at least one str or bytes. Received "
            f"{texts!r}"
        )
    return tf.constant(rows)


def _decoded(token):
    return token.decode("utf-8", "replace")


def _one_line(error):
    return " ".join(str(error).split())
