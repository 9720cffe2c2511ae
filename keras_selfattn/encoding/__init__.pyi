# Written by `python -m docs.write_stubs`.
from keras_selfattn.encoding.encoded import Encoded as Encoded
from keras_selfattn.encoding.running import encode_files as encode_files
