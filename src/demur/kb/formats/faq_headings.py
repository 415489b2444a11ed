"""Questions with their answers below them, as FAQs have them: headings and bold lines that ask, Q: and A:."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from demur.kb.passages import LONG, Passage

LONGEST = 4 * LONG
"""Characters of an answer: more is a chapter, whose heading happens to ask."""
LINE = 3
"""Words of a bold line that asks; fewer, such as **Why?**, belong to the text around them."""

_MARK = r"\s*(?P<bold>\*\*|__|\*|_|)(?:{})\s*\d{{0,3}}\s*(?:[:：](?P=bold)|(?P=bold)\s*[:：])\s*"
ASKS = re.compile(_MARK.format("Q|Question|Frage"), re.I)
"""What a line that asks may begin with: ``Q:``, ``Question 3:`` or ``**Q:**``."""
ANSWERS = re.compile(_MARK.format("A|Answer|Antwort"), re.I)
_ENDS = re.compile(r"[?？؟][\s*_\"'”’»)\]:]*\Z")
_NUMBER = re.compile(
    r"\s*(?:(?:Q|Question|Frage)\s*\d{0,3}\s*[.:)]|\d{1,3}(?:\.\d{1,3})*[.:)](?=\s)|\d{1,3}(?:\.\d{1,3})+\s)\s*",
    re.I,
)


def asking(title: str, least: int = 1) -> str:
    """The question that a heading or line asks, without its number; nothing if it asks none."""
    if not _ENDS.search(title):
        return ""
    question = _NUMBER.sub("", title, count=1) if _NUMBER.match(title) else title
    return question.strip() if len(re.findall(r"\w+", question)) >= least else ""


def joined(passages: Iterable[Passage], known: Collection[str] = ()) -> Iterator[Passage]:
    """The passages, those of one answer joined as far as a passage goes: so an answer is met as one.

    Where too much stands below a question it is a heading only, unless it is one of those that are `known`.
    """
    for (question, _), group in groupby(passages, lambda each: (each.question, each.heading)):
        some = list(group)
        if question and question not in known and sum(len(each.text) for each in some) > LONGEST:
            yield from (replace(each, question="") for each in some)
        elif question:
            yield from _packed(some)
        else:
            yield from some


def _packed(parts: list[Passage]) -> Iterator[Passage]:
    held = parts[0]
    for each in parts[1:]:
        text = f"{held.text}\n\n{each.text}"
        if len(text) <= LONG:
            held = replace(held, text=text)
        else:
            yield held
            held = each
    yield held
