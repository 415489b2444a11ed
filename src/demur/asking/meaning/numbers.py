"""The numbers of two questions, and whether one of them stands in place of another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?:(?<!\S)(?P<sign>[-−–])[€$£]?)?"
    r"(?P<digits>\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d\d?)?(?!\d)|\d+(?:[.,:]\d+)*)"
    r"(?:\s?(?P<half>[ap])\.?m\b\.?|(?:st|nd|rd|th)\b)?",
    re.I,
)
_GROUPED = re.compile(r"(\d{1,3}([ '’.,])\d{3}(?:\2\d{3})*|\d{1,2}(?:,\d\d)+,\d{3})([.,]\d\d?)?")
_HOUR = re.compile(r"(?<=\d)\s?(?:h|uhr)\s?(?=\d\d\b)", re.I)
_DATE = re.compile(r"(?<![\d./])(\d\d?)([./])(\d\d?)\2((?:19|20)?)(\d\d)(?![\d./]?\d)")
_ISO_DATE = re.compile(r"\b(20\d\d|19\d\d)-(\d\d?)-(\d\d?)\b")
_COUNTED = re.compile(r"^\s*(?:(?:q|question|frage)\s*)?\d{1,2}[.):]\s", re.I)  # as a list counts questions
_NAMED = re.compile(r"(?:\b[Vv]|\b[Vv]ersion|\b[Rr]elease|\S\s+\w*[A-Z]\w*)[\s-]?$")
_SHORTENED = ("-", "'", "’")
_MOST = 64  # numbers of a text that are compared with each other
_NEAR = 40  # characters before a number in which its name is looked for
_TELEPHONE, _CODE = 6, 3
"""Digits of a telephone number, which is no such number as 110, and how many those of its country may be."""

_SMALL = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"
_PLACES = (
    *("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"),
    *("eleventh", "twelfth"),
)
_WORDS = {
    **{word: number for number, word in enumerate(_SMALL, 2)},
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
    **{word: number for number, word in enumerate(_PLACES, 2)},
}
_WORD = re.compile(rf"\b(?:({'|'.join(_TENS)})[ -](one|{'|'.join(_SMALL[:8])})|({'|'.join(_WORDS)}))\b", re.I)
_MANY = re.compile(r"(?<=\d)[ -](hundred|thousand|million)\b", re.I)
_ZEROS = {"hundred": "00", "thousand": "000", "million": "000000"}


@dataclass(frozen=True)
class Number:
    """A number as it is compared, and its digits as they stand."""

    parts: tuple[str, ...]
    """What the marks in it part, without zeros before: 1.10 is ``("1", "10")``."""
    half: str = ""
    """Of a time: ``a`` before noon, ``p`` after."""
    digits: str = ""
    named: bool = False
    """Whether it stands behind a name, or behind the word *version*."""
    short: bool = False
    """Whether it may be a year without its century, as in *Covid-19*."""


def written(text: str) -> str:
    """A text with its numbers in digits, and dates as 24.12 2024."""
    text = _COUNTED.sub("", unicodedata.normalize("NFKC", text))
    text = "".join(str(unicodedata.digit(each, each)) for each in text)
    text = _MANY.sub(lambda at: _ZEROS[at[1].lower()], _WORD.sub(_in_digits, text))
    text = _ISO_DATE.sub(r"\3.\2 \1", _DATE.sub(lambda at: f"{at[1]}.{at[3]} {at[4] or 20}{at[5]}", text))
    return _HOUR.sub(":", text)


def without_numbers(text: str) -> str:
    """A text that is `written`, without its numbers."""
    return " ".join(_NUMBER.sub(" ", text).split())


def numbers(text: str, others: Collection[str] = ()) -> list[Number]:
    """The numbers of a text that is `written`: 1,000, 1.000 and 1000 are one, as are 5.00 and 5, 09 and 9.

    So is 1 000 if its digits are among others; if not, it is two, as in *iPhone 13 128 GB*.
    """
    found = []
    for at in _NUMBER.finditer(text):
        apart = " " in at["digits"] and _digits(at["digits"]) not in others
        before = text[max(0, at.start() - _NEAR) : at.start()]
        named, short = bool(_NAMED.search(before)), before[-1:] in _SHORTENED
        for each in at["digits"].split() if apart else [at["digits"]]:
            first, *rest = _parts(each)
            parts = "-" * bool(at["sign"]) + first, *rest
            found.append(Number(parts, (at["half"] or "").lower(), _digits(each), named, short))
    return found


def differ(question: str, own: str) -> bool:
    """Whether each of two texts that are `written` has a number which the other lacks."""
    asks, has = _both(question, own)
    odd = [each for each in asks if not any(_same(each, other) for other in has)]
    lacked = [each for each in has if not any(_same(other, each) for other in asks)]
    return bool(odd and lacked) and not _one_telephone(asks, has)


def reordered(question: str, own: str) -> bool:
    """Whether two texts that are `written` have the same numbers, but not in the same order."""
    asks, has = ([(_whole(each.parts), each.half) for each in some] for some in _both(question, own))
    return asks != has and sorted(asks) == sorted(has)


def _both(question: str, own: str) -> tuple[list[Number], list[Number]]:
    def joined(text: str) -> set[str]:
        return {_digits(at["digits"]) for at in _NUMBER.finditer(text)}

    return numbers(question, joined(own))[:_MOST], numbers(own, joined(question))[:_MOST]


def _same(asked: Number, row: Number) -> bool:
    """Whether a number of a question is that of a row, or a finer one: iOS 17.4 is an iOS 17."""
    if asked.half and row.half:
        return _by_day(asked) == _by_day(row)
    if asked.half or row.half:
        said, bare = (asked, row) if asked.half else (row, asked)
        return _whole(bare.parts) in (_whole(said.parts), _by_day(said))
    if _whole(asked.parts) == _whole(row.parts):
        return True
    if any(one.short and other.digits == f"20{one.digits}" for one, other in ((asked, row), (row, asked))):
        return True
    finer = (asked.named or len(asked.parts) > 2) and row.parts[-1] != ""
    return finer and asked.parts[: len(row.parts)] == row.parts


def _one_telephone(asks: Sequence[Number], has: Sequence[Number]) -> bool:
    """Whether these are one telephone number, parted in other ways, or with its country."""
    if any(len(each.parts) > 1 for each in (*asks, *has)):
        return False
    short, long = sorted(("".join(each.digits for each in some).lstrip("0") for some in (asks, has)), key=len)
    return len(short) >= _TELEPHONE and long.endswith(short) and len(long) - len(short) <= _CODE


def _by_day(time: Number) -> tuple[str, ...]:
    """A time of twelve hours as one of twenty-four."""
    hour = int(time.parts[0] or 0) % 12 + 12 * (time.half == "p")
    return _whole((str(hour).lstrip("0"), *time.parts[1:]))


def _whole(parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts without zeros at the end: 5.00 is 5."""
    while len(parts) > 1 and not parts[-1]:
        parts = parts[:-1]
    return parts


def _parts(number: str) -> tuple[str, ...]:
    if grouped := _GROUPED.fullmatch(number):
        number = _digits(grouped[1]) + (grouped[3] or "")
    return tuple(each.lstrip("0") for each in re.split(r"\D", number))


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _in_digits(word: re.Match[str]) -> str:
    tens, ones, other = (each and each.lower() for each in word.groups())
    return str(_WORDS[other] if other else _WORDS[tens] + _WORDS.get(ones, 1))
