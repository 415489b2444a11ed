"""Answers as plain values, for JSON."""

from __future__ import annotations

import math
from typing import Any

from demur.types import Abstention, Answer, Candidate, Span


def as_plain(result: Answer | Abstention) -> dict[str, Any]:
    """The question, whether and why there is no answer, the answer, and the ranking, ready for JSON."""
    judged = {
        "confidence": finite(result.confidence),
        "certificate": None if result.certificate is None else dict(result.certificate),
    }
    answer = None
    if isinstance(result, Answer):
        answer = _passage(result.candidate, result.score) | judged
    return {
        "question": result.question,
        "abstained": answer is None,
        "reason": result.reason if isinstance(result, Abstention) else None,
        **judged,
        "answer": answer,
        "ranking": [_passage(candidate, score) for candidate, score in result.ranking],
    }


def _passage(candidate: Candidate, score: float) -> dict[str, Any]:
    span: Span | None = candidate.extra["span"]
    return {
        "id": candidate.id,
        "text": candidate.text,
        "span": span and {"start": span.start, "end": span.end, "text": span.text},
        **{key: candidate.extra[key] for key in ("source", "line", "heading", "copies")},
        "score": score,
        "matched": list(candidate.extra["matched"]),
        "coverage": candidate.extra["coverage"],
    }


def finite(number: float | None) -> float | None:
    """The number, or None where JSON has none: it may be infinite, or no number."""
    return number if number is not None and math.isfinite(number) else None
