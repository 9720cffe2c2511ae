"""The papers' tables and figures, run again on the data given."""

from keras_selfattn.reproduction.running import reproduce as reproduce
from keras_selfattn.reproduction.tables import TABLES as TABLES
from keras_selfattn.reproduction.tables import get_table as get_table
