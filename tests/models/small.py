"""Every preset at sizes that a test can afford, and inputs for it."""

import numpy as np

from keras_selfattn import models
from keras_selfattn.models.arguments import applying

VOCABULARY = 11
CLASSES = 3
CHARACTERS = 7


def small_preset(name, **overrides):
    """A model of a preset with all widths made small."""
    preset = models.get_preset(name)
    sizes = {
        "embedding_dim": 6,
        "units": 4,
        "attention_dim": 5,
        "num_heads": 2,
        "hidden_units": 8,
        "interaction_units": 5,
        "projection_dim": 4,
        "attend_units": [5],
        "compare_units": [7],
        "aggregate_units": [6],
        "row_units": 3,
        "column_units": 2,
        "character_vocabulary_size": CHARACTERS,
    }
    changes = {}
    for argument, size in sizes.items():
        value = preset.model.get(argument)
        if value is not None:
            many = isinstance(value, list) and not isinstance(size, list)
            changes[argument] = [size] * len(value) if many else size
    values = {**preset.model, **changes, **overrides}
    return models.from_preset(
        name,
        vocabulary_size=VOCABULARY,
        num_classes=CLASSES,
        **applying(getattr(models, preset.class_name), values, given=overrides),
    )


def presets_by_graph():
    """One preset for each graph: the others differ from it in numbers alone."""
    found = {}
    for name in models.list_presets():
        preset = models.get_preset(name)
        graph = [preset.class_name]
        for argument, value in sorted(preset.model.items()):
            kind = len(value) if isinstance(value, list) else type(value)
            is_choice = isinstance(value, (str, bool))
            graph.append((argument, value if is_choice else kind))
        found.setdefault(tuple(graph), name)
    return list(found.values())


def inputs_for(model, batch=3, steps=(5, 4), characters=6, seed=0):
    """Right-padded ids for each input of a model; the first row is full."""
    rng = np.random.default_rng(seed)
    lengths = {}
    arrays = {}
    for name in model.input:
        side = name.removesuffix("token_ids").removesuffix("char_ids")
        width = steps[1] if side == "hypothesis_" else steps[0]
        if side not in lengths:
            lengths[side] = rng.integers(1, width, batch)
            lengths[side][0] = width
        kept = np.arange(width) < lengths[side][:, None]
        if name.endswith("char_ids"):
            ids = rng.integers(1, CHARACTERS, (batch, width, characters))
            kept = kept[:, :, None]
        else:
            ids = rng.integers(1, VOCABULARY, (batch, width))
        arrays[name] = (ids * kept).astype("int32")
    return arrays
