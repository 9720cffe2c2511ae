# Written by `python -m docs.write_stubs`.
from keras_selfattn.callbacks.attention_pictures import AttentionPictures as AttentionPictures
from keras_selfattn.callbacks.embedding_projector import EmbeddingProjector as EmbeddingProjector
from keras_selfattn.callbacks.faithfulness_curves import FaithfulnessCurves as FaithfulnessCurves
from keras_selfattn.callbacks.hyperparameters import Hyperparameters as Hyperparameters
from keras_selfattn.callbacks.penalty_curves import PenaltyCurves as PenaltyCurves
