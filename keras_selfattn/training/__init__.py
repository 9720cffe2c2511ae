"""Training: values, preparation, the run's folder, fitting, averaging."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {
        "averaging": ["EvaluateAverages", "averaged_weights"],
        "balancing": ["balanced_weights", "class_weights"],
        "building": [
            "build_model",
            "check_model_arguments",
            "compile_model",
            "make_model",
        ],
        "ending": [
            "CHECKPOINT_FOLDER",
            "HISTORY_FILE",
            "best_epoch",
            "finished_history",
            "is_over",
            "read_history",
        ],
        "epochs": ["SetEpoch", "learning_rate_decay"],
        "fitting": ["fit"],
        "running": ["train"],
        "preparation": [
            "PreparedTexts",
            "check_data",
            "induce_vectors",
            "make_preprocessor",
            "model_sizes",
            "prepare",
            "preprocessor_of",
            "texts_checksum",
        ],
        "macro_f1": ["MacroF1"],
        "run": ["Run", "write_history"],
        "settings": [
            "DATA_FOLDER",
            "MANIFEST_FILE",
            "SETTINGS_FILE",
            "check_new",
            "check_settings",
            "is_new",
            "is_prepared",
            "write_settings",
        ],
        "prepared_folder": ["PreparedFolder"],
        "shards": ["prepare_shards"],
        "values": [
            "check_training_values",
            "describe_values",
            "is_training_value",
            "training_values",
            "value_names",
        ],
    },
)
