"""The layers; each runs on TensorFlow, JAX and torch."""

from keras_selfattn.layers.both_sides import BothSides as BothSides
from keras_selfattn.layers.character_cnn import CharacterCNN as CharacterCNN
from keras_selfattn.layers.decomposable_attention import (
    DecomposableAttention as DecomposableAttention,
)
from keras_selfattn.layers.dropout import Dropout as Dropout
from keras_selfattn.layers.exact_match import ExactMatch as ExactMatch
from keras_selfattn.layers.gated_encoder import GatedEncoder as GatedEncoder
from keras_selfattn.layers.generalized_pooling import (
    GeneralizedPooling as GeneralizedPooling,
)
from keras_selfattn.layers.intra_sentence_attention import (
    IntraSentenceAttention as IntraSentenceAttention,
)
from keras_selfattn.layers.last_pooling import LastPooling as LastPooling
from keras_selfattn.layers.masked_conv1d import MaskedConv1D as MaskedConv1D
from keras_selfattn.layers.masked_max_pooling import (
    MaskedMaxPooling as MaskedMaxPooling,
)
from keras_selfattn.layers.masked_mean_pooling import (
    MaskedMeanPooling as MaskedMeanPooling,
)
from keras_selfattn.layers.ngram_logits import NGramLogits as NGramLogits
from keras_selfattn.layers.pair_ngram_logits import (
    PairNGramLogits as PairNGramLogits,
)
from keras_selfattn.layers.pruned_dense import PrunedDense as PrunedDense
from keras_selfattn.layers.stacked_bilstm import StackedBiLSTM as StackedBiLSTM
from keras_selfattn.layers.structured_self_attention import (
    StructuredSelfAttention as StructuredSelfAttention,
)
from keras_selfattn.layers.summed_logits import SummedLogits as SummedLogits
from keras_selfattn.layers.word_embedding import WordEmbedding as WordEmbedding
