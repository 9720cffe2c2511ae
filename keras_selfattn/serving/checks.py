"""Which models can be exported, and to which formats."""

import keras

# For each format, the types in which it doesn't multiply, or not as Keras does.
# Models that compute in other types can be written.
REFUSED = {
    "savedmodel": set(),
    "onnx": {"bfloat16", "float8"},
    "openvino": {"bfloat16", "float8", "int8"},
    "litert": {"bfloat16", "float16", "float64", "float8", "int8"},
}


def compute_types(model):
    """The set of types in which a model's layers multiply.

    It is `"int8"` in layers that `keras.Model.quantize` changed. A model that
    only keeps its weights in fewer bits computes in float32.
    """
    types = set()
    for layer in model.layers:
        inner = getattr(layer, "layer", layer)
        # A table of word vectors is looked up, not multiplied.
        looked_up = isinstance(inner, keras.layers.Embedding)
        if inner.quantization_mode is not None and not looked_up:
            types.add(inner.quantization_mode)
        else:
            types.add(keras.backend.standardize_dtype(inner.compute_dtype))
    return types


def check_model(model, format):
    """`ValueError` where the model can't be written in a format."""
    for attribute in ("preprocessor", "labels", "sides", "gives_logits"):
        if getattr(model, attribute, None) is None:
            raise ValueError(
                f"A model that is exported needs `{attribute}`. "
                f"Received: a model whose `{attribute}` is None"
            )
    texts = keras.KerasTensor((None,), "string")
    given = set(model.preprocessor.compute_output_spec(texts))
    given = {side + name for side in model.sides for name in given}
    wanted = {tensor.name for tensor in model.inputs}
    if not wanted <= given:
        raise ValueError(
            f"The preprocessor must give the model's inputs {sorted(wanted)}. "
            f"Received: a preprocessor that gives {sorted(given)}"
        )
    if model.output_shape[-1] != len(model.labels):
        raise ValueError(
            f"The model has {model.output_shape[-1]} classes, so it needs as "
            f"many labels. Received: {len(model.labels)} labels"
        )
    types = compute_types(model)
    if refused := types & REFUSED[format]:
        able = [name for name, others in REFUSED.items() if not types & others]
        raise ValueError(
            f"The format {format} can't hold a model that computes in "
            f"{' or '.join(sorted(refused))}; {' and '.join(able)} can. "
            f"Received: {model.name!r}, which does"
        )
