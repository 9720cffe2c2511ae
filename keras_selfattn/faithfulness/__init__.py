"""How far attention tells what a classifier relied on."""

from keras_selfattn.effects.reader import take as take
from keras_selfattn.faithfulness.measuring import METHODS as METHODS
from keras_selfattn.faithfulness.measuring import SHARES as SHARES
from keras_selfattn.faithfulness.measuring import Agreement as Agreement
from keras_selfattn.faithfulness.measuring import Faithfulness as Faithfulness
from keras_selfattn.faithfulness.measuring import Loss as Loss
from keras_selfattn.faithfulness.measuring import measure as measure
from keras_selfattn.faithfulness.ranking import agreement as agreement
from keras_selfattn.faithfulness.ranking import most_important as most_important
