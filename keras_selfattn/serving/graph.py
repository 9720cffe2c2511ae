"""What the graph of a SavedModel may hold, and how its tables are named."""

import pathlib
import re

import tensorflow as tf


def nodes(graph):
    """All nodes of a `GraphDef`, those of its functions included."""
    yield from graph.node
    for function in graph.library.function:
        yield from function.node_def


def check(graph):
    """Raise `RuntimeError` for an op that not every server runs."""
    compiled = [
        owner
        for owner in (*nodes(graph), *graph.library.function)
        # Reading a missing attribute would add it to the graph.
        if "_XlaMustCompile" in owner.attr and owner.attr["_XlaMustCompile"].b
    ]
    refused = {
        node.op
        for node in nodes(graph)
        if "PyFunc" in node.op or node.op.startswith(("Xla", "Cudnn"))
    }
    if compiled or refused:
        raise RuntimeError(
            "A served graph holds no Python function, no cuDNN op and nothing "
            f"compiled by XLA. Received: {sorted(refused) or 'compiled nodes'}"
        )


def rename_tables(graph, digest):
    """Name each lookup table by its number and by what all tables hold.

    TensorFlow names a table by its file's absolute path, or at random. In a
    Python process, tables of one name are one table, so that two models may
    share a name only if they share the content.

    Args:
        graph: A `GraphDef`, changed in place.
        digest: String that stands for the content of the tables.
    """
    names = {}
    for node in nodes(graph):
        if node.op.endswith("HashTableV2"):
            before = node.attr["shared_name"].s.decode()
            # The name of the file says what the table is.
            name = re.split(r"[/\\]", before)[-1] if "/" in before else "table"
            after = names.setdefault(before, f"{name}_{len(names)}_{digest}")
            node.attr["shared_name"].s = after.encode()


def forget_gradients(graph):
    """Take out the names of gradients, which are not saved with the graph.

    TensorFlow would warn of each when it loads the graph.
    """
    for node in nodes(graph):
        node.attr.pop("_gradient_op_type", None)


def op_libraries(graph):
    """The libraries of TF Text's ops that a graph calls.

    Returns:
        List of strings, paths relative to the package `tensorflow_text`.

    Raises:
        RuntimeError: if an op is neither TensorFlow's nor TF Text's.
    """
    names = {node.op.replace(">", "_") for node in nodes(graph)}
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
            f"Received: {sorted(names)}"
        )
    return libraries
