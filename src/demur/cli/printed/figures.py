"""What `demur evaluate`, `compare`, `advise`, `plot`, `train` and `export` print with --json."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from demur.advice.deciding.profile import Profile
from demur.advice.trials.curves import Forecast
from demur.cli.printed.answers import Span
from demur.evaluation.comparison.compare import Row
from demur.evaluation.comparison.near_duplicates import Doubtful
from demur.evaluation.intervals import Estimate
from demur.evaluation.robust.suite import Finding
from demur.training.recipes.search import Trial
from demur.training.recipes.stages import Done


class Outcomes(TypedDict):
    """How sure and how wrong the answers are, for measures such as AURC; by pool in `per_pool`."""

    measures: list[str]
    qualifier: str
    predicted: int
    outcomes: dict[str, float]
    rels: list[int]
    per_pool: dict[str, dict[str, Any]]


class Best(TypedDict):
    """The best that a measure can be on these questions, and the threshold for it; null: no answers."""

    mean: float
    threshold: float | None


class Evaluate(TypedDict):
    """Means with intervals, how many pools each measure counts, and the value and first scores of each pool.

    Of a reader, `best` is what a threshold can reach, and `over_silence` EM less that of giving no answer.
    """

    measures: dict[str, Estimate]
    convention: str
    pools: int
    skipped: int
    counted: dict[str, int]
    ranker: str
    data: str
    labels: dict[str, str]
    confidence: float
    seed: int
    answers: NotRequired[Outcomes]
    best: NotRequired[dict[str, Best]]
    over_silence: NotRequired[Estimate]
    per_pool: dict[str, dict[str, float | None]]
    scores: dict[str, dict[str, float]]


class Choice(TypedDict):
    """What a ranker puts first, how surely, the words it shares with the question, and its kinds of error."""

    ranker: str
    right: bool
    id: str
    text: str
    label: int | None
    score: float
    lead: float
    shared: list[Span]
    groups: list[str]


class Case(TypedDict):
    """A question, and what each of two rankers answers it with."""

    id: str
    question: str
    lead: float
    answers: list[Choice]


class EvaluateCases(TypedDict):
    """With --cases: where two rankers differ, their errors by group, and the labels in doubt."""

    data: str
    rankers: list[str]
    questions: int
    left_out: dict[str, int]
    both_right: int
    both_wrong: int
    only_right: dict[str, int]
    errors: dict[str, dict[str, int]]
    doubtful_labels: Doubtful
    cases: list[Case]
    both_wrong_cases: list[Case]


class EvaluateSuite(TypedDict):
    """With --suite: what each change of the texts does to each ranker."""

    data: str
    pools: int
    seeds: int
    rankers: dict[str, str]
    findings: list[Finding]


class Compare(TypedDict):
    """Each system against the baseline, measure by measure."""

    baseline: str
    convention: str
    confidence: float
    rows: list[Row]
    correction: Literal["holm"]


class Train(TypedDict):
    """The model's folder, its stages, and its measures on the dev set; `trials` of a search of settings."""

    output: str
    ranker: str
    fingerprint: str
    stages: list[Done]
    dev: dict[str, Estimate]
    trials: NotRequired[list[Trial]]


class Agreement(TypedDict):
    """How near the exported scores are to the network's; of readers, how often both quote the same."""

    data: str
    pairs: int
    spearman: float
    largest: float
    mean: float
    spread: float
    quotes: NotRequired[float]
    answered: NotRequired[float]


class Export(TypedDict):
    """The folder that was written, and how near its scores are to the network's."""

    output: str
    ranker: str
    precision: str
    fingerprint: str
    graph: str
    agreement: Agreement


class Curve(TypedDict):
    """What the best method that learns gains over the best that does not, by the number of questions."""

    sizes: list[int]
    gains: list[float]


class Tried(TypedDict):
    """A method that was tried. `coverage` with --risk: the share of questions that a gate would answer."""

    method: str
    spec: str
    measures: dict[str, Estimate]
    pools: int
    expected: float
    behind_best: Estimate | None
    p: float | None
    significantly_worse: bool
    train_seconds: float | None
    cost: dict[str, float | None]
    coverage: NotRequired[float | None]


class Advise(TypedDict):
    """The recommendation, its reasons, and what was measured; `missing` says which extra has a method."""

    recommendation: str
    method: str
    spec: str
    pools: int
    labelled: int
    informative: int
    profile: Profile
    measured: list[Tried]
    skipped: dict[str, str]
    missing: dict[str, str]
    labels: str
    curve: Curve | None
    forecast: Forecast | None
    alike: str | None
    folds: int
    seed: int
    minutes: float
    risk: NotRequired[float]
    measured_on: NotRequired[int]


class Plot(TypedDict):
    """The picture that was written, and the systems in it."""

    output: str
    show: Literal["curve", "histogram", "reliability"]
    data: str
    systems: list[str]
