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
from collections.abc import Iterator

from keras_selfattn.data import word_relations as known
from keras_selfattn.data.steady_random import SteadyRandom
from keras_selfattn.data.steady_random import check_numbers
from keras_selfattn.data.steady_random import join_tokens
from keras_selfattn.data.word_relations import CONTRADICTION
from keras_selfattn.data.word_relations import ENTAILMENT
from keras_selfattn.data.word_relations import LABELS
from keras_selfattn.data.word_relations import NEUTRAL
from keras_selfattn.data.word_relations import choices_of
from keras_selfattn.data.word_relations import tree_of


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
        label = self.pick(LABELS)
        premise, decided = write_premise(hypothesis, label)
        premise_words = self.sentence(premise, "a")
        words = self.sentence(hypothesis, "the")
        premise_slots = [slot for _, slot in premise_words]
        alignments = []
        for j, (_, slot) in enumerate(words):
            if slot in decided:
                if slot not in premise_slots:
                    slot = known.HEADS[slot]
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
            scene["adjective"] = self.pick(known.ADJECTIVES)
        if self.below(2):
            scene["place"] = self.pick(tuple(known.PLACES.parents))
        return scene

    def event(self):
        scene = self.scene(known.PEOPLE, known.VERBS)
        kind = self.below(3)
        if kind == 0:
            scene["negated"] = True
        elif kind == 1:
            scene["number"] = self.pick(tuple(known.NUMBERS))
        return scene

    def action(self):
        scene = self.scene(tuple(known.NOUNS.parents), known.ACTIONS)
        scene["object"] = self.pick(known.NOUNS.excluded(scene["noun"]))
        # There must be something that a premise can leave open.
        scene.setdefault("place", self.pick(tuple(known.PLACES.parents)))
        if self.below(2):
            scene["object_adjective"] = self.pick(known.ADJECTIVES)
        scene["negated"] = not self.below(3)
        scene["passive"] = not self.below(2)
        return scene

    def quantity(self):
        scene = self.scene(known.PEOPLE, known.VERBS)
        scene["quantifier"] = self.pick(tuple(known.QUANTIFIERS))
        return scene

    def premise(self, hypothesis, label):
        """A premise that has the label, and the slots that make it so."""
        negated = hypothesis.get("negated")
        action = "object" in hypothesis
        if not action and "number" not in hypothesis and not self.below(3):
            wide = label == (ENTAILMENT if negated else CONTRADICTION)
            narrower = tree_of(hypothesis["verb"]).narrower(hypothesis["verb"])
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
            slots = ("noun", "verb", "object", *known.HEADS)
            scene = self.narrowed(scene, slots)
        if number:
            scene["number"] = self.pick(
                choices_of(hypothesis, "number", ENTAILMENT)
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
        slots = [slot for slot in slots if choices_of(hypothesis, slot, label)]
        if action and label == CONTRADICTION and self.below(2):
            decided = {"noun", "object"}
            scene = {
                known.EXCHANGE.get(slot, slot): scene[slot] for slot in scene
            }
        else:
            slot = self.pick(slots)
            decided = {slot}
            scene[slot] = self.pick(choices_of(hypothesis, slot, label))
        return scene, decided | ({"verb"} if negated else set())

    def quantity_premise(self, hypothesis, label):
        quantifier = hypothesis["quantifier"]
        choices = known.QUANTIFIERS[quantifier][label]
        if choices:
            scene = hypothesis | {"quantifier": self.pick(choices)}
            if scene["quantifier"] == "none":
                scene = self.widened(scene)
            else:
                scene = self.narrowed(scene, ("verb", "place"))
            every = set(hypothesis) if label == ENTAILMENT else set()
            return scene, {"quantifier"} | every
        words = choices_of(hypothesis, "verb", NEUTRAL)
        if quantifier == "none":
            words = [
                word
                for word in words
                if word not in tree_of(hypothesis["verb"]).parents
            ] + tree_of(hypothesis["verb"]).narrower(hypothesis["verb"])
        return hypothesis | {"verb": self.pick(words)}, {"verb"}

    def narrowed(self, scene, slots):
        """A scene that entails the one given."""
        scene = dict(scene)
        for slot in slots:
            word = scene.get(slot)
            if self.below(2):
                continue
            if tree_of(word):
                scene[slot] = self.pick([word, *tree_of(word).narrower(word)])
            elif word is None and known.HEADS.get(slot) in scene:
                scene[slot] = self.pick(
                    tuple(known.PLACES.parents)
                    if slot == "place"
                    else known.ADJECTIVES
                )
        return scene

    def widened(self, scene):
        """A scene whose denial entails the denial of the one given."""
        scene = dict(scene)
        scene["verb"] = self.pick(
            [scene["verb"], *tree_of(scene["verb"]).wider(scene["verb"])]
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
            add(
                known.PLURALS.get(noun, noun + "s") if plural else noun,
                noun_slot,
            )

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
            add(known.ACTIONS[scene["verb"]], "verb")
            add("by")
        else:
            add(scene["verb"], "verb")
        if "object" in scene:
            add_noun(*roles[1])
        if place := scene.get("place"):
            add("" if known.PLACES.parents[place] is None else "in the")
            add(place, "place")
        add(".")
        first, slot = words[0]
        words[0] = first.capitalize(), slot
        return words


def generate_pairs(size: int, seed: int = 0) -> Iterator[GeneratedPair]:
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
