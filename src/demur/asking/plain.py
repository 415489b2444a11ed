"""Answers as plain values, for JSON."""

from __future__ import annotations

import math
from typing import Any

from demur.asking.quoting import also_answers, same
from demur.asking.reading import Look
from demur.types import Abstention, Answer, Candidate, Span


def as_plain(result: Answer | Abstention) -> dict[str, Any]:
    """The question, whether and why there is no answer, the answer, and the ranking, ready for JSON."""
    judged = {
        "confidence": finite(result.confidence),
        "threshold": finite(result.threshold),
        "certificate": None if result.certificate is None else dict(result.certificate),
    }
    answer = None
    if isinstance(result, Answer):
        there = same(result.question, result.candidate.extra["heading"])
        others = sum(also_answers(result.candidate, each) for each, _ in list(result.ranking)[1:])
        others += result.candidate.extra.get("also_answered_by", 0)
        facts = {"same_question": there, "also_answered_by": others}
        answer = _passage(result.candidate, result.score) | judged | facts
    return {
        "question": result.question,
        "abstained": answer is None,
        "reason": result.reason if isinstance(result, Abstention) else None,
        **judged,
        "answer": answer,
        "nearest": _nearest(result) if isinstance(result, Abstention) else None,
        "ranking": [_passage(candidate, score) for candidate, score in result.ranking],
    }


def _nearest(result: Abstention) -> dict[str, Any] | None:
    """What came nearest, if anything did."""
    return _passage(*next(iter(result.ranking))) if result.ranking.candidates else None


def _passage(candidate: Candidate, score: float) -> dict[str, Any]:
    """A passage; `read` says what a reader made of it, and is null where none has read it."""
    look: Look | None = candidate.extra.get("look")
    return {
        "id": candidate.id,
        "text": candidate.text,
        "span": _span(candidate.extra["span"]),
        "sentence": _span(candidate.extra["sentence"]),
        **{key: candidate.extra[key] for key in ("source", "line", "heading", "copies")},
        "score": finite(score),
        "read": look and {"answers": look.span is not None, "confidence": finite(look.confidence)},
        **_known(candidate),
        "matched": list(candidate.extra["matched"]),
        "coverage": candidate.extra["coverage"],
    }


def _known(candidate: Candidate) -> dict[str, Any]:
    """What a passage's chance stands on, and what each adds to the log of the odds; nothing without one."""
    if "signals" not in candidate.extra:
        return {}
    said = {"known": dict(candidate.extra["signals"]), "adds": dict(candidate.extra["adds"])}
    return said | ({"cut": candidate.extra["cut"]} if candidate.extra.get("cut") else {})


def _span(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else {"start": span.start, "end": span.end, "text": span.text}


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has none: it may be infinite, or no number."""
    return number if number is not None and math.isfinite(number) else None
