"""Published answers of several systems to SQuAD 2.0, and the agreement of the others as a confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UsageError
from demur.evaluation import estimates, parse_measures
from demur.evaluation.bootstrap import measure_answers
from demur.evaluation.confident import Answers
from demur.evaluation.selective import Selective
from demur.experiments.halves import Promise, tried
from demur.experiments.kinds.base import Figure, Kept, Kind, Loaded
from demur.files import sha256
from demur.reading import published
from demur.reading.normalise import exact, normalise, overlap
from demur.risk import Predictions
from demur.risk.predictions import BoolArray
from demur.specs import parse
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    from demur.experiments.recipe import Table
    from demur.experiments.runs import Run

GRIDS: dict[str, FloatArray] = {"votes": np.array([0.0, 0.5, 1.0]), "overlap": np.linspace(0, 1, 101)}
"""Kinds of agreement: the share of other systems that answer the same, or the mean F1 with their answers.
The thresholds are known before any answer is."""
Numbers = Sequence[float | None] | None
"""A mean, its low and its high; None where it is undefined."""
RULES = {"certified": "ltt", "empirical": "naive"}


class Agreement(Kind):
    """Measures are ``EM``, outcomes such as ``AD+``, ``risk``, ``answered``, and ``AURC`` and the like.

    Those of `halves` are spelled ``certified coverage@0.1`` where the gate's rule sets the threshold, and
    ``empirical coverage@0.1`` where the naive one does.
    """

    def depends(self, run: Run) -> Kept:
        """The files of answers, all systems' of the table, and the promise."""
        return {
            "answers": run.row.answers,
            "committee": {name: sha256(published.place(name)) for name in _systems(run.table)},
            "agreement": run.row.agreement,
            "splits": run.table.splits,
            "confidence": run.table.confidence,
            "seed": run.seed,
            "measures": run.table.measures,
        }

    def modules(self, run: Run) -> list[str]:
        """The modules that judge answers, and that of the halves."""
        return [
            "demur.experiments.halves",
            "demur.reading.normalise",
            "demur.reading.published",
            "demur.evaluation.bootstrap",
        ]

    def result(self, run: Run, loaded: Loaded) -> Kept:
        """The figures by measure; null where one is undefined."""
        if run.row.agreement not in GRIDS:
            raise UsageError(f"agreement {run.row.agreement!r} is not known; write {' or '.join(GRIDS)}")
        given = published.answers(run.row.answers, loaded.pools)
        others = [
            published.answers(name, loaded.pools) for name in _systems(run.table) if name != run.row.answers
        ]
        predictions = predicted(loaded.pools, given, agreement(given, others, run.row.agreement))
        return {"pools": len(loaded.pools), "figures": _figures(run, predictions)}

    def figure(self, found: Sequence[Kept], convention: str, measure: str, point: str = "") -> Figure | None:
        """The figure of the one run."""
        return Figure.of(found[0]["figures"].get(measure), found[0]["pools"]) if found else None


def _systems(table: Table) -> list[str]:
    return list(dict.fromkeys(row.answers for row in table.row if row.answers))


def agreement(given: Sequence[str], others: Sequence[Sequence[str]], by: str) -> FloatArray:
    """How far the other systems' answers agree with those given, from 0 to 1."""
    if not others:
        raise UsageError("agreement needs the answers of two systems or more")
    say = overlap if by == "overlap" else lambda one, other: float(normalise(one) == normalise(other))
    columns = [[say(one, two) for one, two in zip(given, other, strict=True)] for other in others]
    return np.asarray(np.array(columns, np.float64).mean(axis=0))


def predicted(pools: Sequence[Pool], given: Sequence[str], confidence: FloatArray) -> Predictions:
    """Answers to questions of SQuAD, right if they match a gold exactly; an empty one is no answer."""
    golds = [published.golds(pool) for pool in pools]
    says = np.array([normalise(answer) != "" for answer in given], np.bool_)
    right = np.array([exact(answer, gold) for answer, gold in zip(given, golds, strict=True)], np.bool_)
    answerable = np.array([any(map(normalise, gold)) for gold in golds], np.bool_)
    return Predictions(tuple(pool.id for pool in pools), confidence, right & says, answerable, says)


def _figures(run: Run, predictions: Predictions) -> dict[str, Numbers]:
    answered = predictions.predicted
    right = predictions.correct | (~answered & ~predictions.answerable)
    found: dict[str, Numbers] = {name: (count, None, None) for name, count in predictions.outcomes().items()}
    found |= {"EM": _mean(right), "risk": _mean(predictions.wrong[answered]), "answered": _mean(answered)}
    others = [name for name in run.table.measures if name not in found]
    tries = [name for name in others if name.partition(" ")[0] in RULES]
    found |= _tried(run, tries, predictions)
    found |= _selective([name for name in others if name not in tries], predictions)
    return {name: found[name] for name in run.table.measures}


def _mean(values: BoolArray) -> Numbers:
    if not len(values):
        return None
    estimate = estimates(values.astype(np.float64)[:, None])[0]
    return estimate.mean, estimate.low, estimate.high


def _tried(run: Run, names: list[str], predictions: Predictions) -> dict[str, Numbers]:
    """The measures over halves; those of one rule and risk come from the same halves."""
    grid = GRIDS[run.row.agreement]
    found: dict[str, Numbers] = {}
    tries: dict[tuple[str, float], Mapping[str, Numbers]] = {}
    for name in names:
        wanted = parse(name.replace(" ", "-"))
        rule, _, measure = wanted.name.partition("-")
        risk = wanted.at or 0.0
        if (rule, risk) not in tries:
            promise = Promise(risk, run.table.confidence, run.table.splits, run.seed)
            tries[rule, risk] = tried(predictions, promise, RULES[rule], grid=grid)
        found[name] = tries[rule, risk][measure.replace("-", " ")]
    return found


def _selective(names: list[str], predictions: Predictions) -> dict[str, Numbers]:
    """The measures over the answers that are given; None where one is undefined."""
    answered = predictions.predicted
    answers = Answers.of(predictions.confidence[answered], predictions.wrong[answered].astype(np.float64))
    measures = parse_measures(names) if names else ()
    for name, each in zip(names, measures, strict=True):
        if not isinstance(each, Selective):
            raise UsageError(f"{name!r} is no measure of answers; write EM, AD+, risk, AURC and the like")
    wanted = [each for each in measures if isinstance(each, Selective)]
    defined = [each for each in wanted if not np.isnan(each.values_of(answers.drawn())[0])]
    found = measure_answers(defined, {each.rel: answers for each in defined}) if defined else []
    numbers = {str(each): (one.mean, one.low, one.high) for each, one in zip(defined, found, strict=True)}
    return {name: numbers.get(str(each)) for name, each in zip(names, wanted, strict=True)}
