import collections
import hashlib
import itertools
import re

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from keras_selfattn.data.generated import generate_reviews

OPINIONS = {
    -2: "terrible awful dreadful horrible appalling miserable",
    -1: "bad poor weak disappointing unpleasant unsatisfying",
    0: "okay average ordinary acceptable passable middling",
    1: "good nice decent pleasant enjoyable pleasing",
    2: "excellent perfect superb wonderful outstanding fantastic",
}
FEELINGS = {
    -2: "hate loathe detest",
    -1: "dislike",
    1: "like enjoy",
    2: "love adore",
}


def by_word(words):
    return {word: value for value in words for word in words[value].split()}


OPINION = by_word(OPINIONS)
FEELING = by_word(FEELINGS)
FEELING |= {
    re.sub("e?$", "ed", word, count=1): FEELING[word] for word in FEELING
}
THE = r"the [a-z]+(?: (?:room|desk|scene))?"
WHO = (
    "(?:my friend|my sister|my boss|a colleague|the guide|our neighbour|"
    "my wife|my husband|everyone else|a famous critic)"
)
USED = "(?:last year|years ago ,|on our first visit|back then ,)"
FRANKLY = (
    "(?:i must (?:say|admit) that|to be honest ,|frankly ,|this time|"
    "we found that)"
)
VERDICT = r"(?:all in all|overall|in the end|in short|on balance) ,"
VERY = "(?:very|really|extremely|truly|incredibly)"
FAIRLY = "(?:fairly|rather|quite|reasonably)"
ALMOST = "(?:almost|nearly|practically)"
NOT = "(?:not|n't|never|hardly|by no means|far from)"


class Unreadable(Exception):
    pass


def negated(value):
    return {-2: 0, -1: 1, 1: -1, 2: 0}[value]


def predicate(words):
    """The value of what follows "was", read by the documented rules."""
    words = re.sub(" than (that of )?the [a-z]+ [a-z]+$", "", words)
    if words in OPINION:
        return OPINION[words]
    if match := re.fullmatch("((?:much|far) )?(better|worse)", words):
        return (2 if match[1] else 1) * (1 if match[2] == "better" else -1)
    for modifier, rule in (
        (f"{VERY} ", {-1: -2, 1: 2}),
        (f"{FAIRLY} ", {-1: -1, 0: 0, 1: 1}),
        (f"{ALMOST} ", {-2: -1, 2: 1}),
        ("nothing short of ", {-2: -2, 2: 2}),
        ("anything but ", {-1: 2, 1: -2}),
        (f"{NOT} (?:{VERY} )?", {-2: 0, -1: 1, 1: -1, 2: 0}),
        ("neither [a-z]+ nor ", {-1: 0}),
    ):
        match = re.fullmatch(f"{modifier}([a-z]+)", words)
        if match and OPINION.get(match[1]) in rule:
            return rule[OPINION[match[1]]]
    raise Unreadable(words)


def own(words):
    """The value of a statement of the writer's own."""
    words = re.sub(f"^{FRANKLY} ", "", words)
    if match := re.fullmatch(f"{THE} was (.+)", words):
        return predicate(match[1])
    if match := re.fullmatch(f"i ([a-z]+) {THE}( a lot)?", words):
        return FEELING[match[1]] * (2 if match[2] else 1)
    if match := re.fullmatch(f"i did (?:not|n't) ([a-z]+) {THE}", words):
        return negated(FEELING[match[1]])
    if match := re.fullmatch(
        "i (?:would not|would n't|could never|can hardly) "
        f"(?:say|think|claim) that {THE} was (.+)",
        words,
    ):
        return negated(predicate(match[1]))
    if match := re.fullmatch(
        f"{WHO} (?:called|considered) {THE} ([a-z]+) , and i agree", words
    ):
        return OPINION[match[1]]
    if match := re.fullmatch(
        f"i expected {THE} to be ([a-z]+) , and it was( not| n't)?", words
    ):
        return (negated if match[2] else int)(OPINION[match[1]])
    raise Unreadable(words)


def undecided(words):
    """Whether the words are a statement of nobody's, or not of here and now."""
    return any(
        re.fullmatch(pattern, words)
        for pattern in (
            f"{WHO} (?:called|considered) {THE} [a-z]+",
            f"{WHO} (?:said|wrote|insisted|believes) that .+",
            f"i expected {THE} to be [a-z]+",
            f"i wondered whether {THE} would be [a-z]+",
            f"if {THE} had been [a-z]+ , i would have told you",
            f"{USED} .+",
            f"{THE} of the [a-z]+ was .+",
            f"{WHO} [a-z]+ {THE}",
        )
    ) and not re.search(", (but|yet|although|even|while|and i agree)", words)


def contrast(words):
    """The main part of a contrast, or the words."""
    if match := re.fullmatch("(.+) , (?:but|yet) (.+)", words):
        return match[2]
    if match := re.fullmatch("(.+) , (?:although|even though|while) .+", words):
        return match[1]
    if match := re.match("(?:although|even though|while) ", words):
        parts = words[match.end() :].split(" , ")
        for i in range(1, len(parts)):
            side, main = " , ".join(parts[:i]), " , ".join(parts[i:])
            if undecided(side) or re.fullmatch(f"{THE} was .+", side):
                try:
                    own(main)
                except Unreadable:
                    continue
                return main
    return words


