"""Generated pairs of sentences whose labels follow from their meaning.

Both sentences speak of the same scene. The hypothesis is written first,
without regard to the label; the premise then is chosen for the label, so that
the hypothesis alone says nothing about it. What makes the label:

- *Nouns, verbs and places* form trees ("poodle", "dog", "animal"). A premise
  with a word further down a branch entails, one further up leaves it open,
  one on another branch contradicts. Moving and speaking are independent.
- *Adjectives* of the premise may be dropped; one that the hypothesis adds is
  neutral, an antonym contradicts. The same holds of places.
- *Numbers* are sets of counts: "three" is {3}, "at least three" {3, 4, ...},
  "at most three" {1, 2, 3}, "some" {2, 3, ...}. A subset entails, a disjoint
  set contradicts, any other is neutral.
- *Quantifiers*: all, most, some, none. Under "none" and "at most" what is
  said of them may be narrowed, not widened.
- *Negation* of the hypothesis exchanges entailment and contradiction. A
  negated premise entails the negation of all that is narrower and contradicts
  the narrower itself.
- *Roles*: active and passive mean the same, exchanged roles contradict.
"""

import typing

from keras_selfattn.data.generated import SteadyRandom
from keras_selfattn.data.generated import check_numbers
from keras_selfattn.data.generated import join_tokens

ENTAILMENT, NEUTRAL, CONTRADICTION = "entailment", "neutral", "contradiction"
_LABELS = (ENTAILMENT, NEUTRAL, CONTRADICTION)


class GeneratedPair(typing.NamedTuple):
    """One pair.

    Attributes:
        premise, hypothesis: the sentences.
        label: `"entailment"`, `"neutral"` or `"contradiction"`.
        premise_tokens, hypothesis_tokens: tuples of Penn Treebank tokens.
        alignments: tuple of pairs of positions (premise, hypothesis): the
            words whose relation decided the label. Where all of the
            hypothesis is entailed these are all the words that correspond;
            a word which the hypothesis adds is paired with the noun or verb
            of the premise that it would belong to.
    """

    premise: str
    hypothesis: str
    label: str
    premise_tokens: tuple
    hypothesis_tokens: tuple
    alignments: tuple


class _Trees:
    """Words under more general ones; words of two branches exclude each other.

    Written as "word: narrower narrower", the roots being those not named
    before.
    """

    def __init__(self, *lines):
        self.parents = {}
        for line in lines:
            parent, children = line.split(": ")
            self.parents.setdefault(parent, None)
            for child in children.split():
                self.parents[child] = parent

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


_NOUNS = _Trees(
    "person: adult child",
    "adult: woman man",
    "child: girl boy",
    "animal: dog cat horse",
    "dog: poodle terrier",
    "cat: kitten",
    "horse: pony",
)
_PLURALS = {
    "person": "people",
    "child": "children",
    "woman": "women",
    "man": "men",
    "pony": "ponies",
}
_PEOPLE = ("person", *_NOUNS.narrower("person"))
_MOTIONS = _Trees(
    "moving: running dancing",
    "running: sprinting jogging",
    "dancing: waltzing",
    "resting: sleeping lounging",
    "sleeping: napping dozing",
)
_VOICES = _Trees("talking: whispering chatting", "singing: humming yodelling")
_PLACES = _Trees(
    "outdoors: park street garden",
    "park: playground",
    "street: alley",
    "indoors: kitchen office library",
)
_ANTONYMS = {"tall": "short", "happy": "sad", "thin": "stout"}
_ANTONYMS |= {"friendly": "rude", "rich": "poor", "famous": "unknown"}
_ANTONYMS |= {right: left for left, right in _ANTONYMS.items()}
_ADJECTIVES = tuple(_ANTONYMS)
_ACTIONS = {
    "chasing": "chased",
    "carrying": "carried",
    "feeding": "fed",
    "leading": "led",
    "pulling": "pulled",
    "lifting": "lifted",
}
_COUNTS = ("two", "three", "four", "five")
_NUMBERS = {"some": frozenset(range(2, 9))}
for _count, _word in enumerate(_COUNTS, 2):
    _NUMBERS[_word] = frozenset([_count])
    _NUMBERS[f"at least {_word}"] = frozenset(range(_count, 9))
    # All labels must be possible: no premise has more than five.
    if _count < 5:
        _NUMBERS[f"at most {_word}"] = frozenset(range(1, _count + 1))
# premise quantifiers by hypothesis quantifier and label
_QUANTIFIERS = {
    "all": {ENTAILMENT: ("all",), NEUTRAL: ("most", "some")},
    "most": {ENTAILMENT: ("all", "most"), NEUTRAL: ("some",)},
    "some": {ENTAILMENT: ("all", "most", "some"), NEUTRAL: ()},
}
for _relations in _QUANTIFIERS.values():
    _relations[CONTRADICTION] = ("none",)
