import sys

from keras_selfattn.cli import main

sys.exit(main())