def read(tokens):
    """The label of a review, from its tokens and the documented rules."""
    words = " ".join(tokens).lower()
    sentences = re.split(r" (?:;|!|\.\.\.|\.)(?: |$)", words)[:-1]
    care = None
    values = {}
    for sentence in sentences:
        if match := re.fullmatch("i only care about (.+)", sentence):
            care = match[1]
            continue
        if match := re.fullmatch(f"{VERDICT} (.+)", sentence):
            return str(own(match[1]) + 3)
        sentence = contrast(sentence)
        if undecided(sentence):
            continue
        try:
            values[sentence] = own(sentence)
        except Unreadable:
            assert not set(sentence.split()) & {*OPINION, *FEELING}
    if care:
        values = {key: values[key] for key in values if f"{care} " in f"{key} "}
    (value,) = values.values()
    return str(value + 3)


def treebank(text, last_period_only):
    """The Treebank rules that matter to these texts."""
    text = re.sub(r"\.\.\.", " ... ", text)
    text = re.sub("[,;!]", r" \g<0> ", text)
    period = r"([^. ])\.(\s*)$" if last_period_only else r"([^. ])\.(?!\.)"
    text = re.sub(period, r"\1 . ", text)
    return tuple(re.sub("n't", " n't", text).split())


def test_a_reader_of_the_rules_finds_every_label():
    for review in generate_reviews(4000, 3):
        assert read(review.tokens) == review.label, review.text


def read_decision(words):
    """The value of deciding tokens, with nothing around them."""
    match = re.fullmatch("([a-z]+)( a lot)?", words)
    if match and match[1] in FEELING:
        return FEELING[match[1]] * (2 if match[2] else 1)
    if match := re.fullmatch("did (?:not|n't) ([a-z]+)", words):
        return negated(FEELING[match[1]])
    if match := re.fullmatch(
        "(?:would not|would n't|could never|can hardly) "
        "(?:say|think|claim) (.+)",
        words,
    ):
        return negated(predicate(match[1]))
    if match := re.fullmatch("([a-z]+) (agree|was|was not|was n't)", words):
        rule = negated if match[2] in ("was not", "was n't") else int
        return rule(OPINION[match[1]])
    return predicate(words)


def test_the_deciding_tokens_alone_have_the_value():
    for review in generate_reviews(3000, 4):
        positions = review.deciding
        assert positions == tuple(sorted(set(positions)))
        words = " ".join(review.tokens[position] for position in positions)
        assert str(read_decision(words) + 3) == review.label, review


@pytest.mark.parametrize("last_period_only", [False, True])
def test_tokens_are_those_of_the_treebank(last_period_only):
    for review in generate_reviews(1000, 5):
        assert treebank(review.text, last_period_only) == review.tokens


def test_text_is_written_as_english():
    for review in generate_reviews(300, 6):
        text = review.text
        assert text[0].isupper() and text[-1] in ".!"
        assert "  " not in text and " n't" not in text and " ," not in text
        for follower in re.findall("! (.)", text):
            assert follower.isupper()
        assert 8 <= len(review.tokens) <= 45


def test_labels_are_balanced_and_words_are_a_few_hundred():
    reviews = list(generate_reviews(3000, 8))
    counts = collections.Counter(review.label for review in reviews)
    assert set(counts) == set("12345")
    assert min(counts.values()) > 500
    words = {token.lower() for review in reviews for token in review.tokens}
    assert 200 < len(words) < 600


def test_the_seed_fixes_the_corpus():
    # The same bytes in every version of Python, for figures to be comparable.
    digest = hashlib.sha256()
    for review in generate_reviews(200, 9):
        digest.update(repr(tuple(review)).encode())
    assert digest.hexdigest() == (
        "019d36bd381fa6643035ea3345da8d40a171e5e53991d5221c41293070b76ceb"
    )


def test_a_shorter_corpus_begins_a_longer_one():
    longer = itertools.islice(generate_reviews(10**9, 2), 5)
    assert list(generate_reviews(5, 2)) == list(longer)
    assert list(generate_reviews(5, 3)) != list(generate_reviews(5, 2))
    assert list(generate_reviews(0, 2)) == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": -1, "seed": 0},
        {"size": 1.5, "seed": 0},
        {"size": 1, "seed": None},
    ],
)
def test_rejects_what_is_no_number(arguments):
    with pytest.raises(ValueError, match="integer of 0 or more. Received"):
        generate_reviews(**arguments)


def without_case(tokens):
    return [token.lower() for token in tokens]


@pytest.mark.parametrize(
    "vectorizer",
    [
        CountVectorizer(analyzer=without_case),
        TfidfVectorizer(
            tokenizer=str.split, token_pattern=None, ngram_range=(1, 2)
        ),
    ],
    ids=["words", "words and pairs"],
)
def test_a_bag_of_words_falls_short(vectorizer):
    reviews = list(generate_reviews(2500, 1))
    tokens = [review.tokens for review in reviews]
    if isinstance(vectorizer, TfidfVectorizer):
        tokens = [" ".join(row) for row in tokens]
    labels = [review.label for review in reviews]
    model = make_pipeline(vectorizer, LogisticRegression(max_iter=300))
    model.fit(tokens[:2000], labels[:2000])
    # Above chance, or the test would not know a broken corpus.
    assert 0.3 < model.score(tokens[2000:], labels[2000:]) < 0.65
