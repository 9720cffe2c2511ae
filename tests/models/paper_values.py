"""The papers' values for every preset, copied from the papers by hand.

Nothing here comes from the package: `test_presets.py` holds the presets to
it. Where a paper is silent the value is ours, and its line says so.
"""

GAUSSIAN = {
    "class_name": "RandomNormal",
    "config": {"mean": 0.0, "stddev": 1.0},
}

# Lin et al., sections 4.1 and 4.2.
LIN_SENTENCES = {
    "embedding_dim": 100,
    "embeddings_initializer": "uniform",  # ours
    "trainable_embeddings": True,
    "character_vocabulary_size": None,
    "encoder": "bilstm",
    "units": 300,
    "pooling": "structured",
    "attention_dim": 350,
    "num_heads": 30,
    "attention_penalty": 1.0,
    "hidden_shortcut": False,
    "row_units": None,
    "column_units": None,
    "dropout": 0.5,
    "encoder_dropout": 0.0,
    "l2": 0.0001,
    "activation": "softmax",
}
LIN_AGE = {**LIN_SENTENCES, "hidden_units": 2000}
LIN_YELP = {**LIN_SENTENCES, "hidden_units": 3000}
LIN_SENTENCES_TRAINING = {
    "optimizer": "sgd",
    "learning_rate": 0.06,
    "global_clipnorm": 0.5,
    "epochs": 10,  # ours
    "lowercase": True,  # ours
}
LIN_AGE_TRAINING = {**LIN_SENTENCES_TRAINING, "batch_size": 16}
LIN_YELP_TRAINING = {**LIN_SENTENCES_TRAINING, "batch_size": 32}

# Lin et al., section 4.1: what the baselines have in place of the attention.
LIN_BILSTM_MAX = {"pooling": "max", "hidden_units": 3000}
LIN_CNN_MAX = {
    "encoder": "cnn",
    "units": 600,  # ours: as wide as both directions of the BiLSTM
    "kernel_size": 3,  # ours
    "pooling": "max",
    "hidden_units": 3000,
}

# Lin et al., section 4.3 and appendix B.
LIN_SNLI = {
    "embedding_dim": 300,
    "embeddings_initializer": "uniform",  # ours
    "trainable_embeddings": True,
    "character_vocabulary_size": None,
    "encoder": "bilstm",
    "units": 300,
    "pooling": "structured",
    "attention_dim": 150,
    "num_heads": 30,
    "attention_penalty": 0.3,
    "interaction": "gated",
    "interaction_units": 600,
    "hidden_units": 4000,
    "hidden_shortcut": False,
    "row_units": None,
    "column_units": None,
    "dropout": 0.0,
    "encoder_dropout": 0.0,
    "l2": 0.0,
    "activation": "softmax",
}
LIN_SNLI_TRAINING = {
    "optimizer": "adagrad",
    "learning_rate": 0.01,
    "batch_size": 50,  # ours
    "epochs": 4,
    "lowercase": True,  # ours
}

