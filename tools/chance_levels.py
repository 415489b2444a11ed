"""Which signals make the first passage likely: those that tell right from wrong best on dev sets left out.

More signals make it likelier on the sets that they are learnt on, and may be worse on all others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from demur.asking.meaning.chance import READ, ahead, among
from demur.asking.meaning.lacks import LACKS
from demur.logistic import fit, softened
from demur.types import FloatArray
from tools.chance_data import Seen

CHOICES = (
    ("score", "meaning"),
    ("score", "quote", "meaning"),
    ("score", "quote", "meaning", "words"),
    ("score", "meaning", "meaning among"),
    ("score", "quote", "meaning", "meaning among"),
    ("score", "meaning", "meaning among", "words among"),
    ("score", "quote", "meaning", "meaning among", "words among"),
    ("score", "quote", "meaning", "words", "meaning among", "words among"),
)
FAQ_CHOICES = (
    ("meaning",),
    ("text",),
    ("text", "names"),
    ("text", "odd pair"),
    ("text", "odd pair", "names"),
    ("text", "odd pair", "added"),
    ("text", *LACKS),
)
"""For rows of an FAQ; the last is taken."""
EQUAL = 2520
"""Questions that each set counts for, however many it has."""
Firsts = tuple[FloatArray, FloatArray]
"""Of each question the lead and the signals of the first candidate, twice, and whether it is right."""


def firsts(some: Sequence[Seen], signals: tuple[str, ...], rank: FloatArray) -> Firsts:
    """Each question with all its candidates, and with the right ones removed, if it has any."""
    rows, labels = [], []
    standing = [READ.index("words among"), READ.index("meaning among")]
    for each in some:
        every = np.ones(len(each.right), np.bool_)
        for there in (every, each.right == 0) if each.positives else (every,):
            table = each.table[there]
            if len(table):
                table[:, standing] = among(table[:, :2])
                table = chosen(table, signals)
                ranks = table @ rank
                rows.append(np.append(ahead(ranks)[ranks.argmax()], table[ranks.argmax()]))
                labels.append(each.right[there][ranks.argmax()])
    return np.array(rows), np.array(labels)


def chosen(table: FloatArray, signals: tuple[str, ...]) -> FloatArray:
    """The signals of these names."""
    return table[:, [(*READ, *LACKS).index(name) for name in signals]]


def levels(sets: Sequence[Firsts]) -> tuple[FloatArray, float]:
    """The weights of all signals that are read, and the constant, by the best of the choices."""
    names = max(CHOICES, key=lambda each: float(np.mean(left_out(sets, each))))
    return _fitted(sets, names)


def left_out(sets: Sequence[Firsts], names: tuple[str, ...]) -> list[float]:
    """The AUROC on each set of what these signals learn from all others."""
    found = []
    for number, (rows, labels) in enumerate(sets):
        weights, constant = _fitted([*sets[:number], *sets[number + 1 :]], names)
        found.append(told_apart(rows[:, 1:] @ weights + constant, labels))
    return found


def told_apart(odds: FloatArray, labels: FloatArray) -> float:
    """AUROC: how often one that is right is likelier than one that is wrong."""
    right, wrong = odds[labels > 0][:, None], odds[labels == 0]
    return float(((right > wrong) + (right == wrong) / 2).mean())


def _fitted(sets: Sequence[Firsts], names: tuple[str, ...]) -> tuple[FloatArray, float]:
    places = [READ.index(name) for name in names]
    table = np.concatenate([np.resize(rows[:, 1:], (EQUAL, len(READ)))[:, places] for rows, _ in sets])
    labels = np.concatenate([np.resize(right, EQUAL) for _, right in sets])
    slopes, constant = fit(table, softened(labels), intercept=True)
    weights = np.zeros(len(READ))
    weights[places] = slopes
    return weights, constant
