"""What `demur ask --explain` shows: what is known of the two likeliest passages, and what it adds up to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

from demur.errors import count_of
from demur.types import Candidate

TOLD = 2
"""Passages that are explained."""
_NONE = "–"


def reasons(candidates: Sequence[Candidate], words: Sequence[str]) -> Iterator[str]:
    """Why the first passages are likely, a paragraph each; nothing without a chance."""
    told = [each for each in candidates[:TOLD] if "signals" in each.extra]
    if not told:
        return
    first = told[0].extra
    yield _lacking([word for word in words if word not in first["matched"]])
    yield "\n".join(
        f"What is known of passage {number}: {_known(each)}." for number, each in enumerate(told, 1)
    )
    yield _table(told)
    if first["question"]:
        yield f"It answers a question of its own, so the network does not read it: {first['question']}"
    elif "score" not in first["signals"] and not first.get("cut"):
        yield "The network has not read it."
    if "reads" in first:
        ranked = count_of(first["ranked"], "passage")
        yield f"The network has read {first['reads'] or 'none'} of the {ranked} that were ranked."
    if cut := first.get("cut"):
        left = count_of(cut, "passage")
        yield f"The budget left {left} unread that would have been read again without one."


def _lacking(words: list[str]) -> str:
    if not words:
        return "The first passage has all words of the question."
    return f"Words of the question that the first passage lacks: {', '.join(words)}."


def _known(candidate: Candidate) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in candidate.extra["signals"].items())


def _table(told: Sequence[Candidate]) -> str:
    """What each part adds to the log of the odds, a column for each passage, the largest first."""
    from demur.logistic import expit
    from demur.risk.gates.certificate import sure

    adds: list[dict[str, float]] = [each.extra["adds"] for each in told]
    size = {name: max(abs(each.get(name, 0)) for each in adds) for each in adds for name in each}
    names = sorted(size, key=lambda name: -size[name])
    sums = [sum(each.values()) for each in adds]
    rows = [
        ("passage", *(str(number) for number in range(1, len(told) + 1))),
        *((name, *(f"{each[name]:+.2f}" if name in each else _NONE for each in adds)) for name in names),
        ("sum", *(f"{total:+.2f}" for total in sums)),
        ("chance", *(sure(float(each.extra["chance"])) for each in told)),
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip() for row in rows
    ]
    others = [
        f"The chance of passage {number} is not what its sum says: {_other(each)}."
        for number, (each, total) in enumerate(zip(told, sums, strict=True), 1)
        if not isclose(float(expit(total)), float(each.extra["chance"]), abs_tol=1e-6)
    ]
    return "\n".join(["What adds up to the log of the odds of each, the largest first:", *lines, *others])


def _other(candidate: Candidate) -> str:
    if "score" in candidate.extra["signals"] or candidate.extra["question"]:
        return "its question is the one that was asked, or it has the code that was, so none is likelier"
    return "the network has not read it, so it is no likelier than those that it has read"
