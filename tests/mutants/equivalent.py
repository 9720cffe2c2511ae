"""Changes that alter no behavior, by the reason why not.

Each is the path, the function, the changed lines and what they become, as
the command prints them. They have been read one by one, and don't count.
"""

EQUIVALENT = {}
