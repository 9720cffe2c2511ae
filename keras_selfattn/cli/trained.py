"""What is written and said of a model that has been trained."""

from keras_selfattn.cli.options import PROGRAM


def write_card(model, options, corpus, dev_corpus, recipe):
    """Write the model card of a run.

    Args:
        model: The trained model.
        options: The parsed options.
        corpus: The training texts, or a `PreparedFolder`.
        dev_corpus: The dev texts, or `None` with that.
        recipe: The `Recipe` of the run.

    Raises:
        ValueError: if the texts are no longer those that it has learned from.
    """
    from keras_selfattn.data.fingerprint import fingerprint
    from keras_selfattn.evaluation import evaluate
    from keras_selfattn.model_card import write_model_card
    from keras_selfattn.training import PreparedFolder

    if isinstance(corpus, PreparedFolder):
        data, evaluation = corpus.fingerprints(), corpus.evaluate(model)
    else:
        corpora_by_name = {"train": corpus, "dev": dev_corpus}
        data = {name: fingerprint(c) for name, c in corpora_by_name.items()}
        _check_unchanged(data, model, options.output)
        evaluation = evaluate(model, dev_corpus)
    write_model_card(
        options.output,
        model,
        evaluation,
        data,
        command=[PROGRAM, *options.arguments],
        licence=recipe.licence,
        limits=recipe.limits,
    )


def _check_unchanged(data, model, folder):
    # Earlier runs have not noted theirs.
    for name, noted in model.training_record.get("texts", {}).items():
        if data[name]["sha256"] != noted:
            raise ValueError(
                f"The {name} texts have changed since they were read for the "
                f"model in {folder}, which is whole, but has no card: that "
                "would tell of others"
            )


def print_best(model, options):
    """Print the figures of the best epoch, and where the model is."""
    record = model.training_record
    monitor = record["training"].get("monitor", "accuracy")
    also = {
        "accuracy": "",
        "macro_f1": ", macro F1 {:.2%}",
        "loss": ", loss {:.4f}",
    }
    also = also[monitor].format(record[f"dev_{monitor}"])
    print(
        f"Best dev accuracy {record['dev_accuracy']:.2%}{also} after epoch "
        f"{record['epoch']}; the model is in {options.output}"
    )
