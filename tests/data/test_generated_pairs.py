import collections
import hashlib
import itertools
import re

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from keras_selfattn.data.generated_pairs import generate_pairs

LABELS = ["entailment", "neutral", "contradiction"]
# Each word with those above it; words of two roots of one kind exclude each
# other.
BRANCHES = """
person adult woman|person adult man|person child girl|person child boy|
animal dog poodle|animal dog terrier|animal cat kitten|animal horse pony|
moving running sprinting|moving running jogging|moving dancing waltzing|
resting sleeping napping|resting sleeping dozing|resting lounging|
talking whispering|talking chatting|singing humming|singing yodelling|
outdoors park playground|outdoors street alley|outdoors garden|
indoors kitchen|indoors office|indoors library
""".replace("\n", "").split("|")
PATHS = {}
for branch in BRANCHES:
    words = branch.split()
    for i, word in enumerate(words):
        PATHS[word] = words[: i + 1]
VOICES = {word for word in PATHS if PATHS[word][0] in ("talking", "singing")}
PAIRS = "tall short|happy sad|thin stout|friendly rude|rich poor|famous unknown"
SINGULAR = {
    "people": "person",
    "children": "child",
    "women": "woman",
    "men": "man",
    "adults": "adult",
    "girls": "girl",
    "boys": "boy",
}
BASE = {
    "chased": "chasing",
    "carried": "carrying",
    "fed": "feeding",
    "led": "leading",
    "pulled": "pulling",
    "lifted": "lifting",
}
COUNT = {"two": 2, "three": 3, "four": 4, "five": 5}
MANY = 100
ADJECTIVE = "(?:(" + PAIRS.replace(" ", "|") + ") )?"
SENTENCE = re.compile(
    "(?:(all|most|some|none) of the|((?:at least |at most )?(?:two|three|four|"
    f"five)|some)|a|an|the) {ADJECTIVE}([a-z]+) (?:is|are) (n't |not )?"
    f"(being )?([a-z]+)(?: by)?(?: (?:the|an|a) {ADJECTIVE}([a-z]+))?"
    r"(?: (?:in the )?([a-z]+))? \."
)


def parse(tokens):
    match = SENTENCE.fullmatch(" ".join(tokens).lower())
    assert match, tokens
    quantifier, number, *agent, negation, passive, verb = match.groups()[:7]
    patient = list(match.groups()[7:9])
    place = match[10]
    if place is None and patient[1] in ("outdoors", "indoors"):
        raise AssertionError(tokens)
    agent[1] = SINGULAR.get(agent[1], agent[1])
    if passive:
        agent, patient = patient, agent
    scene = {"agent": agent[1], "patient": patient[1]}
    scene |= {"place": place, "verb": BASE.get(verb, verb)}
    scene |= {"agent adjective": agent[0], "patient adjective": patient[0]}
    return scene, quantifier, number, bool(negation)


def counts(number):
    if number == "some":
        return range(2, MANY)
    *bound, word = number.split()
    first = 1 if bound == ["at", "most"] else COUNT[word]
    last = MANY if bound == ["at", "least"] else COUNT[word] + 1
    return range(first, last)


def word_relation(premise, hypothesis):
    if premise == hypothesis or hypothesis is None:
        return 0
    if premise is None:
        return 1
    if f"{premise} {hypothesis}" in PAIRS or f"{hypothesis} {premise}" in PAIRS:
        return 2
    if premise not in PATHS or hypothesis not in PATHS:
        return 1
    if hypothesis in PATHS[premise]:
        return 0
    if premise in PATHS[hypothesis]:
        return 1
    return 1 if (premise in VOICES) != (hypothesis in VOICES) else 2


def scene_relation(premise, hypothesis):
    slots = [word_relation(premise[s], hypothesis[s]) for s in hypothesis]
    return max(slots)


