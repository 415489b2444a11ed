"""Figures of the answers to a set of questions, for kinds of tables: outcomes, measures, and gates tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from demur.errors import UsageError
from demur.evaluation import estimates, parse_measures
from demur.evaluation.intervals import draws
from demur.evaluation.selective.bootstrap import measure_answers
from demur.evaluation.selective.measures import Selective
from demur.evaluation.selective.ordered import Answers
from demur.experiments.kinds.halves import Promise, tried
from demur.risk import Predictions
from demur.risk.predictions import BoolArray
from demur.specs import parse
from demur.types import FloatArray

Numbers = Sequence[float | None] | None
"""A mean, its low and its high; None where it is undefined."""
RULES = {"certified": "ltt", "empirical": "naive"}
HIGHER = ("AUROC", "AP-error")
"""Measures that are to be high; others are to be low."""
_RESAMPLES = 1_000
_WORK = 10_000_000  # answers drawn in all


def plain(predictions: Predictions) -> dict[str, Numbers]:
    """Outcomes as counts, exact match, the risk of all that is answered, and how much that is."""
    answered = predictions.predicted
    right = predictions.correct | (~answered & ~predictions.answerable)
    found: dict[str, Numbers] = {name: (count, None, None) for name, count in predictions.outcomes().items()}
    return found | {
        "EM": _mean(right),
        "risk": _mean(predictions.wrong[answered]),
        "answered": _mean(answered),
    }


def _mean(values: BoolArray) -> Numbers:
    if not len(values):
        return None
    estimate = estimates(values.astype(np.float64)[:, None])[0]
    return estimate.mean, estimate.low, estimate.high


def gated(
    names: Iterable[str], predictions: Predictions, wanted: Promise, grid: FloatArray | None = None
) -> dict[str, Numbers]:
    """Measures over halves, such as ``certified coverage@0.1``; those of one rule and risk share halves.

    `wanted` says all of the promise but the risk.
    """
    found: dict[str, Numbers] = {}
    tries: dict[tuple[str, float], Mapping[str, Numbers]] = {}
    for name in names:
        spelled = parse(name.replace(" ", "-"))
        rule, _, measure = spelled.name.partition("-")
        risk = spelled.at or 0.0
        if (rule, risk) not in tries:
            promise = Promise(risk, wanted.confidence, wanted.splits, wanted.seed)
            tries[rule, risk] = tried(predictions, promise, RULES[rule], grid=grid)
        found[name] = tries[rule, risk][measure.replace("-", " ")]
    return found


def answers_of(predictions: Predictions) -> Answers:
    """The answers that are given."""
    answered = predictions.predicted
    return Answers.of(predictions.confidence[answered], predictions.wrong[answered].astype(np.float64))


def selective(names: Sequence[str], predictions: Predictions) -> dict[str, Numbers]:
    """The measures over the answers that are given; None where one is undefined."""
    answers = answers_of(predictions)
    wanted = _selective(names)
    defined = [each for each in wanted if not np.isnan(each.values_of(answers.drawn())[0])]
    found = measure_answers(defined, {each.rel: answers for each in defined}) if defined else []
    numbers = {str(each): (one.mean, one.low, one.high) for each, one in zip(defined, found, strict=True)}
    return {name: numbers.get(str(each)) for name, each in zip(names, wanted, strict=True)}


def gains(names: Sequence[str], base: Predictions, ours: Predictions, seed: int = 0) -> dict[str, Numbers]:
    """By what share a measure is better than that of other confidences in the same answers.

    Names are such as ``gain AURC``. Both are resampled together; None where the measure is undefined.
    """
    pair = answers_of(base), answers_of(ours)
    wanted = _selective([name.removeprefix("gain ") for name in names])
    resamples = min(_RESAMPLES, _WORK // len(pair[0].loss))
    once = np.array([_gains(wanted, pair, np.ones((1, len(pair[0].loss)), np.int64))])[0, :, 0]
    parts = [_gains(wanted, pair, times) for times in draws(len(pair[0].loss), seed, resamples)]
    drawn = np.concatenate(parts, axis=1)
    found: dict[str, Numbers] = {}
    for name, mean, row in zip(names, once.tolist(), drawn, strict=True):
        row = row[np.isfinite(row)]
        ends = np.quantile(row, (0.025, 0.975)).tolist() if len(row) else [mean, mean]
        found[name] = None if not np.isfinite(mean) else (mean, *ends)
    return found


def _gains(wanted: Sequence[Selective], pair: tuple[Answers, Answers], times: object) -> FloatArray:
    rows = []
    for measure in wanted:
        before, after = (measure.values_of(each.drawn(np.asarray(times))) for each in pair)
        apart = after - before if measure.name in HIGHER else before - after
        rows.append(np.divide(apart, before, out=np.full(len(apart), np.nan), where=before > 0))
    return np.array(rows)


def _selective(names: Sequence[str]) -> list[Selective]:
    found = []
    for name, each in zip(names, parse_measures(names) if names else (), strict=True):
        if not isinstance(each, Selective):
            raise UsageError(f"{name!r} is not a measure of answers; write EM, AD+, risk, AURC and the like")
        found.append(each)
    return found
