"""The functional models, and the presets that name the papers' rows."""

from keras_selfattn.models.classifier import Classifier as Classifier
from keras_selfattn.models.decomposable_classifier import (
    DecomposableClassifier as DecomposableClassifier,
)
from keras_selfattn.models.loading import from_preset as from_preset
from keras_selfattn.models.loading import get_preset as get_preset
from keras_selfattn.models.loading import list_presets as list_presets
from keras_selfattn.models.presets import Preset as Preset
from keras_selfattn.models.sentence_classifier import (
    SentenceClassifier as SentenceClassifier,
)
from keras_selfattn.models.sentence_pair_classifier import (
    SentencePairClassifier as SentencePairClassifier,
)
