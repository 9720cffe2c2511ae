# Written by `python -m docs.write_stubs`.
from keras_selfattn.reproduction.running import reproduce as reproduce
from keras_selfattn.reproduction.tables import TABLES as TABLES
from keras_selfattn.reproduction.tables import get_table as get_table
