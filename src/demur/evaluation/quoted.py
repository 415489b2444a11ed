"""From a reader, or from answers in a file, to a report: EM and F1, with and without an answer to give."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from demur.errors import DataError
from demur.evaluation.intervals import estimates
from demur.evaluation.report import Report
from demur.reading import squad
from demur.reading.base import Reader, Reading
from demur.reading.published import golds
from demur.types import FloatArray, Pool

_TOGETHER = 256  # questions between two reports


@dataclass(frozen=True, eq=False)
class Quoted:
    """The report, and of a reader the best thresholds in hindsight: on these very questions."""

    report: Report
    best: dict[str, squad.Best] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values, with the best thresholds."""
        found = {
            name: {**asdict(one), "threshold": None if one.threshold == -np.inf else one.threshold}
            for name, one in self.best.items()
        }
        return {**self.report.to_json(), **({"best": found} if found else {})}


def evaluate_answers(
    answers: Sequence[str],
    pools: Sequence[Pool],
    *,
    name: str = "",
    data: str = "",
    confidence: float = 0.95,
    seed: int = 0,
) -> Report:
    """The report on one answer to each question, empty where none is given, by SQuAD's measures."""
    if not pools:
        raise DataError("no questions", path=data or None, fix="name data with questions and their answers")
    version = squad.version_of(pools)
    found = squad.score(pools, answers, version)
    values: dict[str, FloatArray] = {"EM": found.exact, "F1": found.f1}
    if not found.answerable.all():
        for start, kept in (("HasAns", found.answerable), ("NoAns", ~found.answerable)):
            if kept.any():
                values |= {f"{start}-{m}": np.where(kept, values[m], np.nan) for m in ("EM", "F1")}
        values.pop("NoAns-F1", None)  # the same as its EM
    measures = {}
    for measure, column in values.items():
        counted = column[~np.isnan(column)]
        (measures[measure],) = estimates(counted[:, None], confidence=confidence, seed=seed)
    return Report(
        measures=measures,
        convention=f"squad-{version}",
        skipped=0,
        ids=tuple(pool.id for pool in pools),
        values=values,
        ranker=name,
        data=data,
        labels=tuple(hashlib.sha256(json.dumps(golds(pool)).encode()).hexdigest()[:16] for pool in pools),
        confidence=confidence,
        seed=seed,
    )


def evaluate_reader(
    reader: Reader,
    pools: Sequence[Pool],
    *,
    data: str = "",
    confidence: float = 0.95,
    seed: int = 0,
    on_batch: Callable[[int], None] = lambda questions: None,
) -> Quoted:
    """The report on what a reader quotes from each question's passage."""
    readings = readings_of(reader, pools, on_batch)
    answers = [reading.span.text if reading.span else "" for reading in readings]
    more: dict[str, Any] = {"name": reader.spec, "data": data, "confidence": confidence, "seed": seed}
    report = evaluate_answers(answers, pools, **more)
    given = [reading.quotes[0].span.text if reading.quotes else "" for reading in readings]
    if "HasAns-EM" not in report.values:
        return Quoted(report)
    found = squad.score(pools, given, squad.version_of(pools))
    odds = [reading.null_odds for reading in readings]
    return Quoted(
        report,
        {"EM": squad.best(found.exact, found, odds), "F1": squad.best(found.f1, found, odds)},
    )


def readings_of(
    reader: Reader, pools: Sequence[Pool], on_batch: Callable[[int], None] = lambda questions: None
) -> list[Reading]:
    """What a reader finds for each question in its one passage."""
    for pool in pools:
        if len(pool) != 1:
            what = f"question {pool.id!r} has {len(pool)} passages; a reader is measured on one of each"
            raise DataError(what, fix="take a split of squad")
    found: list[Reading] = []
    for at in range(0, len(pools), _TOGETHER):
        some = pools[at : at + _TOGETHER]
        found += reader.read_all((pool.question, pool.answers[0]) for pool in some)
        on_batch(len(some))
    return found
