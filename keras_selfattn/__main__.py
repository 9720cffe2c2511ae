import sys

from keras_selfattn.cli import main

# The processes of `prepare` import it under another name.
if __name__ == "__main__":
    sys.exit(main())
