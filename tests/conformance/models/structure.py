"""What a built model holds, and what its row says that it should hold."""

import keras


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
        weight.path: keras.regularizers.serialize(weight.regularizer)
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
    kernels.append(
        "logits/kernel"
        if config["activation"] is None
        else "probabilities/kernel"
    )
    return dict.fromkeys(
        kernels, keras.regularizers.serialize(keras.regularizers.L2(factor))
    )


def _hidden_layers(config):
    units = config.get("aggregate_units", config.get("hidden_units", []))
    return [f"hidden_{n}" for n, _ in enumerate(_as_list(units), start=1)]


def _as_list(units):
    return [units] if isinstance(units, int) else units
