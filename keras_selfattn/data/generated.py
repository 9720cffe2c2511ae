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

import random
import typing


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


_LEXICON = {
    "AWFUL": "terrible awful dreadful horrible appalling miserable",
    "BAD": "bad poor weak disappointing unpleasant unsatisfying",
    "OKAY": "okay average ordinary acceptable passable middling",
    "GOOD": "good nice decent pleasant enjoyable pleasing",
    "GREAT": "excellent perfect superb wonderful outstanding fantastic",
    "HATED": "hated loathed detested",
    "DISLIKED": "disliked",
    "LIKED": "liked enjoyed",
    "LOVED": "loved adored",
    "HATE": "hate loathe detest",
    "DISLIKE": "dislike",
    "LIKE": "like enjoy",
    "LOVE": "love adore",
    "VERY": "very really extremely truly incredibly",
    "FAIRLY": "fairly rather quite reasonably",
    "ALMOST": "almost nearly practically",
    "MUCH": "much far",
    "NOT": "not|n't|never|hardly|by no means|far from",
    "N'T": "not|n't",
    "SAY": "say think claim",
    "WOULDN'T": "would n't|would not|could never|can hardly",
    "FRANKLY": "I must say that|I must admit that|to be honest ,|frankly ,|"
    "this time|we found that",
    "CALLED": "called considered",
    "SAID": "said wrote insisted believes",
    "PERSON": "my friend|my sister|my boss|a colleague|the guide|"
    "our neighbour|my wife|my husband|everyone else|a famous critic",
    "USED": "last year|years ago ,|on our first visit|back then ,",
    "OVERALL": "all in all ,|overall ,|in the end ,|in short ,|on balance ,",
    "BUT": "but yet",
    "ALTHOUGH": "although|even though|while",
    "FILLER": "we took a lot of pictures|it was raining all day|"
    "my cousin drove us there|we read the news before|I was with my parents|"
    "it was my birthday|we had the day off|I paid with my card",
}
_LEXICON = {
    name: tuple(words.split("|" if "|" in words else None))
    for name, words in _LEXICON.items()
}

# thing: its aspects, its rivals, what else may be told of it
_DOMAINS = {
    "restaurant": (
        "food|service|soup|dessert|coffee|menu|dining room",
        "diner|bistro|cafe|canteen",
        "we came on a Tuesday evening|our table was near the window|"
        "we ordered for four people",
    ),
    "hotel": (
        "room|breakfast|pool|bed|view|location|front desk",
        "motel|hostel|inn|guesthouse",
        "we stayed for three nights|our floor was the fourth one|"
        "I booked in March",
    ),
    "phone": (
        "battery|screen|camera|keyboard|speaker|design",
        "tablet|handset|model|laptop",
        "I bought it in June|mine is the blue one|the parcel came on a Monday",
    ),
    "film": (
        "plot|music|ending|cast|dialogue|opening scene",
        "sequel|remake|series|musical",
        "we saw it on a Friday|it runs for two hours|the cinema was half full",
    ),
}

_OPPOSITES = (
    ("GREAT", "AWFUL"),
    ("GOOD", "BAD"),
    ("LOVED", "HATED"),
    ("LIKED", "DISLIKED"),
    ("LOVE", "HATE"),
    ("LIKE", "DISLIKE"),
    ("better", "worse"),
)
_MIRROR = {
    **dict(_OPPOSITES),
    **{negative: positive for positive, negative in _OPPOSITES},
}


def _mirrored(template):
    words = []
    for word in template.split():
        name = word.removeprefix("*")
        words.append(word.replace(name, _MIRROR.get(name, name)))
    return " ".join(words)


def _with_mirrors(positive, neutral):
    """Templates by value; those of -2 and -1 mirror those of 2 and 1."""
    templates = {0: neutral, **positive}
    for value, group in positive.items():
        templates[-value] = tuple(_mirrored(template) for template in group)
    return templates


# A star marks the tokens that decide, where the statement does.
_PREDICATES = _with_mirrors(
    {
        2: (
            "was *GREAT",
            "was *VERY *GOOD",
            "was *nothing *short *of *GREAT",
            "was *anything *but *BAD",
            "was *MUCH *better than COMPARED",
        ),
        1: (
            "was *GOOD",
            "was *FAIRLY *GOOD",
            "was *ALMOST *GREAT",
            "was *NOT *BAD",
            "was *N'T *VERY *BAD",
            "was *better than COMPARED",
        ),
    },
    (
        "was *OKAY",
        "was *FAIRLY *OKAY",
        "was *NOT *GREAT",
        "was *NOT *AWFUL",
        "was *neither *GOOD *nor *BAD",
    ),
)

