"""What rankers are wrong about, and which labels are in doubt: counts, as no text of a dataset is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from demur.errors import UsageError
from demur.evaluation import Cases, Report, cases, evaluate
from demur.evaluation.comparison.error_groups import GROUPS
from demur.evaluation.comparison.near_duplicates import doubtful_labels
from demur.experiments.kinds.base import Figure, Kind, Loaded, Result
from demur.experiments.models.cached_models import relevant_of
from demur.experiments.models.rankers import maker, run_ranker

if TYPE_CHECKING:
    from demur.experiments.runs import Run

MISLED = "overlap_misled"
RULES = ("near-duplicates",)


class Counts(Kind):
    """A kind whose figures are counts, by measure; of several seeds the mean."""

    def figure(
        self, found: Sequence[Result], convention: str, measure: str, point: str = ""
    ) -> Figure | None:
        """The count, without an interval."""
        counts = [one["counts"][measure] for one in found if measure in one["counts"]]
        return Figure(float(np.mean(counts)), None, None, found[-1]["pools"]) if counts else None


class Errors(Counts):
    """Measures are ``questions``, ``wrong``, and the groups of errors by their titles.

    Beside a baseline they are ``mended``, questions that only the row's ranker gets right, and ``broken``,
    that only the baseline's does. ``mended, overlap`` are those of them in which word overlap misled the one
    that is wrong; ``broken, overlap`` likewise.
    """

    def depends(self, run: Run) -> Result:
        """The ranker, and that of the baseline."""
        beside = _baseline(run)
        against = {} if beside is None else {"against": maker(beside)}
        return {**maker(run), **against, "seed": run.seed, "relevant": relevant_of(run.column.data)}

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The counts."""
        ours, beside = _report(run, loaded), _baseline(run)
        alone = _cases(run, loaded, ours, ours)
        counts = {"questions": len(alone.every), "wrong": alone.count(False, False)}
        counts |= {GROUPS[group]: count for group, count in alone.errors(0).items()}
        if beside is not None:
            pair = _cases(run, loaded, ours, _report(beside, loaded))
            mended, broken = pair.won(0), pair.won(1)
            counts |= {
                "mended": len(mended),
                "mended, overlap": sum(MISLED in case.choices[1].groups for case in mended),
                "broken": len(broken),
                "broken, overlap": sum(MISLED in case.choices[0].groups for case in broken),
            }
        return {"pools": len(alone.every), "counts": counts}


class Labels(Counts):
    """Measures are ``judged``, ``labels`` in doubt, ``pairs``, ``same_words`` and ``questions``."""

    def depends(self, run: Run) -> Result:
        """The rule."""
        return {"rule": run.row.labels, "relevant": relevant_of(run.column.data)}

    def result(self, run: Run, loaded: Loaded) -> Result:
        """The counts."""
        if run.row.labels not in RULES:
            raise UsageError(f"no rule for labels is called {run.row.labels!r}; write {' or '.join(RULES)}")
        found = doubtful_labels(loaded.pools, relevant_of(run.column.data))
        return {"pools": len(loaded.pools), "counts": found.to_json()}


def _baseline(run: Run) -> Run | None:
    """The run of the row that a row is compared with, if there is one."""
    name = run.table.baseline_of(run.row)
    row = next((row for row in run.table.row if row.name == name), None)
    return None if row is None else replace(run, row=row)


def _report(run: Run, loaded: Loaded) -> Report:
    ranker = run_ranker(run).prepare(loaded.pools)
    return evaluate(ranker.score_pools(loaded.pools), loaded.pools, "P@1")


def _cases(run: Run, loaded: Loaded, one: Report, other: Report) -> Cases:
    return cases({"one": one, "other": other}, loaded.pools, relevant_of(run.column.data))
