"""Edits of one text: typos, other spellings of the same, and changes of what is said."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from demur.text import STOPWORDS, token_spans

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_IN_WORDS = {str(number): word for number, word in enumerate(_SMALL.split(" "))}
_NUMBER = re.compile(r"(?<![\w.,:/$£€-])(\d{1,2})(?![\w%:/-]|[.,]\d)")
_ANY_NUMBER = re.compile(r"\d+")

_VERBS = "is are was were does did has had have could would should"
_SHORT = {
    **{f"{verb} not": f"{verb}n't" for verb in _VERBS.split(" ")},
    **{"do not": "don't", "cannot": "can't", "will not": "won't", "it is": "it's", "that is": "that's"},
    **{
        "there is": "there's",
        "what is": "what's",
        "who is": "who's",
        "where is": "where's",
        "they are": "they're",
    },
    **{"we are": "we're", "you are": "you're", "i am": "i'm", "i have": "i've", "let us": "let's"},
}
_LONG = {short: long for long, short in _SHORT.items()}

_FIRST_NAMES = (
    "James Mary John Linda Robert Susan Michael Karen David Nancy William Lisa Richard Betty Thomas "
    "Helen Charles Sandra Daniel Donna Matthew Carol Anthony Ruth Steven Sharon Paul Laura Andrew "
    "Sarah Kenneth Kimberly George Deborah Edward Emily Brian Jessica Ronald Michelle Timothy Amanda "
    "Jason Melissa Jeffrey Rebecca Ryan Jacob Stephanie Gary Cynthia Eric Kathleen Stephen Amy Larry "
    "Angela Justin Shirley Scott Anna Brandon Brenda Benjamin Pamela Samuel Emma Gregory Nicole Frank "
    "Virginia Alexander Katherine Patrick Christine Henry Walter Rachel Peter Janet Harold Maria "
    "Douglas Heather Carl Diane Arthur Julie Albert Joyce Louis Victoria"
)
NAMES = tuple(_FIRST_NAMES.split(" "))
"""First names that are changed for one another."""
_NAME = re.compile(rf"\b(?:{'|'.join(NAMES)})\b")


def typos(text: str, share: float, draws: np.random.Generator) -> str:
    """The text with one typo in so large a share of its words, at least in one; stop words have none.

    A typo swaps two neighbouring letters, or puts another in place of one, drops or adds one. No word
    has two.
    """
    spans = [
        (start, end) for word, start, end in token_spans(text) if end - start > 1 and word not in STOPWORDS
    ]
    count = min(max(1, round(share * sum(1 for _ in token_spans(text)))), len(spans))
    if not count or share <= 0:
        return text
    for place in sorted(draws.choice(len(spans), count, replace=False).tolist(), reverse=True):
        start, end = spans[place]
        text = text[:start] + _slip(text[start:end], draws) + text[end:]
    return text


def _slip(word: str, draws: np.random.Generator) -> str:
    slipped = word
    for _ in range(8):  # two letters that swap may be the same
        slipped = slipped if slipped != word else _slipped(word, draws)
    return slipped


def _slipped(word: str, draws: np.random.Generator) -> str:
    kind, at = int(draws.integers(4)), int(draws.integers(len(word)))
    letter = chr(97 + int(draws.integers(26)))
    if kind == 0:
        at = min(at, len(word) - 2)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind == 1:
        return word[:at] + letter + word[at + 1 :]
    return word[:at] + word[at + 1 :] if kind == 2 else word[:at] + letter + word[at:]


def shortened(text: str) -> str:
    """``do not`` as ``don't`` and its like, wherever they stand."""
    return _replaced(text, _SHORT)


def lengthened(text: str) -> str:
    """``don't`` as ``do not`` and its like, wherever they stand."""
    return _replaced(text, _LONG)


def numbers_in_words(text: str) -> str:
    """Whole numbers up to twenty in words: ``7 wins`` as ``seven wins``."""
    return _NUMBER.sub(lambda found: _IN_WORDS.get(found[1], found[1]), text)


def numbers_changed(text: str, draws: np.random.Generator) -> str:
    """Other digits in each number, as many as before: what the text says is another thing."""
    return _ANY_NUMBER.sub(lambda found: _other_digits(found[0], draws), text)


def renaming(texts: Sequence[str], draws: np.random.Generator) -> Callable[[str], str]:
    """A change of the first names in some texts, each for one that stands in none: the same in all."""
    found = sorted({name for text in texts for name in _NAME.findall(text)})
    free = [name for name in NAMES if name not in found]
    chosen = draws.permutation(len(free))[: len(found)].tolist()
    others = {name: free[place] for name, place in zip(found, chosen, strict=False)}
    return lambda text: _NAME.sub(lambda name: others.get(name[0], name[0]), text)


def _other_digits(number: str, draws: np.random.Generator) -> str:
    digits = [unicodedata.digit(character) for character in number]
    return "".join(str((digit + int(draws.integers(1, 9))) % 10 or 1) for digit in digits)


def _replaced(text: str, pairs: Mapping[str, str]) -> str:
    def other(found: re.Match[str]) -> str:
        new = pairs.get(found[0].lower().replace("’", "'"))
        if new is None:  # letters that only look alike to the expression, as ı is i to it
            return found[0]
        return new[0].upper() + new[1:] if found[0][0].isupper() else new

    known = "|".join(map(re.escape, pairs)).replace("'", "['’]")
    return re.sub(rf"(?<!\w)(?:{known})(?!\w)", other, text, flags=re.IGNORECASE)
