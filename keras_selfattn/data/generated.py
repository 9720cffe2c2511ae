"""A generated corpus of reviews whose labels follow from their meaning.

A review is rated `"1"` to `"5"` by the value, -2 to 2, of one statement in
it. Words have values, and words around them change these values:

- *Opinions*: awful -2, bad -1, okay 0, good 1, great 2, and their synonyms;
  likewise hated, disliked, liked, loved.
- *Degree*: "very" and "a lot" make a weak opinion strong, "almost" a strong
  one weak; "fairly" leaves it as it is. "Nothing short of" keeps a strong
  opinion strong.
- *Negation* turns a weak opinion into the opposite weak one ("not bad" is
  1) and a strong one into 0 ("not great"). Under it "very" adds nothing:
  "not very good" is -1. "Anything but" turns a weak opinion into the
  opposite strong one. "Neither good nor bad" is 0. Negations of a whole
  clause ("I would n't say that ...") follow the same rule, so two of them
  cancel out.
- *Comparison*: "better" is 1, "much better" 2, "worse" and "much worse" the
  opposite, however good or bad the thing compared with is.
- *Expectations and reports* count only once the writer confirms or denies
  them: "I expected it to be bad, and it was n't" is 1, "my friend called it
  awful, and I agree" is -2.

Which statement decides:

1. a verdict ("all in all, ..."), over all that the writer says otherwise;
2. without one, the statement on the aspect which the writer alone cares
   about ("I only care about the service");
3. in a contrast, the part after "but" or "yet", and the main clause beside
   one with "although", "even though" or "while";
4. otherwise the only statement that the writer makes about the thing
   reviewed, here and now. What others say, what was expected, what would
   have been, what used to be and what holds of another place is none.

Every text thus has exactly one right label, while its words without their
order say little about it. All values occur in statements that do not decide,
whatever the label.

Inside a text no sentence ends with a period, because Treebank tokenizers
disagree on periods before the last one.
"""

import typing
from collections.abc import Iterator

from keras_selfattn.data.steady_random import SteadyRandom
from keras_selfattn.data.steady_random import check_numbers
from keras_selfattn.data.steady_random import join_tokens
from keras_selfattn.files import packaged_json


class GeneratedReview(typing.NamedTuple):
    """One review.

    Attributes:
        text: the review as one would write it.
        label: `"1"` (worst) to `"5"` (best).
        tokens: tuple of the text's Penn Treebank tokens.
        deciding: tuple of the positions in `tokens`, rising, of the opinion
            that decided the label, with its negations and degrees.
    """

    text: str
    label: str
    tokens: tuple
    deciding: tuple


# The templates of each value, whose words in capitals stand for one of
# several. A star marks the tokens that decide, where the statement does.
_TEXT = packaged_json(__package__, "generated.json")

_SEPARATORS = (";", "!", "...")
_ADJECTIVES = ("AWFUL", "BAD", "OKAY", "GOOD", "GREAT")
_FEELINGS = ("HATED", "DISLIKED", "LIKED", "LOVED")
_VALUES = (-2, -1, 0, 1, 2)
_MAX_TOKENS = 45


