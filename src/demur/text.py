"""Words of a text: one tokeniser for all of demur.

Characters are of three kinds. Letters, digits and their marks run together into words, so that vowel signs
and accents never split one. Chinese and Japanese characters and emoji, which are written without spaces,
stand alone. Everything else separates. Case is folded, and composed and decomposed accents are one.
`tokens` does the same for many texts at once, in numpy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from threading import Lock

from demur.errors import UnknownName

SEPARATES, RUNS, ALONE = 0, 1, 2

_STOPWORDS = """
a about above after again against all also am an and any are aren as at be because been before being
below between both but by can cannot could couldn d did didn do does doesn doing don down during
each either etc few for from further had hadn has hasn have haven having he her here hers herself
him himself his how however i if in into is isn it its itself just ll m may me might more most must
my myself neither no nor not now of off on once one only or other ought our ours ourselves out over
own per re s same shall she should shouldn so some such t than that the their theirs them themselves
then there these they this those through to too under until up upon us ve very was wasn we were
weren what whatever when where whether which while who whoever whom whose why will with within
without won would wouldn yes yet you your yours yourself yourselves
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""English function and question words: they say nothing about what a question is about."""


def kind(character: str) -> int:
    """How a character takes part in words: it SEPARATES them, RUNS on, or stands ALONE."""
    category = unicodedata.category(character)
    if category[0] in "LNM":
        written_without_spaces = unicodedata.name(character, "").startswith(("CJK", "HIRAGANA", "KATAKANA"))
        return ALONE if written_without_spaces else RUNS
    return ALONE if category == "So" else SEPARATES


def fold(text: str) -> str:
    """The text with case folded and accents composed, as words are compared."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def token_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Each word as it is compared, with where it starts and ends in the text as written."""
    start = None
    for place, character in enumerate(text):
        this = kind(character)
        if start is not None and this != RUNS:
            yield fold(text[start:place]), start, place
            start = None
        if this == ALONE:
            yield fold(character), place, place + 1
        elif this == RUNS and start is None:
            start = place
    if start is not None:
        yield fold(text[start:]), start, len(text)


def tokenize(text: str) -> list[str]:
    """The words of a text, as they are compared."""
    return [word for word, _, _ in token_spans(fold(text))]


# What a question says is all that stands there, but for what is not seen, other spellings of one sign, and
# punctuation that does nothing but part words and sentences. A sign is left out only where it is known to
# mean nothing: two questions taken for one are worse than one question taken for two.
_UNSEEN = [0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, 0xFE0E, 0xFE0F]  # soft hyphens, marks of direction
_UNSEEN += [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]
_FULL_WIDTH = {sign + 0xFEE0: sign for sign in range(ord("!"), ord("~") + 1)}
_SPELLINGS: dict[int, str | int | None] = {**_FULL_WIDTH, **dict.fromkeys(_UNSEEN)}
for _signs, _as in {
    "\u2212\u2010\u2011\u2013\u2014\u2015": "-",  # a minus sign and dashes
    "\u2018\u2019\u201a\u201b\u2032\u00b4\u02bc": "'",
    "\u201c\u201d\u201e\u2033\u05f4«»": '"',
    "•`¿¡。、「」『』《》": " ",
    "\u061f": "?",
    "\u060c": ",",
    "\u061b": ";",
    "\u0964": ".",
    "…": "...",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "ς": "σ",
}.items():
    _SPELLINGS |= dict.fromkeys(map(ord, _signs), _as)
_SPELLINGS |= {ord(sign): f"{chr(ord(sign) - 0xFEE0)} " for sign in "\uff0c\uff0e\uff01\uff1f\uff1b"}
_IDLE = re.compile(
    r"""
    (?: (?<=\w) | (?<=[\w.!?]["')\]]) | (?<=[)\]%°€$£+#*]) )
      (?! (?<=\d)(?<!\d\d\d)! ) [.,;:!?]+ (?=["')\]]*(?:\s|$))  # ends a word or sentence; but 5! is not 5
    | \s[.,;:!?](?=\s*$)  # the same, as the French set it
    | (?<!\d)["']+  # quotation marks and apostrophes; but 5' is not 5"
    | (?<![^\s"'(\[])\((?=[\w"'$€£]) | (?<=[\w.!?"'%°€$£])\)(?![^\s.,;:!?"')\]])  # brackets round words
    | (?<=[^\W\d_])-(?=\w) | (?<=\w)-(?=[^\W\d_])  # in drop-off and covid-19; but 24-7 is not 24 7
    """,
    re.VERBOSE,
)


def said(text: str) -> tuple[str, ...]:
    """Words whatever their case, and signs that may mean something, in order: C++ and C#, $50 and $.50."""
    text = unicodedata.normalize("NFC", text.lower().translate(_SPELLINGS)).replace("i\u0307", "i")
    text = _IDLE.sub(" ", text)
    found: list[str] = []
    behind = 0
    for _, start, end in token_spans(text):
        found += [*"".join(text[behind:start].split()), text[start:end]]
        behind = end
    return (*found, *"".join(text[behind:].split()))


def bare(text: str) -> str:
    """The words and signs alone, of a text in whatever case and punctuation."""
    return " ".join(said(text))


@cache
def stemmer(language: str) -> Callable[[str], str]:
    """What cuts the endings of a language's words, as Snowball does; ``none`` cuts nothing."""
    if language == "none":
        return str
    import snowballstemmer

    if language not in snowballstemmer.algorithms():
        raise UnknownName("language to stem", language, [*snowballstemmer.algorithms(), "none"])
    cut, alone = snowballstemmer.stemmer(language).stemWord, Lock()

    @lru_cache(maxsize=1 << 17)
    def stem(word: str) -> str:
        with alone:  # it keeps the word in itself while it cuts it
            return str(cut(word))

    return stem


def content(words: Iterable[str]) -> list[str]:
    """The words that carry meaning: those that are no stop words."""
    return [word for word in words if word not in STOPWORDS]