# Chen et al., section 4.2, in the words of which SNLI is the exception.
CHEN = {
    "embedding_dim": 300,
    "embeddings_initializer": GAUSSIAN,
    "character_vocabulary_size": 100,  # ours
    "encoder": "bilstm",
    "pooling": "generalized",
    "num_heads": 5,
    "parameter_penalty": 0.01,  # of those searched, as their code has it
    "attention_penalty": 0.0,
    "embedding_penalty": 0.0,
    "margin": 1.0,
    "hidden_shortcut": True,
    "row_units": None,
    "column_units": None,
    "dropout": 0.0,
    "encoder_dropout": 0.0,
    "l2": 0.0,
    "activation": "softmax",
}
CHEN_SNLI = {
    **CHEN,
    "trainable_embeddings": False,
    "units": [600, 600, 600],
    "attention_dim": 600,
    "interaction": "heuristic",
    "hidden_units": [600, 600],
}
CHEN_MULTINLI = {
    **CHEN,
    "trainable_embeddings": False,
    "units": [300, 300, 300],
    "attention_dim": 300,
    "interaction": "heuristic",
    "hidden_units": [300, 300],
}
CHEN_YELP = {
    **CHEN,
    "trainable_embeddings": True,
    "units": [300],
    "attention_dim": 300,
    "hidden_units": [300, 300],
}
# Table 4: Age alone does best with the penalty on the attention.
CHEN_AGE = {**CHEN_YELP, "parameter_penalty": 0.0, "attention_penalty": 0.01}
CHEN_SNLI_TRAINING = {
    "optimizer": "adam",
    "learning_rate": 0.0004,
    "global_clipnorm": 10.0,
    "batch_size": 128,
    "epochs": 10,  # ours
    "lowercase": False,
    "min_count": 1,
}
CHEN_MULTINLI_TRAINING = {
    "optimizer": "adam",
    "learning_rate": 0.0004,
    "global_clipnorm": 10.0,
    "batch_size": 32,
    "epochs": 10,  # ours
    "lowercase": False,
    "min_count": 1,
}
CHEN_AGE_TRAINING = {
    "optimizer": "adam",
    "learning_rate": 0.002,
    "global_clipnorm": 0.5,
    "batch_size": 32,
    "epochs": 10,  # ours
    "lowercase": False,
}
CHEN_YELP_TRAINING = {
    "optimizer": "adam",
    "learning_rate": 0.001,
    "global_clipnorm": 0.5,
    "batch_size": 32,
    "epochs": 10,  # ours
    "lowercase": False,
}

# Parikh et al., section 5.2.
PARIKH = {
    "embedding_dim": 300,
    "embeddings_initializer": GAUSSIAN,
    "trainable_embeddings": False,
    "character_vocabulary_size": None,
    "projection_dim": 200,
    "attend_units": [200, 200],
    "compare_units": [200, 200],
    "aggregate_units": [200, 200],
    "exact_match": False,
    "ngram_buckets": None,
    "ambiguity_penalty": 0.0,
    "intra_sentence": False,
    "dropout": 0.2,
    "initializer_stddev": None,  # ours: from their 0.01 nothing is learned
    "activation": "softmax",
}
PARIKH_INTRA = {**PARIKH, "intra_sentence": True, "max_distance": 10}
PARIKH_TRAINING = {
    "optimizer": "adagrad",
    "learning_rate": 0.05,
    "initial_accumulator_value": 0.1,
    "batch_size": 4,
    "epochs": 50,  # ours: they count steps
    "lowercase": True,  # ours
    "prepend_null": True,
    "min_count": None,
    "num_oov_indices": 100,
    "normalize_vectors": True,
}

