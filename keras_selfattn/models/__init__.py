"""The functional models, and the presets that name the papers' rows."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "classifier": ["Classifier"],
        "decomposable_classifier": ["DecomposableClassifier"],
        "loading": ["from_preset"],
        "presets": ["Preset", "get_preset", "list_presets"],
        "sentence_classifier": ["SentenceClassifier"],
        "sentence_pair_classifier": ["SentencePairClassifier"],
    },
)
