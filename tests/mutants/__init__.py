"""Changes lines of the package and asks whether a test notices.

`python -m tests.mutants` runs it. Others don't serve here: cosmic-ray writes
each change into the working tree and starts the tests anew for it, TensorFlow's
import included, and mutmut runs all tests once in the process that it forks,
after which TensorFlow's threads are gone, and wraps every function, which
hides the signatures that Keras reads.
"""