# By preset: the class, its arguments, the training values, and the published
# accuracies (Lin's tables 1, 2 and 4; Chen's 1 to 3; Parikh's 1).
ROWS = {
    "lin2017_age": (
        "SentenceClassifier",
        LIN_AGE,
        LIN_AGE_TRAINING,
        {"age": 80.45},
    ),
    "lin2017_yelp": (
        "SentenceClassifier",
        LIN_YELP,
        LIN_YELP_TRAINING,
        {"yelp": 64.21},
    ),
    "lin2017_snli": (
        "SentencePairClassifier",
        LIN_SNLI,
        LIN_SNLI_TRAINING,
        {"snli": 84.4},
    ),
    "lin2017_age_pruned": (
        "SentenceClassifier",
        {**LIN_AGE, "row_units": 25, "column_units": 20},
        LIN_AGE_TRAINING,
        {"age": 77.32},
    ),
    "lin2017_yelp_pruned": (
        "SentenceClassifier",
        {**LIN_YELP, "row_units": 150, "column_units": 10},
        LIN_YELP_TRAINING,
        {"yelp": 63.86},
    ),
    "lin2017_snli_pruned": (
        "SentencePairClassifier",
        {**LIN_SNLI, "row_units": 300, "column_units": 10},
        LIN_SNLI_TRAINING,
        {"snli": 83.16},
    ),
    "lin2017_bilstm_max_age": (
        "SentenceClassifier",
        {**LIN_AGE, **LIN_BILSTM_MAX},
        LIN_AGE_TRAINING,
        {"age": 77.40},
    ),
    "lin2017_bilstm_max_yelp": (
        "SentenceClassifier",
        {**LIN_YELP, **LIN_BILSTM_MAX},
        LIN_YELP_TRAINING,
        {"yelp": 61.99},
    ),
    "lin2017_cnn_max_age": (
        "SentenceClassifier",
        {**LIN_AGE, **LIN_CNN_MAX},
        LIN_AGE_TRAINING,
        {"age": 78.15},
    ),
    "lin2017_cnn_max_yelp": (
        "SentenceClassifier",
        {**LIN_YELP, **LIN_CNN_MAX},
        LIN_YELP_TRAINING,
        {"yelp": 62.05},
    ),
    "chen2018_snli": (
        "SentencePairClassifier",
        CHEN_SNLI,
        CHEN_SNLI_TRAINING,
        {"snli": 86.6},
    ),
    "chen2018_snli_max": (
        "SentencePairClassifier",
        {**CHEN_SNLI, "pooling": "max"},
        CHEN_SNLI_TRAINING,
        {"snli": 85.3},
    ),
    "chen2018_snli_mean": (
        "SentencePairClassifier",
        {**CHEN_SNLI, "pooling": "mean"},
        CHEN_SNLI_TRAINING,
        {"snli": 85.0},
    ),
    "chen2018_snli_last": (
        "SentencePairClassifier",
        {**CHEN_SNLI, "pooling": "last"},
        CHEN_SNLI_TRAINING,
        {"snli": 84.9},
    ),
    "chen2018_multinli": (
        "SentencePairClassifier",
        CHEN_MULTINLI,
        CHEN_MULTINLI_TRAINING,
        {"matched": 73.8, "mismatched": 74.0},
    ),
    "chen2018_multinli_max": (
        "SentencePairClassifier",
        {**CHEN_MULTINLI, "pooling": "max"},
        CHEN_MULTINLI_TRAINING,
        {"matched": 73.6, "mismatched": 73.0},
    ),
    "chen2018_multinli_mean": (
        "SentencePairClassifier",
        {**CHEN_MULTINLI, "pooling": "mean"},
        CHEN_MULTINLI_TRAINING,
        {"matched": 71.5, "mismatched": 71.6},
    ),
    "chen2018_multinli_last": (
        "SentencePairClassifier",
        {**CHEN_MULTINLI, "pooling": "last"},
        CHEN_MULTINLI_TRAINING,
        {"matched": 71.6, "mismatched": 71.9},
    ),
    "chen2018_age": (
        "SentenceClassifier",
        CHEN_AGE,
        CHEN_AGE_TRAINING,
        {"age": 82.63},
    ),
    "chen2018_age_max": (
        "SentenceClassifier",
        {**CHEN_AGE, "pooling": "max"},
        CHEN_AGE_TRAINING,
        {"age": 82.30},
    ),
    "chen2018_age_mean": (
        "SentenceClassifier",
        {**CHEN_AGE, "pooling": "mean"},
        CHEN_AGE_TRAINING,
        {"age": 81.78},
    ),
    "chen2018_age_last": (
        "SentenceClassifier",
        {**CHEN_AGE, "pooling": "last"},
        CHEN_AGE_TRAINING,
        {"age": 81.10},
    ),
    "chen2018_yelp": (
        "SentenceClassifier",
        CHEN_YELP,
        CHEN_YELP_TRAINING,
        {"yelp": 66.55},
    ),
    "chen2018_yelp_max": (
        "SentenceClassifier",
        {**CHEN_YELP, "pooling": "max"},
        CHEN_YELP_TRAINING,
        {"yelp": 65.00},
    ),
    "chen2018_yelp_mean": (
        "SentenceClassifier",
        {**CHEN_YELP, "pooling": "mean"},
        CHEN_YELP_TRAINING,
        {"yelp": 65.30},
    ),
    "chen2018_yelp_last": (
        "SentenceClassifier",
        {**CHEN_YELP, "pooling": "last"},
        CHEN_YELP_TRAINING,
        {"yelp": 64.95},
    ),
    "parikh2016_snli": (
        "DecomposableClassifier",
        PARIKH,
        PARIKH_TRAINING,
        {"snli": 86.3},
    ),
    "parikh2016_snli_intra": (
        "DecomposableClassifier",
        PARIKH_INTRA,
        {**PARIKH_TRAINING, "learning_rate": 0.025},
        {"snli": 86.8},
    ),
}