_QUANTIFIERS["none"] = {
    ENTAILMENT: ("none",),
    NEUTRAL: (),
    CONTRADICTION: ("all", "most", "some"),
}
_HEADS = {
    "adjective": "noun",
    "object_adjective": "object",
    "place": "verb",
}
_EXCHANGE = {
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


def _tree(word):
    trees = (_NOUNS, _MOTIONS, _VOICES, _PLACES)
    return next((tree for tree in trees if word in tree.parents), None)


def _choices(hypothesis, slot, label):
    """The words in a premise's slot that make for the label; None for none."""
    word = hypothesis.get(slot)
    if slot == "number" and word:
        return [
            other
            for other, counts in _NUMBERS.items()
            if _related(counts, _NUMBERS[word]) == label
            and ("at most" in word or "at most" not in other)
        ]
    if word in _ANTONYMS:
        return [None] if label == NEUTRAL else [_ANTONYMS[word]]
    tree = _tree(word)
    if tree is None:
        return []
    if label == CONTRADICTION:
        words = tree.excluded(word)
    else:
        words = tree.wider(word)
        if slot == "place":
            words.append(None)
        if slot == "verb":
            words += (_VOICES if tree is _MOTIONS else _MOTIONS).parents
    if tree is _NOUNS and "object" not in hypothesis:
        # Animals don't sing.
        return [word for word in words if word in _PEOPLE]
    if tree is _NOUNS:
        # Nobody chases oneself.
        other = hypothesis[_EXCHANGE[slot]]
        return [word for word in words if word in tree.excluded(other)]
    return words


class _PairWriter(SteadyRandom):
    """Writes scenes: dicts from slot ("noun", "verb", ...) to word."""

    def pair(self):
        write, write_premise = self.pick(
            (
                (self.event, self.premise),
                (self.action, self.premise),
                (self.quantity, self.quantity_premise),
            )
        )
        hypothesis = write()
        label = self.pick(_LABELS)
        premise, decided = write_premise(hypothesis, label)
        premise_words = self.sentence(premise, "a")
        words = self.sentence(hypothesis, "the")
        premise_slots = [slot for _, slot in premise_words]
        alignments = []
        for j, (_, slot) in enumerate(words):
            if slot in decided:
                if slot not in premise_slots:
                    slot = _HEADS[slot]
                alignments += [
                    (i, j)
                    for i, other in enumerate(premise_slots)
                    if other == slot
                ]
        premise_tokens = tuple(token for token, _ in premise_words)
        tokens = tuple(token for token, _ in words)
        return GeneratedPair(
            premise=join_tokens(premise_tokens),
            hypothesis=join_tokens(tokens),
            label=label,
            premise_tokens=premise_tokens,
            hypothesis_tokens=tokens,
            alignments=tuple(sorted(alignments)),
        )

    def scene(self, nouns, verbs):
        scene = {"noun": self.pick(nouns), "verb": self.pick(tuple(verbs))}
        if self.below(2):
            scene["adjective"] = self.pick(_ADJECTIVES)
        if self.below(2):
            scene["place"] = self.pick(tuple(_PLACES.parents))
        return scene

    def event(self):
        scene = self.scene(_PEOPLE, _MOTIONS.parents | _VOICES.parents)
        kind = self.below(3)
        if kind == 0:
            scene["negated"] = True
        elif kind == 1:
            scene["number"] = self.pick(tuple(_NUMBERS))
        return scene

    def action(self):
        scene = self.scene(tuple(_NOUNS.parents), _ACTIONS)
        scene["object"] = self.pick(_NOUNS.excluded(scene["noun"]))
        # There must be something that a premise can leave open.
        scene.setdefault("place", self.pick(tuple(_PLACES.parents)))
        if self.below(2):
            scene["object_adjective"] = self.pick(_ADJECTIVES)
        scene["negated"] = not self.below(3)
        scene["passive"] = not self.below(2)
        return scene

    def quantity(self):
        scene = self.scene(_PEOPLE, _MOTIONS.parents | _VOICES.parents)
        scene["quantifier"] = self.pick(tuple(_QUANTIFIERS))
        return scene

    def premise(self, hypothesis, label):
        """A premise that has the label, and the slots that make it so."""
        negated = hypothesis.get("negated")
        action = "object" in hypothesis
        if not action and "number" not in hypothesis and not self.below(3):
            wide = label == (ENTAILMENT if negated else CONTRADICTION)
            narrower = _tree(hypothesis["verb"]).narrower(hypothesis["verb"])
            if wide or (label == NEUTRAL and narrower):
                scene = self.narrowed(hypothesis, ("noun", "adjective"))
                if wide:
                    scene = self.widened(scene)
                else:
                    scene["verb"] = self.pick(narrower)
                return scene | {"negated": True}, {"verb"}
        if negated and label != NEUTRAL:
            label = CONTRADICTION if label == ENTAILMENT else ENTAILMENT
        scene = hypothesis | {"negated": False}
        number = hypothesis.get("number", "")
        if "at most" not in number:
            slots = ("noun", "verb", "object", *_HEADS)
            scene = self.narrowed(scene, slots)
        if number:
            scene["number"] = self.pick(
                _choices(hypothesis, "number", ENTAILMENT)
            )
        if action:
            scene["passive"] = not self.below(2)
        if label == ENTAILMENT:
            return scene, {"verb"} if negated else set(hypothesis)
        slots = ["verb", "place"]
        if not negated:
            slots += ["noun", "object", "adjective", "object_adjective"]
            slots += ["number"]
        if "at most" in number:
            slots = ["number"]
        slots = [slot for slot in slots if _choices(hypothesis, slot, label)]
        if action and label == CONTRADICTION and self.below(2):
            decided = {"noun", "object"}
            scene = {_EXCHANGE.get(slot, slot): scene[slot] for slot in scene}
        else:
            slot = self.pick(slots)
            decided = {slot}
            scene[slot] = self.pick(_choices(hypothesis, slot, label))
        return scene, decided | ({"verb"} if negated else set())

    def quantity_premise(self, hypothesis, label):
        quantifier = hypothesis["quantifier"]
        choices = _QUANTIFIERS[quantifier][label]
        if choices:
            scene = hypothesis | {"quantifier": self.pick(choices)}
            if scene["quantifier"] == "none":
                scene = self.widened(scene)
            else:
                scene = self.narrowed(scene, ("verb", "place"))
            every = set(hypothesis) if label == ENTAILMENT else set()
            return scene, {"quantifier"} | every
        words = _choices(hypothesis, "verb", NEUTRAL)
        if quantifier == "none":
            words = [
                word
                for word in words
                if word not in _tree(hypothesis["verb"]).parents
            ] + _tree(hypothesis["verb"]).narrower(hypothesis["verb"])
        return hypothesis | {"verb": self.pick(words)}, {"verb"}

    def narrowed(self, scene, slots):
        """A scene that entails the one given."""
        scene = dict(scene)
        for slot in slots:
            word = scene.get(slot)
            if self.below(2):
                continue
            if _tree(word):
                scene[slot] = self.pick([word, *_tree(word).narrower(word)])
            elif word is None and _HEADS.get(slot) in scene:
                scene[slot] = self.pick(
                    tuple(_PLACES.parents) if slot == "place" else _ADJECTIVES
                )
        return scene

    def widened(self, scene):
        """A scene whose denial entails the denial of the one given."""
        scene = dict(scene)
        scene["verb"] = self.pick(
            [scene["verb"], *_tree(scene["verb"]).wider(scene["verb"])]
        )
        if self.below(2):
            scene["place"] = None
        return scene

    def sentence(self, scene, article):
        """List of (token, slot or None)."""
        words = []

        def add(text, slot=None):
            words.extend((token, slot) for token in text.split())

        def add_noun(noun_slot, adjective_slot):
            noun, adjective = scene[noun_slot], scene.get(adjective_slot)
            if "quantifier" in scene:
                add(scene["quantifier"], "quantifier")
                add("of the")
            elif "number" in scene:
                add(scene["number"], "number")
            else:
                vowel = (adjective or noun)[0] in "aeiou"
                add("an" if article == "a" and vowel else article)
            if adjective:
                add(adjective, adjective_slot)
            add(_PLURALS.get(noun, noun + "s") if plural else noun, noun_slot)

        plural = "quantifier" in scene or "number" in scene
        roles = [("noun", "adjective"), ("object", "object_adjective")]
        if scene.get("passive"):
            roles.reverse()
        # One cannot deny of somebody not yet known.
        article = "the" if scene.get("negated") else article
        add_noun(*roles[0])
        add("are" if plural else "is")
        if scene.get("negated"):
            add(self.pick(("not", "n't")), "verb")
        if scene.get("passive"):
            add("being")
            add(_ACTIONS[scene["verb"]], "verb")
            add("by")
        else:
            add(scene["verb"], "verb")
        if "object" in scene:
            add_noun(*roles[1])
        if place := scene.get("place"):
            add("" if _PLACES.parents[place] is None else "in the")
            add(place, "place")
        add(".")
        first, slot = words[0]
        words[0] = first.capitalize(), slot
        return words


def generate_pairs(size, seed=0):
    """Streams generated pairs; see the module for what decides their label.

    Labels are drawn evenly. A corpus depends on nothing but the seed, and a
    shorter one is the beginning of a longer one.

    Args:
        size: number of pairs, at least 0.
        seed: integer of 0 or more that fixes the corpus.

    Returns:
        Iterator of `GeneratedPair`.

    Raises:
        ValueError: if `size` or `seed` is no integer of 0 or more.

    Example:

    >>> pair = next(generate_pairs(size=1, seed=27))
    >>> pair.premise
    'A poodle is lifting a poor horse in the garden.'
    >>> pair.hypothesis
    'The poodle is being lifted by the horse in the garden.'
    >>> pair.label
    'contradiction'
    >>> for left, right in pair.alignments:
    ...     print(pair.premise_tokens[left], pair.hypothesis_tokens[right])
    poodle horse
    horse poodle
    """
    check_numbers(size=size, seed=seed)
    writer = _PairWriter(seed)
    return (writer.pair() for _ in range(size))
