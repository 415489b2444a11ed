"""The clean-up of texts that the scarce-annotations paper does before it looks up word vectors.

Its steps, in its order (Vallee and others, SIGIR 2019, §3.3, and their code):

1.  Lower case.
2.  ``http://…`` and ``https://…`` become ``_url_``.
3.  ``[img…]`` becomes ``_img_``.
4.  ``@`` with what follows it becomes ``_atsomeone_``.
5.  Four numbers with dots between them become ``_ip_``.
6.  ``:)`` and ``;)`` become the word ``_smileypos_``, ``:(`` and ``;(`` become ``_smileyneg_``.
7.  Underscores in a row become one; ``&#39;`` becomes an apostrophe with a space before it.
8.  A dot or comma between two digits becomes an underscore.
9.  Other ``. ? ! , ; : = < > ( ) "`` become one of a row, with spaces around; hyphens and tildes become one
    of a row; asterisks become spaces.
10. A space comes after each apostrophe.
11. Accents go: characters are decomposed (NFD) and combining marks, ``°``, ``§`` and ``¨`` dropped.
12. What white space parts is a word, unless it is a stop word or a punctuation mark.

Three things differ from the paper's code. It replaces every other comma of ``1,234,567`` only, as its pattern
eats digits; it reads curly quotes in the wrong encoding; and it leaves letters of other scripts, such as
Korean, decomposed. Here all commas are replaced, curly quotes are quotes, and what is left is composed again.

`text.tokenize` is demur's own way to words; this one is for comparison with the paper, and for its vectors.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterator

_STOPWORDS = """
a about above after again against ain all am an and any are aren aren't as at be because been before being
below between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing don don't down
during each few for from further had hadn hadn't has hasn hasn't have haven haven't having he her here hers
herself him himself his how i if in into is isn isn't it it's its itself just ll m ma me mightn mightn't more
most mustn mustn't my myself needn needn't no nor not now o of off on once only or other our ours ourselves
out over own re s same shan shan't she she's should should've shouldn shouldn't so some such t than that
that'll the their theirs them themselves then there these they this those through to too under until up ve
very was wasn wasn't we were weren weren't what when where which while who whom why will with won won't
wouldn wouldn't y you you'd you'll you're you've your yours yourself yourselves
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""NLTK's 179 English stop words. Apostrophes part words before, so that the 26 that have one never occur."""

_PUNCTUATION = frozenset(string.punctuation)
_DROPPED = STOPWORDS | _PUNCTUATION

# Steps 2 to 7: what must stand in a text for the step to be worth trying, what it replaces, and by what.
_TAGS = (
    ("http", re.compile(r'https?://[^ "]*'), "_url_"),
    ("[img", re.compile(r"\[img[^ \]]*\]"), "_img_"),
    ("@", re.compile(r'@[^ "]*'), "_atsomeone_"),
    (".", re.compile(r"\d\d*\.\d+\.\d+\.\d+"), "_ip_"),
    (";)", re.compile(r";\)"), " _smileypos_ "),
    (":)", re.compile(r":\)"), " _smileypos_ "),
    (";(", re.compile(r";\("), " _smileyneg_ "),
    (":(", re.compile(r":\("), " _smileyneg_ "),
    ("__", re.compile(r"__+"), "_"),
    ("&#39;", re.compile(r"&#39;"), " '"),
)
# Step 8 keeps every character's place; what step 9 shortens comes after it.
_IN_NUMBER = re.compile(r"[.,](?<=\d[.,])(?=\d)")
_ROWS = (("--", re.compile(r"--+"), "-"), ("~~", re.compile(r"~~+"), "~"))
# Steps 9, 10 and 12: a mark with spaces around it is dropped in the end, so spaces alone do. Twice the same,
# as the first is faster and the second tells places.
_SPACED = str.maketrans(dict.fromkeys('.?!,;:=<>()"“”*', " "))
_WORD = re.compile(r"""[^\s.?!,;:=<>()"“”*']+'?|'""")
_MARKS = re.compile("[\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f°§¨]")


def clean(text: str, stopwords: bool = False) -> list[str]:
    """The words that the clean-up leaves of a text; with `stopwords`, those too."""
    text = text.lower()
    for sign, pattern, tag in _TAGS:
        if sign in text:
            text = pattern.sub(tag, text)
    text = _IN_NUMBER.sub("_", text)
    for sign, pattern, one in _ROWS:
        if sign in text:
            text = pattern.sub(one, text)
    words = text.translate(_SPACED).replace("'", "' ").split()
    if not text.isascii():
        words = [plain for word in words if (plain := _without_accents(word))]
    dropped = _PUNCTUATION if stopwords else _DROPPED
    return [word for word in words if word not in dropped]


def clean_spans(text: str, stopwords: bool = False) -> Iterator[tuple[str, int, int]]:
    """The words of `clean`, each with where it starts and ends in the text as written.

    A tag has the place of what it stands for.
    """
    lowered, places = _lowered(text)
    for sign, pattern, tag in _TAGS:
        if sign in lowered:
            lowered, places = _replaced(lowered, places, pattern, tag)
    lowered = _IN_NUMBER.sub("_", lowered)
    for sign, pattern, one in _ROWS:
        if sign in lowered:
            lowered, places = _replaced(lowered, places, pattern, one)
    dropped = _PUNCTUATION if stopwords else _DROPPED
    for match in _WORD.finditer(lowered):
        word = match[0] if match[0].isascii() else _without_accents(match[0])
        if word and word not in dropped:
            start, end = match.span()
            yield (word, start, end) if places is None else (word, places[start][0], places[end - 1][1])


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", word)))


_Places = list[tuple[int, int]] | None
"""Per character, where what it stands for starts and ends in the text as written; None: at its own place."""


def _lowered(text: str) -> tuple[str, _Places]:
    """The text in lower case; a few letters become two."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered, None
    return lowered, [(at, at + 1) for at, letter in enumerate(text) for _ in letter.lower()]


def _replaced(text: str, places: _Places, pattern: re.Pattern[str], by: str) -> tuple[str, _Places]:
    """The text with a pattern replaced, and the places of its characters."""
    old = [(at, at + 1) for at in range(len(text))] if places is None else places
    parts: list[str] = []
    new: list[tuple[int, int]] = []
    done = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        parts += (text[done:start], by)
        new += old[done:start]
        new += [(old[start][0], old[end - 1][1])] * len(by)
        done = end
    return "".join(parts) + text[done:], new + old[done:]
