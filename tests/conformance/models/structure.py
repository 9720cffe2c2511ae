"""What a built model holds, and what its row says that it should hold."""

import keras


def weight_shapes(model):
    """The shape of each weight, by its path."""
    return {weight.path: tuple(weight.shape) for weight in model.weights}


def expected_weight_shapes(row):
    config = row.config
    width = config["embedding_dim"]
    shapes = {"word_vectors/embeddings": (config["vocabulary_size"], width)}
    characters = config["character_vocabulary_size"]
    if characters is not None and config.get("character_cnn", True):
        shapes["character_cnn/embeddings"] = (characters, 15)
        for size in (1, 3, 5):
            shapes[f"character_cnn/kernel_{size}"] = (size, 15, 100)
            shapes[f"character_cnn/bias_{size}"] = (100,)
        width += 300
    if "attend_units" in config:
        shapes |= _decomposable_shapes(config, width)
    else:
        shapes |= _encoder_shapes(config, width)
        shapes |= _embedding_shapes(config, len(row.sides))
    return shapes


def _network(name, width, units):
    shapes = {}
    for number, out in enumerate(units):
        shapes[f"{name}kernel_{number}"] = (width, out)
        shapes[f"{name}bias_{number}"] = (out,)
        width = out
    return shapes


def _decomposable_shapes(config, width):
    projected = config["projection_dim"]
    width += config["exact_match"]
    shapes = {"projection/kernel": (width, projected)}
    if config["intra_sentence"]:
        name = "intra_sentence_attention/"
        attend = _network(
            f"{name}attention_", projected, config["attend_units"]
        )
        distances = 2 * config["max_distance"] + 2
        shapes |= attend | {f"{name}distance_bias": (distances,)}
        projected *= 2
    name = "decomposable_attention/"
    compare = config["compare_units"]
    shapes |= _network(f"{name}attend_", projected, config["attend_units"])
    shapes |= _network(f"{name}compare_", 2 * projected, compare)
    return shapes | _hidden_shapes(config, 2 * compare[-1])


def _encoder_shapes(config, width):
    if config["encoder"] == "cnn":
        filters = config["units"]
        return {
            "convolution/kernel": (config["kernel_size"], width, filters),
            "convolution/bias": (filters,),
        }
    shapes, below = {}, width
    for number, units in enumerate(_as_list(config["units"]), start=1):
        for direction in ("forward", "backward"):
            name = f"bilstm/bilstm_{number}/{direction}_lstm/lstm_cell"
            shapes[f"{name}/kernel"] = (below, 4 * units)
            shapes[f"{name}/recurrent_kernel"] = (units, 4 * units)
            shapes[f"{name}/bias"] = (4 * units,)
        below = width + 2 * units
    return shapes


def _embedding_shapes(config, sides):
    """Of the pooling, the interaction and the classifier."""
    units = _as_list(config["units"])[-1]
    width = units if config["encoder"] == "cnn" else 2 * units
    pooling, heads, shapes = config["pooling"], config.get("num_heads", 1), {}
    name = f"{pooling}_pooling_of_both/" if sides == 2 else ""
    hidden = config.get("attention_dim")
    if pooling == "structured":
        name += "structured_self_attention/"
        shapes[f"{name}hidden_kernel"] = (width, hidden)
        shapes[f"{name}score_kernel"] = (hidden, heads)
    elif pooling == "generalized":
        name += "generalized_pooling/"
        shapes[f"{name}hidden_kernel"] = (heads, width, hidden)
        shapes[f"{name}hidden_bias"] = (heads, hidden)
        shapes[f"{name}score_kernel"] = (heads, hidden, width)
        shapes[f"{name}score_bias"] = (heads, width)
    if config.get("interaction") == "gated":
        factors = config["interaction_units"]
        for side in ("left", "right"):
            shapes[f"gated_encoder/{side}_kernel"] = (heads, width, factors)
        width = factors
    elif sides == 2:
        width *= 4
    rows, columns = config["row_units"], config["column_units"]
    if rows is None and columns is None:
        return shapes | _hidden_shapes(config, heads * width)
    if rows is not None:
        shapes["pruned_hidden/row_kernel"] = (heads, width, rows)
        shapes["pruned_hidden/row_bias"] = (heads, rows)
    if columns is not None:
        shapes["pruned_hidden/column_kernel"] = (width, heads, columns)
        shapes["pruned_hidden/column_bias"] = (width, columns)
    total = heads * (rows or 0) + width * (columns or 0)
    return shapes | _last_shapes(config, total)


def _hidden_shapes(config, width):
    shapes, below = {}, width
    units = _as_list(config.get("aggregate_units", config.get("hidden_units")))
    for number, out in enumerate(units, start=1):
        shapes[f"hidden_{number}/kernel"] = (below, out)
        shapes[f"hidden_{number}/bias"] = (out,)
        below = out + (width if config.get("hidden_shortcut") else 0)
    return shapes | _last_shapes(config, units[-1])


def _last_shapes(config, width):
    name, classes = _last_layer(config), config["num_classes"]
    shapes = {f"{name}/kernel": (width, classes), f"{name}/bias": (classes,)}
    if config.get("ngram_buckets") is not None:
        shapes["ngram_logits/table"] = (config["ngram_buckets"], classes)
    return shapes


def _last_layer(config):
    if config["activation"] and config.get("ngram_buckets") is None:
        return "probabilities"
    return "logits"


def dropout_rates(model):
    """The rates above 0 in each layer of the model, and inside of it."""
    found = {}
    for layer in model.layers:
        rates = [
            value
            for inner in layer._flatten_layers()
            for name, value in vars(inner).items()
            if name == "rate" or "dropout" in name
            if isinstance(value, float) and value
        ]
        if rates:
            found[layer.name] = rates
    return found


def expected_dropout_rates(config):
    rate = config["dropout"]
    within = config.get("encoder_dropout", 0.0)
    expected = {}
    if within and config["encoder"] == "cnn":
        # The layer's own and that of the layer in it.
        expected["convolution"] = [within] * 2
    elif within:
        expected["bilstm"] = [within] * (1 + len(_as_list(config["units"])))
    if rate and "attend_units" in config:
        expected["decomposable_attention"] = [rate]
        if config["intra_sentence"]:
            expected["intra_sentence_attention"] = [rate]
    elif rate:
        expected["classifier_dropout"] = [rate]
    if rate:
        for name in _hidden_layers(config):
            expected[f"{name}_dropout"] = [rate]
    return expected


def regularizers(model):
    """The regularizer of each weight that has one, as a configuration."""
    return {
        weight.path: weight.regularizer.get_config()
        for weight in model.weights
        if weight.regularizer is not None
    }


def expected_regularizers(config):
    factor = config.get("l2", 0.0)
    if not factor:
        return {}
    kernels = [f"{name}/kernel" for name in _hidden_layers(config)]
    kernels += [
        f"pruned_hidden/{part}_kernel"
        for part in ("row", "column")
        if config[f"{part}_units"] is not None
    ]
    kernels.append(f"{_last_layer(config)}/kernel")
    return dict.fromkeys(kernels, keras.regularizers.L2(factor).get_config())


def _hidden_layers(config):
    units = config.get("aggregate_units", config.get("hidden_units", []))
    return [f"hidden_{n}" for n, _ in enumerate(_as_list(units), start=1)]


def _as_list(units):
    return [units] if isinstance(units, int) else units
