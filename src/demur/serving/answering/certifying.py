"""From labels to a gate: what certifies, what it comes to, and how it is kept."""

from __future__ import annotations

from collections.abc import Sequence

from demur.asking.gates.labels import Labelled, fresh, parted
from demur.asking.gates.missing import missing_labels
from demur.errors import NoThreshold, UsageError
from demur.kb.folder import KnowledgeBase
from demur.risk.gates.certificate import percent
from demur.risk.gates.gate import Gate, calibrate
from demur.risk.thresholds.bounds import accepted_needed
from demur.risk.thresholds.control import STARTS
from demur.serving.answering.base import Base
from demur.serving.answering.labelling import Desk


def calibrated(base: Base, desk: Desk, known: Sequence[Labelled], risk: float, confidence: float) -> Gate:
    """The gate that the certifying labels make; the others place the thresholds."""
    certify, fit = map(desk.judged, parted(known))
    delta = 1 - confidence
    if len(certify) < (accepted_needed(0.0, risk, delta) or 1):  # as few carry none, wherever one starts
        what = f"{len(certify)} labelled questions count for a promise"
        asked = f"at most {percent(risk)} wrong answers takes {accepted_needed(0.0, risk, delta / STARTS)}"
        more = missing_labels(None, len(certify), risk, delta)
        raise UsageError(f"{what}, and one of {asked}, even if none is wrong; label about {more} more")
    try:
        return calibrate(
            base.search,
            certify,
            risk,
            confidence,
            qualifier=base.qualifier,
            grid=fit if any(map(len, fit)) else None,
            data=base.data(),
        )
    except NoThreshold as error:
        more = desk.missing_labels(known, risk, confidence)
        raise NoThreshold(risk, confidence, len(certify), error.lowest, more, fewest=error.fewest) from None


def labels_for_a_gate(kb: KnowledgeBase) -> list[Labelled]:
    """The labels that hold, if a gate made of them could be kept."""
    kb.check_writable()  # before minutes of work
    return fresh(kb)
