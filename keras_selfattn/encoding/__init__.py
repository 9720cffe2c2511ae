"""What models make of whole corpora: a Parquet file for each file of texts."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {"encoded": ["Encoded"], "running": ["encode_files"]},
)