class _ReviewWriter(SteadyRandom):
    """Writes statements as lists of (token, whether it decides)."""

    def fill(self, template, **parts):
        tokens = []
        for word in template.split():
            name = word.removeprefix("*")
            if name in parts:
                tokens += parts[name]
            else:
                words = self.pick(_TEXT["words"].get(name, [name]))
                tokens += [(token, word != name) for token in words.split()]
        return tokens

    def start_review(self):
        self.thing = self.pick(list(_TEXT["things"]))
        told = _TEXT["things"][self.thing]
        self.aspects = list(told["aspects"])
        self.rivals, self.fillers = told["rivals"], told["fillers"]
        self.shuffle(self.aspects)

    def predicate(self, value, subject):
        rival = f"the {self.pick(_ADJECTIVES)} {self.pick(self.rivals)}"
        if subject != self.thing:
            rival = f"that of {rival}"
        template = self.pick(_TEXT["predicates"][str(value)])
        return self.fill(template, COMPARED=self.fill(rival))

    def clause(self, value, subject):
        """A plain statement: the subject and its predicate."""
        words = self.fill("the " + subject)
        return words + self.predicate(value, subject)

    def statement(self, value, subject):
        """Any statement of the writer's own that has the value."""
        kind = self.below(3)
        if kind == 0:
            template = self.pick(_TEXT["statements"][str(value)])
            words = self.fill("the " + subject)
            return self.fill(template, SUBJECT=words)
        clause = self.clause(value, subject)
        if kind == 1 or subject == self.thing:
            return clause
        return self.fill("FRANKLY") + clause

    def distractor(self):
        """A sentence that holds an opinion and is none of the writer's."""
        subject = self.pick(self.aspects)
        return _undecided(
            self.fill(
                self.pick(_TEXT["distractors"]),
                SUBJECT=self.fill("the " + subject),
                ADJECTIVE=self.fill(self.pick(_ADJECTIVES)),
                FELT=self.fill(self.pick(_FEELINGS)),
                RIVAL=self.fill(self.pick(self.rivals)),
                PREDICATE=self.predicate(self.pick(_VALUES), subject),
            )
        )

    def filler(self):
        return self.fill(self.pick((*self.fillers, "FILLER", "FILLER")))

    def other(self, subject):
        """A statement for a place where it does not decide."""
        return _undecided(self.clause(self.pick(_VALUES), subject))

    def sentences(self, value):
        """The sentences of a review, in any order the meaning allows."""
        aspect = self.aspects[0]
        kind = self.below(8)
        if kind < 2:
            overall = self.fill("OVERALL")
            verdict = overall + self.statement(value, self.thing)
            sentences = [verdict, self.other(self.aspects[1])]
            if self.below(2):
                sentences.append(self.other(self.aspects[2]))
        elif kind == 2:
            priority = "I only care about the " + aspect
            sentences = [
                self.fill(priority),
                self.statement(value, aspect),
                self.other(self.aspects[1]),
            ]
        elif kind < 6:
            other = (
                self.other(self.aspects[1])
                if self.below(2)
                else self.distractor()
            )
            main = self.statement(value, aspect)
            template = self.pick(_TEXT["contrasts"])
            sentences = [self.fill(template, MAIN=main, OTHER=other)]
        else:
            sentences = [self.statement(value, aspect), self.distractor()]
        if self.below(2):
            sentences.append(self.distractor())
        if self.below(3) == 0:
            sentences.append(self.filler())
        self.shuffle(sentences)
        return sentences

    def review(self):
        value = self.pick(_VALUES)
        while True:
            self.start_review()
            tokens = self.punctuate(self.sentences(value))
            if len(tokens) <= _MAX_TOKENS:
                break
        words = tuple(token for token, _ in tokens)
        return GeneratedReview(
            text=join_tokens(words),
            label=str(value + 3),
            tokens=words,
            deciding=tuple(
                i for i, (_, decides) in enumerate(tokens) if decides
            ),
        )

    def punctuate(self, sentences):
        tokens = []
        mark = "."
        for sentence in sentences:
            if mark in (".", "!"):
                first, decides = sentence[0]
                first = first[0].upper() + first[1:]
                sentence = [(first, decides), *sentence[1:]]
            mark = self.pick(_SEPARATORS)
            tokens += [*sentence, (mark, False)]
        tokens[-1] = (self.pick((".", ".", "!")), False)
        return tokens


def _undecided(tokens):
    return [(token, False) for token, _ in tokens]


def generate_reviews(size: int, seed: int = 0) -> Iterator[GeneratedReview]:
    """Streams generated reviews; see the module for what decides their label.

    Labels are drawn evenly. A corpus depends on nothing but the seed, and a
    shorter one is the beginning of a longer one.

    Args:
        size: Integer, the number of reviews, at least 0.
        seed: Integer that fixes the corpus.

    Returns:
        Iterator of `GeneratedReview`. Texts have at most 45 tokens and are not
        all different.

    Raises:
        ValueError: if `size` or `seed` is no integer of 0 or more.

    Example:

    >>> review = next(generate_reviews(size=1, seed=3534))
    >>> review.text
    "The bed was almost fantastic, but the room wasn't very enjoyable!"
    >>> review.label
    '2'
    >>> [review.tokens[position] for position in review.deciding]
    ["n't", 'very', 'enjoyable']
    """
    check_numbers(size=size, seed=seed)
    writer = _ReviewWriter(seed)
    return (writer.review() for _ in range(size))
