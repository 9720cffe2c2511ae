"""Callbacks that show a classifier's training in TensorBoard.

Each writes into a folder of its own in `log_dir`, because TensorBoard expects
one writer a folder. They look at the model between epochs, outside of its
compiled step, and so work with `jit_compile=True` and every dtype policy.
Epochs are numbered as by `keras.callbacks.TensorBoard`.
"""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "attention_pictures": ["AttentionPictures"],
        "embedding_projector": ["EmbeddingProjector"],
        "faithfulness_curves": ["FaithfulnessCurves"],
        "hyperparameters": ["Hyperparameters"],
        "penalty_curves": ["PenaltyCurves"],
    },
)
