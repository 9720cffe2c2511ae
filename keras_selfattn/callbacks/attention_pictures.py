import io

from keras_selfattn import visualization
from keras_selfattn.callbacks.writing import Probe

# As many as can be read at the width that TensorBoard gives a picture.
WORDS_A_ROW = 15


class AttentionPictures(Probe):
    """Pictures of a model's attention to the same texts, epoch by epoch.

    The run `attention` gets an image of each text: the predicted class above
    a heat map, heads × words; for a pair one of each sentence, or its
    alignments. It needs matplotlib.

    Args:
        log_dir: Path of TensorBoard's folder of this training.
        texts: List of strings; for a model of pairs, of pairs of strings.
            All are drawn after each epoch, so give few.

    Raises:
        ValueError: if `texts` is empty or a string, or, when the training
            starts, if the model is no classifier with its `preprocessor`, or
            takes other texts.

    Example:

    >>> pictures = AttentionPictures("logs", ["The food was not good."])
    >>> # model.fit(..., callbacks=[pictures])
    """

    folder = "attention"

    def on_epoch_end(self, epoch, logs=None):
        import tensorflow as tf

        with self.writer.as_default(step=epoch):
            for number, explanation in enumerate(
                visualization.explain(self.model, self.texts), start=1
            ):
                sides = explanation.sides().values()
                tf.summary.image(
                    f"attention/text_{number}",
                    _draw(explanation)[None],
                    description="\n\n".join(side.text for side in sides),
                )
        self.writer.flush()


def _draw(explanation):
    import tensorflow as tf

    from keras_selfattn.visualization import figure as drawing

    figure = drawing.draw(drawing.views(explanation), WORDS_A_ROW)
    label = str(explanation.predicted).replace("$", r"\$")
    figure.suptitle(f"{label} ({explanation.confidence:.0%})")
    png = io.BytesIO()
    figure.savefig(png, format="png")
    return tf.io.decode_png(png.getvalue(), channels=3)
