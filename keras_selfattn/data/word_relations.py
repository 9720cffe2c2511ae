"""Which words of a generated premise entail, leave open or exclude others."""

from keras_selfattn.files import packaged_json

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)


class _Trees:
    """Words under more general ones; words of two branches exclude each other.

    Args:
        narrower: Dictionary by word of the words right below it. The roots
            are those that no word before has below it.
    """

    def __init__(self, narrower):
        self.parents = {}
        for parent, children in narrower.items():
            self.parents.setdefault(parent, None)
            self.parents.update(dict.fromkeys(children, parent))

    def wider(self, word):
        """The words strictly above, nearest first."""
        found = []
        while word := self.parents[word]:
            found.append(word)
        return found

    def narrower(self, word):
        return [other for other in self.parents if word in self.wider(other)]

    def excluded(self, word):
        related = {word, *self.wider(word), *self.narrower(word)}
        return [other for other in self.parents if other not in related]


_WORDS = packaged_json(__package__, "generated_pairs.json")
NOUNS, MOTIONS, VOICES, PLACES = (
    _Trees(_WORDS[kind]) for kind in ("nouns", "motions", "voices", "places")
)
PLURALS = _WORDS["plurals"]
ACTIONS = _WORDS["actions"]
_ANTONYMS = _WORDS["antonyms"]
_ANTONYMS |= {right: left for left, right in _ANTONYMS.items()}
ADJECTIVES = tuple(_ANTONYMS)
# premise quantifiers by hypothesis quantifier and label
QUANTIFIERS = _WORDS["quantifiers"]
VERBS = MOTIONS.parents | VOICES.parents
PEOPLE = ("person", *NOUNS.narrower("person"))
_COUNTS = ("two", "three", "four", "five")
NUMBERS = {"some": frozenset(range(2, 9))}
for _count, _word in enumerate(_COUNTS, 2):
    NUMBERS[_word] = frozenset([_count])
    NUMBERS[f"at least {_word}"] = frozenset(range(_count, 9))
    # All labels must be possible: no premise has more than five.
    if _count < 5:
        NUMBERS[f"at most {_word}"] = frozenset(range(1, _count + 1))
HEADS = {
    "adjective": "noun",
    "object_adjective": "object",
    "place": "verb",
}
EXCHANGE = {
    "noun": "object",
    "object": "noun",
    "adjective": "object_adjective",
    "object_adjective": "adjective",
}


def _related(premise, hypothesis):
    """The label of one set of counts against another."""
    if premise <= hypothesis:
        return ENTAILMENT
    return NEUTRAL if premise & hypothesis else CONTRADICTION


def tree_of(word):
    """The tree that a word is in, or `None`."""
    trees = (NOUNS, MOTIONS, VOICES, PLACES)
    return next((tree for tree in trees if word in tree.parents), None)


def choices_of(hypothesis, slot, label):
    """The words in a premise's slot that make for the label; None for none."""
    word = hypothesis.get(slot)
    if slot == "number" and word:
        return [
            other
            for other, counts in NUMBERS.items()
            if _related(counts, NUMBERS[word]) == label
            and ("at most" in word or "at most" not in other)
        ]
    if word in _ANTONYMS:
        return [None] if label == NEUTRAL else [_ANTONYMS[word]]
    tree = tree_of(word)
    if tree is None:
        return []
    if label == CONTRADICTION:
        words = tree.excluded(word)
    else:
        words = tree.wider(word)
        if slot == "place":
            words.append(None)
        if slot == "verb":
            words += (VOICES if tree is MOTIONS else MOTIONS).parents
    if tree is NOUNS and "object" not in hypothesis:
        # Animals don't sing.
        return [word for word in words if word in PEOPLE]
    if tree is NOUNS:
        # Nobody chases oneself.
        other = hypothesis[EXCHANGE[slot]]
        return [word for word in words if word in tree.excluded(other)]
    return words
