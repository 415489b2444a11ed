"""Sentence splitting by rule: a stop ends a sentence unless what stands around it says otherwise.

The rules favour keeping a sentence whole. An abbreviation before a name (``Dr. No``), an initial (``J. R. R.
Tolkien``) and a stop before a small letter end nothing; what may end a sentence (``U.S.``, ``Inc.``) does so
only before a word that often begins one (``The``, ``It``).
"""

from __future__ import annotations

import re

from demur.types import Span


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS = _words("jan feb mar apr jun jul aug sep sept oct nov dec")
# Never the last word of a sentence.
_TITLES = _words("""
    adm brig capt cdr cmdr col dr drs fr gen gov hon lt maj messrs mlle mme mr mrs ms msgr prof rep rev
    sen sgt supt approx ca cf e.g eg esp i.e ie incl resp v viz vs""")
# Part of a number where a number follows: No. 5, pp. 12, Sept. 11, d. 1861.
_NUMBERED = _MONTHS | _words("""
    app art b c ch chap d ed eq est fig figs fl n no nos op p par pp pt r rs sec sect ver vol vols""")
# May end a sentence, but more often does not.
_SOMETIMES = _MONTHS | _words("""
    al alt assn assoc ave ba bldg blvd bros co corp dept dist div etc ft hwy inc intl jr km ltd ma mm mt
    mts natl no ph ph.d phd plc pres pty rd repr rt sq sr st ste tel trans univ""")
# Words with which sentences begin and names do not go on.
_STARTERS = _words("""
    a according after all also although among an and another as at because before both but by despite
    during each even every for from furthermore he her here his how however i if in instead it its later
    many meanwhile more moreover most much no nevertheless not of on one only other our over she since so
    some such that the their then there therefore these they this those though through thus to today two
    under unlike until we what when where whether which while who why with within without yet you your""")

_CLOSING = r"""(?:["'”’»)\]}]|\[[^\[\]\n]{1,30}\])*"""
_CANDIDATE = re.compile(
    rf"""
      # Latin, Arabic, Urdu and Devanagari stops, then space; possessive, so that a million dots cost no more
      (?P<stop> (?<!\.[ \u00a0]) \. (?:[ \u00a0]\.)++ | (?<![.!?…؟۔।॥]) [.!?…؟۔।॥]++ ) {_CLOSING} (?=\s|\Z)
    | [。！？｡]+ [」』”’）】》)"']*                               # no space follows these
    | \n[ \t\r]*\n | \n(?=[ \t]*(?:[-*•·]|\d{{1,3}}[.)])\s)   # an empty line, an item of a list
    """,
    re.VERBOSE,
)
_NEXT = re.compile(r"""\s*["“‘«'(\[{¿¡*_]*(?:(?P<word>\w[\w'’-]*)(?P<dot>\.)?|(?P<joint>[,;:)\]–—-]))?""")
_WORD_BEFORE = re.compile(r"""[^\s"“”'‘’()\[\]{}«»/–—-]*\Z""")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_LONGEST_WORD = 24
_LONGEST_ASIDE = 300


def sentences(text: str) -> list[Span]:
    """The sentences of a text, in order: together they hold everything but the white space between them."""
    places: list[tuple[int, int]] = []
    start = 0
    for found in _CANDIDATE.finditer(text):
        if _ends(text, start, found):
            _add(places, text, start, found.end())
            start = found.end()
    _add(places, text, start, len(text))
    return [Span(start, end, text[start:end]) for start, end in places]


def _add(places: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    end -= len(piece) - len(piece.rstrip())
    start += len(piece) - len(piece.lstrip())
    if start >= end:
        return
    if places and not any(map(str.isalnum, text[start:end])):
        start = places.pop()[0]  # dots or quotes alone belong to what they follow
    places.append((start, end))


def _ends(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` ends with this match."""
    if found[0].startswith("\n"):
        return True
    if _aside(text, start, found):
        return False
    after = _NEXT.match(text, found.end())
    if found["stop"] is None or after is None:
        return True
    word = after["word"] or ""
    if after["joint"] or (word[:1].islower() and word == word.lower()):
        return False
    if found["stop"] != ".":
        return text[found.start() - 1 : found.start()] not in ("(", "[")  # a cut in a quotation: [...]
    initial = len(word) == 1 and after["dot"] is not None
    return _full_stop(text, start, found.start(), word, word.lower() in _STARTERS and not initial)


def _aside(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether the stop stands in brackets that opened within this sentence and close soon."""
    opened = text.rfind("(", max(start + 1, found.start() - _LONGEST_ASIDE), found.start())
    return (
        opened > 0
        and text.find(")", opened, found.end()) < 0
        and text.find(")", found.end(), opened + _LONGEST_ASIDE) >= 0
    )


def _full_stop(text: str, start: int, stop: int, word: str, starter: bool) -> bool:
    """Whether one dot ends a sentence, judged by the words on both sides of it."""
    found = _WORD_BEFORE.search(text, max(start, stop - _LONGEST_WORD), stop)
    before = found[0] if found else ""
    key = before.lower()
    begin = stop - len(before)
    earlier = text[max(start, begin - 8) : begin].rstrip()
    if len(before) <= 2 and (before.isdigit() or len(before) == 1) and earlier[-1:] in ("", ":", ";"):
        return False  # the number of an item: "1. Open the box."
    if key in _TITLES or (key in _NUMBERED and word[:1].isdigit()):
        return False
    if key == "no" and before != "No":
        return True
    initial = len(before) == 1 and before.isupper()
    return starter if initial or key in _SOMETIMES or _DOTTED.fullmatch(before) else True
