"""Whether a signal has asked this process to end.

What a signal's handler raises, Python drops in a few places, and libraries and
C code make another error of. So what goes on after an error asks here first.
"""

_asked = False


def ask() -> None:
    """Note that a signal has come that ends the process."""
    global _asked
    _asked = True


def raise_if_asked() -> None:
    """`KeyboardInterrupt` where such a signal has come."""
    if _asked:
        raise KeyboardInterrupt
