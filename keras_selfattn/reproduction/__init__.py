"""The papers' tables and figures, run again on the data given."""

from keras_selfattn.first_use import at_first_use

__getattr__, __dir__ = at_first_use(
    __name__,
    {"running": ["reproduce"], "tables": ["TABLES", "get_table"]},
)
