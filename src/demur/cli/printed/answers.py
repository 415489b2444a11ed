"""What `demur ask`, `rank` and `score` print with --json."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Certificate(TypedDict):
    """The grounds of a promise. The last three are of a gate that was calibrated on a knowledge base."""

    risk: float
    confidence: float
    questions: int
    accepted: int
    errors: int
    bound: float
    method: str
    seed: int
    pools: int
    pools_sha256: str
    data: str
    ranker: str
    ranker_fingerprint: str
    qualifier: str
    demur: str
    about: NotRequired[str]
    generation: NotRequired[int]
    changed_since: NotRequired[float]
    lapsed: NotRequired[bool]


class Span(TypedDict):
    """A stretch of a text: from `start` up to `end`, counted in code points."""

    start: int
    end: int
    text: str


class Read(TypedDict):
    """What a reader made of a passage: whether it quotes an answer, and how sure it is of that."""

    answers: bool
    confidence: float | None


class Passage(TypedDict):
    """A passage: where it is, what is quoted from it, and how well it fits.

    `read` is null where no reader has read it. `known` is what the probability of being right is made of, and
    `adds` what each of that adds to the logarithm of the odds; `cut` says how many passages were left unread.
    """

    id: str
    text: str
    span: Span | None
    sentence: Span | None
    source: str
    line: int | None
    heading: str
    copies: int
    score: float | None
    read: Read | None
    known: NotRequired[dict[str, float]]
    adds: NotRequired[dict[str, float]]
    cut: NotRequired[int]
    matched: list[str]
    coverage: float


class Answered(Passage):
    """The passage that answers, its confidence, and the grounds of the promise."""

    confidence: float | None
    threshold: float | None
    certificate: Certificate | None
    same_question: bool
    also_answered_by: int


class Ask(TypedDict):
    """An answer, or the reason why there is none, with the nearest passages."""

    question: str
    abstained: bool
    reason: str | None
    confidence: float | None
    threshold: float | None
    certificate: Certificate | None
    answer: Answered | None
    nearest: Passage | None
    ranking: list[Passage]


class Pair(TypedDict):
    """Two words that a score comes from, and what they add to it."""

    question: Span
    answer: Span
    similarity: float
    weight: float
    contribution: float


class Ranked(TypedDict):
    """A candidate; `pairs` with --explain."""

    rank: int
    id: str
    text: str
    score: float
    pairs: NotRequired[list[Pair]]


class Verdict(TypedDict):
    """What a gate says: with --gate, or a gate in the ranker's folder."""

    abstained: NotRequired[bool]
    reason: NotRequired[str | None]
    confidence: NotRequired[float | None]
    certificate: NotRequired[Certificate]
    promise: NotRequired[str]


class AnswerSet(TypedDict):
    """The candidates of the set, and what is promised of it."""

    ids: list[str]
    level: float
    threshold: float | None
    calibrated_on: int
    promise: str


class Rank(Verdict):
    """The candidates, best first; `set` with --set."""

    question: str
    ranker: str
    ranking: list[Ranked]
    set: NotRequired[AnswerSet]


class Score(TypedDict):
    """What was written, and how much of it a stopped run had done before."""

    output: str
    ranker: str
    pools: int
    pairs: int
    resumed_pools: int


class ScoreFolder(Score):
    """What was written for a folder, or by --engine ray; `failed` says which files were left out, and why."""

    engine: str
    files: int
    bad_rows: int
    failed: list[str]