_STATEMENTS = _with_mirrors(
    {
        2: (
            "I *LOVED SUBJECT",
            "I *LIKED SUBJECT *a *lot",
            "PERSON CALLED SUBJECT *GREAT , and I *agree",
            "I expected SUBJECT to be *GREAT , and it *was",
        ),
        1: (
            "I *LIKED SUBJECT",
            "I *did *N'T *DISLIKE SUBJECT",
            "I *WOULDN'T *SAY that SUBJECT was *BAD",
            "I *WOULDN'T *SAY that SUBJECT was *N'T *GOOD",
            "PERSON CALLED SUBJECT *GOOD , and I *agree",
            "I expected SUBJECT to be *BAD , and it *was *N'T",
        ),
    },
    (
        "I *did *N'T *HATE SUBJECT",
        "I *did *N'T *LOVE SUBJECT",
        "I *WOULDN'T *SAY that SUBJECT was *GREAT",
        "I *WOULDN'T *SAY that SUBJECT was *AWFUL",
        "PERSON CALLED SUBJECT *OKAY , and I *agree",
        "I expected SUBJECT to be *GREAT , and it *was *N'T",
        "I expected SUBJECT to be *AWFUL , and it *was *N'T",
    ),
)

_DISTRACTORS = (
    "PERSON CALLED SUBJECT ADJECTIVE",
    "PERSON SAID that SUBJECT PREDICATE",
    "I expected SUBJECT to be ADJECTIVE",
    "I wondered whether SUBJECT would be ADJECTIVE",
    "if SUBJECT had been ADJECTIVE , I would have told you",
    "USED SUBJECT PREDICATE",
    "USED I FELT SUBJECT",
    "SUBJECT of the RIVAL PREDICATE",
    "PERSON FELT SUBJECT",
)

_CONTRASTS = (
    "OTHER , BUT MAIN",
    "OTHER , BUT MAIN",
    "ALTHOUGH OTHER , MAIN",
    "MAIN , ALTHOUGH OTHER",
)

_SEPARATORS = (";", "!", "...")
_ATTACHED = frozenset((",", ";", "!", ".", "...", "n't"))
_ADJECTIVES = ("AWFUL", "BAD", "OKAY", "GOOD", "GREAT")
_FEELINGS = ("HATED", "DISLIKED", "LIKED", "LOVED")
_VALUES = (-2, -1, 0, 1, 2)
_MAX_TOKENS = 45


class SteadyRandom:
    """Draws that are the same in all versions of Python.

    Python promises that for `random.Random.random` alone.
    """

    def __init__(self, seed):
        self._random = random.Random(seed).random

    def below(self, limit):
        return int(self._random() * limit)

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def shuffle(self, items):
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]


class _Writer(SteadyRandom):
    """Writes statements as lists of (token, whether it decides)."""

    def fill(self, template, **parts):
        tokens = []
        for word in template.split():
            name = word.removeprefix("*")
            if name in parts:
                tokens += parts[name]
            else:
                words = self.pick(_LEXICON.get(name, (name,)))
                tokens += [(token, word != name) for token in words.split()]
        return tokens

    def start_review(self):
        self.thing = self.pick(tuple(_DOMAINS))
        self.aspects, self.rivals, self.fillers = (
            words.split("|") for words in _DOMAINS[self.thing]
        )
        self.shuffle(self.aspects)

    def predicate(self, value, subject):
        rival = f"the {self.pick(_ADJECTIVES)} {self.pick(self.rivals)}"
        if subject != self.thing:
            rival = f"that of {rival}"
        template = self.pick(_PREDICATES[value])
        return self.fill(template, COMPARED=self.fill(rival))

    def clause(self, value, subject):
        """A plain statement: the subject and its predicate."""
        words = self.fill("the " + subject)
        return words + self.predicate(value, subject)

    def statement(self, value, subject):
        """Any statement of the writer's own that has the value."""
        kind = self.below(3)
        if kind == 0:
            template = self.pick(_STATEMENTS[value])
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
                self.pick(_DISTRACTORS),
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
            template = self.pick(_CONTRASTS)
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


def join_tokens(tokens):
    """The text whose Penn Treebank tokens these are."""
    return "".join(
        token if token in _ATTACHED or not i else " " + token
        for i, token in enumerate(tokens)
    )


def check_numbers(**arguments):
    for name, value in arguments.items():
        if not isinstance(value, int) or value < 0:
            raise ValueError(
                f"`{name}` must be an integer of 0 or more. Received: {value!r}"
            )


def generate_reviews(size, seed=0):
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
    writer = _Writer(seed)
    return (writer.review() for _ in range(size))