def quantified(premise, hypothesis, quantifier, other):
    denies = quantifier == "none"
    narrow = scene_relation(premise, hypothesis) == 0
    wide = scene_relation(hypothesis, premise) == 0
    if denies and other == "none":
        return 0 if wide else 1
    if denies or other == "none":
        return 2 if (wide if denies else narrow) else 1
    order = ["all", "most", "some"]
    return 0 if narrow and order.index(quantifier) <= order.index(other) else 1


def read(pair):
    """The label, from the tokens and the documented rules."""
    premise, quantifier, number, denied = parse(pair.premise_tokens)
    hypothesis, other, other_number, negated = parse(pair.hypothesis_tokens)
    if quantifier:
        return LABELS[quantified(premise, hypothesis, quantifier, other)]
    if denied:
        # Who is denied something is known, so may be described further.
        assert word_relation(premise["agent"], hypothesis["agent"]) == 0
        known = {"agent": None, "agent adjective": None}
        wide = scene_relation(hypothesis | known, premise | known) == 0
        relation = 2 if wide else 1
    else:
        relation = scene_relation(premise, hypothesis)
    if number:
        ours, theirs = set(counts(number)), set(counts(other_number))
        if "at most" in number + other_number:
            assert premise == hypothesis
        relation = max(
            relation, 0 if ours <= theirs else 1 if ours & theirs else 2
        )
    return LABELS[2 - relation if negated else relation]


def test_a_reader_of_the_rules_finds_every_label():
    for pair in generate_pairs(4000, 3):
        assert read(pair) == pair.label, pair


def test_alignments_join_the_words_that_decide():
    for pair in generate_pairs(1000, 4):
        assert pair.alignments
        assert pair.alignments == tuple(sorted(set(pair.alignments)))
        joined = [
            (pair.premise_tokens[i].lower(), pair.hypothesis_tokens[j].lower())
            for i, j in pair.alignments
        ]
        if pair.label != "entailment":
            assert any(left != right for left, right in joined), pair
        for word in itertools.chain(*joined):
            assert word not in ("a", "an", "the", "is", "are", "in", ".")


def test_texts_are_those_of_the_tokens():
    for pair in generate_pairs(300, 5):
        for text, tokens in (
            (pair.premise, pair.premise_tokens),
            (pair.hypothesis, pair.hypothesis_tokens),
        ):
            assert text[0].isupper() and text.endswith(".")
            split = text.replace("n't", " n't").replace(".", " .").split()
            assert tuple(split) == tokens


def test_labels_are_balanced():
    counter = collections.Counter(
        pair.label for pair in generate_pairs(3000, 6)
    )
    assert set(counter) == set(LABELS)
    assert min(counter.values()) > 900


def test_the_seed_fixes_the_corpus():
    digest = hashlib.sha256()
    for pair in generate_pairs(200, 9):
        digest.update(repr(tuple(pair)).encode())
    assert digest.hexdigest() == (
        "eba6fb3fcaa271160c7f8d40c28f99cb3c6ae48e6777a9a41ef342a5fe824847"
    )
    longer = itertools.islice(generate_pairs(10**9, 2), 5)
    assert list(generate_pairs(5, 2)) == list(longer)
    assert list(generate_pairs(5, 3)) != list(generate_pairs(5, 2))


def test_rejects_what_is_no_number():
    with pytest.raises(ValueError, match="`size` must be an integer of 0"):
        generate_pairs(-1, 0)


def test_one_sentence_alone_says_little():
    def score(texts):
        model = make_pipeline(
            CountVectorizer(ngram_range=(1, 2), token_pattern=r"\S+"),
            LogisticRegression(max_iter=300),
        )
        model.fit(texts[:3000], labels[:3000])
        return model.score(texts[3000:], labels[3000:])

    pairs = list(generate_pairs(4000, 1))
    labels = [pair.label for pair in pairs]
    assert score([" ".join(pair.hypothesis_tokens) for pair in pairs]) < 0.4
