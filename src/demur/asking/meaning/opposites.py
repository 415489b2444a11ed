"""Small words that make another question: *check out* for *check in*, *PDF to Word* for *Word to PDF*."""

from __future__ import annotations

import re

_GROUPS = tuple(
    frozenset(each.split())
    for each in (
        *("in out", "in up", "out up", "up down", "on off", "to from", "with without"),
        *("before after during", "above below", "over under", "inside outside"),
        *("more less fewer", "most least", "minimum maximum"),
        *("first second third fourth fifth last",),
        *("enable disable", "enabled disabled", "increase decrease", "upgrade downgrade"),
    )
)
_ONE = re.compile(r"\bfill\w*(?:\s+\w+){0,3}?\s+(?:in|out|up)\b|\bdifferent\s+(?:to|from)\b", re.I)
"""Where they are one: *fill it in* and *fill it out*."""
_TO = re.compile(r"\b([^\W_]+)(?= +(?:in)?to +(?:(?:an?|the|my|our|your) +)?([^\W_]+))")
_WORD = re.compile(r"[^\W\d_]+")
_ANY = re.compile(rf"\b(?:{'|'.join(sorted(frozenset().union(*_GROUPS)))})\b", re.I)


def opposed(one: str, other: str) -> bool:
    """Whether one text says *in* where the other says *out*, or the like."""
    here, there = (frozenset(_WORD.findall(_ONE.sub(" ", each.lower()))) for each in (one, other))
    return any(here & each and there & each and not here & there & each for each in _GROUPS)


def turned(one: str, other: str) -> bool:
    """Whether one text says *PDF to Word* where the other says *Word to PDF*."""
    here, there = (set(_TO.findall(each.lower())) for each in (one, other))
    back = {(end, start) for start, end in there}
    return bool(here & back) and not here & there


def without_opposites(text: str) -> str:
    """A text without these words."""
    return " ".join(_ANY.sub(" ", text).split())
