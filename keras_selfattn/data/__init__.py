"""Corpora and their file formats, word vectors, encoded corpora, batches."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "adapters": ["DatasetTexts"],
        "author_profiling": ["AuthorProfiling"],
        "batches": ["EncodedDataset"],
        "checked_texts": ["CheckedTexts"],
        "corpora": ["Corpora"],
        "corpus": ["Corpus"],
        "downloads": ["download"],
        "formats": ["open_corpus"],
        "generated": ["generate_reviews"],
        "generated_pairs": ["generate_pairs"],
        "induced_vectors": ["induce_word_vectors"],
        "joined_vectors": ["join_vectors"],
        "learned_vectors": ["learn_word_vectors"],
        "natural_language_inference": ["NaturalLanguageInference"],
        "readers": ["read_rows"],
        "shards": ["ShardedDataset", "load_shard"],
        "splitting": ["split"],
        "word_vectors": ["load_word_vectors", "write_word_vectors"],
    },
)
