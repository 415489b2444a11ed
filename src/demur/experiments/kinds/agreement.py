"""Published answers of several systems to SQuAD 2.0, and the agreement of the others as a confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UsageError
from demur.experiments.kinds.answer_figures import RULES, Numbers, gated, plain, selective
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.kinds.halves import Promise
from demur.files import sha256
from demur.reading import published
from demur.reading.normalise import exact, normalise, overlap
from demur.risk import Predictions
from demur.types import FloatArray, Pool

if TYPE_CHECKING:
    from demur.experiments.recipe import Table
    from demur.experiments.runs import Run

GRIDS: dict[str, FloatArray] = {"votes": np.array([0.0, 0.5, 1.0]), "overlap": np.linspace(0, 1, 101)}
"""Kinds of agreement: the share of other systems that answer the same, or the mean F1 with their answers.
The thresholds are known before any answer is."""


class Agreement(Kind):
    """Measures are ``EM``, outcomes such as ``AD+``, ``risk``, ``answered``, and ``AURC`` and the like.

    Those of `halves` are spelled ``certified coverage@0.1`` where the gate's rule sets the threshold, and
    ``empirical coverage@0.1`` where the naive one does.
    """

    def depends(self, run: Run) -> Result:
        """The files of answers, all systems' of the table, and the promise."""
        return {
            "answers": run.row.answers,
            "committee": {name: sha256(published.answers_file(name)) for name in _systems(run.table)},
            "agreement": run.row.agreement,
            "seed": run.seed,
            **self.promised(run),
        }

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The figures by measure; null where one is undefined."""
        if run.row.agreement not in GRIDS:
            raise UsageError(f"agreement {run.row.agreement!r} is not known; write {' or '.join(GRIDS)}")
        given = published.answers(run.row.answers, loaded.pools)
        others = [
            published.answers(name, loaded.pools) for name in _systems(run.table) if name != run.row.answers
        ]
        predictions = predicted(loaded.pools, given, agreement(given, others, run.row.agreement))
        return {"pools": len(loaded.pools), "figures": _figures(run, predictions)}

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
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
    found = plain(predictions)
    others = [name for name in run.table.measures if name not in found]
    tries = [name for name in others if name.partition(" ")[0] in RULES]
    promise = Promise(0.0, run.table.confidence, run.table.splits, run.seed)
    found |= gated(tries, predictions, promise, GRIDS[run.row.agreement])
    found |= selective([name for name in others if name not in tries], predictions)
    return {name: found[name] for name in run.table.measures}
