"""What `demur calibrate` prints with --json."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from demur.cli.printed.answers import Certificate
from demur.risk.gates.planning import Level


class Gate(TypedDict):
    """The gate: its threshold (null where every answer passes), its promise, and the grounds."""

    threshold: float | None
    promise: str
    certificate: Certificate
    labels_not_found: NotRequired[int]
    """With files: labelled questions of which no right passage is there; every answer to them is wrong."""


class NoGate(TypedDict):
    """Why there is no gate, the lowest risk that could be promised, and the labels that are missing."""

    threshold: None
    reason: str
    lowest_risk: float | None
    more_labels: int | None
    labels_not_found: NotRequired[int]
    """With files: labelled questions of which no right passage is there; every answer to them is wrong."""


class PlanOfFiles(TypedDict):
    """With --plan and files: what the labels can promise, risk by risk."""

    levels: tuple[Level, ...]
    confidence: float
    questions: int
    tested: int
    ranker: str
    qualifier: str
    method: str
    lowest: float | None
    labels_not_found: int


class Doubt(TypedDict):
    """With --doubt: what was trained, where it is, and on how many questions."""

    doubt: str
    folder: str
    taught_on: int


class DoubtAndGate(Doubt, Gate):
    """With --doubt and --risk: what was trained, and the gate."""


class DoubtAndNoGate(Doubt, NoGate):
    """With --doubt and --risk, where the labels are too few."""


class Alike(TypedDict):
    """An entry of an FAQ that another one answers."""

    question: str
    other: str
    cosine: float
    chance: float


class Estimates(TypedDict):
    """Shares that are no promise: what one entry at a time, or other wordings, would come to."""

    left_out_alone: int
    left_out_and_answered: float
    worded_otherwise_and_answered: float


class GateWithoutLabels(Gate):
    """With --without-labels: the gate, and what was seen of the entries."""

    scope: list[str]
    entries: int
    removed: int
    estimates: Estimates
    alike: list[Alike]


class NoGateWithoutLabels(NoGate):
    """With --without-labels, where the entries are too few."""

    entries: int
    alike: list[Alike]


class Sets(TypedDict):
    """With --set: the rule that makes sets of candidates, and its promise."""

    format: str
    level: float
    threshold: float | None
    ranker: str
    fingerprint: str
    n: int
    left_out: int
    mean_size: float
    mean_pool: float
    pools_sha256: str
    promise: str


class Check(TypedDict):
    """With --check: what new questions say of a gate; the errors are null where they have no labels."""

    questions: int
    accepted: int
    risk: float
    labelled: bool
    errors: int | None
    surprise: float | None
    distance: float
    alike: float
    contradicted: bool
    shifted: bool
    labels_not_found: NotRequired[int]
    """With files: labelled questions of which no right passage is there; every answer to them is wrong."""
