from collections.abc import Mapping

import numpy as np

from keras_selfattn import visualization
from keras_selfattn.callbacks.writing import Probe

# As many as can be read at the width that TensorBoard gives a picture.
WORDS_A_ROW = 15


class AttentionPictures(Probe):
    """Pictures of a model's attention to the same texts, epoch by epoch.

    The run `attention` gets images of each text: the predicted class above
    a heat map, heads × words; for a pair one of each sentence, or its
    alignments. A text of more than 15 words is several, as samples of one
    image, so that its words can be read at the size that TensorBoard shows
    them. A color is the same weight at all steps. It needs matplotlib.

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

    def on_epoch_end(self, epoch: int, logs: Mapping | None = None) -> None:
        import tensorflow as tf

        with self.writer.as_default(step=epoch):
            for number, explanation in enumerate(
                visualization.explain(self.model, self.texts), start=1
            ):
                sides = explanation.sides().values()
                pictures = _draw(explanation)
                tf.summary.image(
                    f"attention/text_{number}",
                    pictures,
                    max_outputs=len(pictures),
                    description="\n\n".join(side.text for side in sides),
                )
        self.writer.flush()


def _draw(explanation):
    """The pictures of one text, one for each row of words, as one tensor."""
    import tensorflow as tf

    from keras_selfattn.visualization import figure

    heading = f"{explanation.predicted} ({explanation.confidence:.0%})"
    rows = [
        tf.io.decode_png(
            figure.draw_row(panel, WORDS_A_ROW, heading), channels=3
        ).numpy()
        for panel in figure.panels(figure.views(explanation), WORDS_A_ROW)
    ]
    size = np.max([row.shape for row in rows], axis=0)
    whole = np.full((len(rows), *size), 255, "uint8")
    for picture, row in zip(whole, rows, strict=True):
        picture[: row.shape[0], : row.shape[1]] = row
    return whole
