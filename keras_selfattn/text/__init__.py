"""From raw texts to ids: tokenizer, vocabulary and preprocessor."""

from keras_selfattn.text.preprocessor import NULL as NULL
from keras_selfattn.text.preprocessor import PADDING as PADDING
from keras_selfattn.text.preprocessor import (
    TextPreprocessor as TextPreprocessor,
)
from keras_selfattn.text.tokenizer import UNKNOWN as UNKNOWN
from keras_selfattn.text.tokenizer import (
    PennTreebankTokenizer as PennTreebankTokenizer,
)
from keras_selfattn.text.tokenizer import string_tensor as string_tensor
from keras_selfattn.text.vocabulary import build_vocabulary as build_vocabulary
from keras_selfattn.text.vocabulary import count_words as count_words
from keras_selfattn.text.vocabulary import (
    most_frequent_characters as most_frequent_characters,
)
