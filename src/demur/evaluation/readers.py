"""From a reader, or from answers in a file, to a report: EM and F1, and when to believe a quote.

Measures such as AURC are over the answers that are given. One is wrong unless it matches a gold exactly,
whatever the label of its passage says.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from demur.errors import DataError, UnknownName, UsageError
from demur.evaluation.intervals import RESAMPLES, Estimate, estimates, generator
from demur.evaluation.measures import QUOTED, parse_measures
from demur.evaluation.report import Report
from demur.evaluation.selective.answered import Answered
from demur.evaluation.selective.bootstrap import measure_answers
from demur.evaluation.selective.measures import Selective
from demur.reading import squad
from demur.reading.base import Pair, Reader, Reading
from demur.reading.one_pass import OnePassReader
from demur.reading.published import golds
from demur.specs import listed
from demur.types import FloatArray, Pool

PROBABILITY = "proba"
"""The probability of the span as the confidence in it."""
_TOGETHER = 256  # questions between two reports


@dataclass(frozen=True, eq=False)
class Quoted:
    """The report, what answering gains, and of a reader the best thresholds in hindsight, on these questions.

    `gain` is by how much EM is above that of never answering; None where each question has an answer.
    """

    report: Report
    best: dict[str, squad.Best] = field(default_factory=dict)
    gain: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """The report as plain values, with the best thresholds."""
        found = {
            name: {**asdict(one), "threshold": None if one.threshold == -np.inf else one.threshold}
            for name, one in self.best.items()
        }
        gain = {} if self.gain is None else {"over_silence": asdict(self.gain)}
        return {**self.report.to_json(), **({"best": found} if found else {}), **gain}


def evaluate_answers(
    answers: Sequence[str],
    pools: Sequence[Pool],
    *,
    measures: str | Sequence[str] = (),
    confidences: ArrayLike | None = None,
    qualifier: str = "",
    name: str = "",
    data: str = "",
    confidence: float = 0.95,
    seed: int = 0,
) -> Report:
    """The report on one answer to each question, empty where none is given, by SQuAD's measures.

    Without `measures` they are all of those. AURC and the like need `confidences`, one to each question.
    """
    if not pools:
        raise DataError("no questions", path=data or None, fix="name data with questions and their answers")
    wanted = measures_of(measures)
    version = squad.version_of(pools)
    found = squad.score(pools, answers, version)
    values: dict[str, FloatArray] = {"EM": found.exact, "F1": found.f1}
    if not found.answerable.all():
        for start, kept in (("HasAns", found.answerable), ("NoAns", ~found.answerable)):
            if kept.any():
                values |= {f"{start}-{m}": np.where(kept, values[m], np.nan) for m in ("EM", "F1")}
        values.pop("NoAns-F1", None)  # the same as its EM
    if missing := [name for name in wanted if isinstance(name, str) and name not in values]:
        raise UsageError(f"{missing[0]} is undefined here, as all questions are of one kind; write EM or F1")
    selective = [each for each in wanted if isinstance(each, Selective)]
    answered = _answered(found, confidences, qualifier) if selective else None
    chosen = [str(each) for each in wanted] or list(values)
    values = {measure: column for measure, column in values.items() if measure in chosen}
    known: dict[str, Estimate] = {}
    for measure, column in values.items():
        counted = column[~np.isnan(column)]
        (known[measure],) = estimates(counted[:, None], confidence=confidence, seed=seed)
    if answered is not None:
        over = measure_answers(selective, {1: answered.answers()}, confidence=confidence, seed=seed)
        known |= {str(measure): estimate for measure, estimate in zip(selective, over, strict=True)}
    return Report(
        measures={measure: known[measure] for measure in chosen},
        convention=f"squad-{version}",
        skipped=0,
        ids=tuple(pool.id for pool in pools),
        values=values,
        answered=answered,
        ranker=name,
        data=data,
        labels=tuple(hashlib.sha256(json.dumps(golds(pool)).encode()).hexdigest()[:16] for pool in pools),
        confidence=confidence,
        seed=seed,
    )


def measures_of(measures: str | Sequence[str]) -> list[str | Selective]:
    """The measures that are named, those of quotes by their names; of rankings there are none here."""
    found: list[str | Selective] = []
    for each in listed(measures, ",") if isinstance(measures, str) else measures:
        if not each:
            continue
        if each in QUOTED:
            found.append(each)
            continue
        try:
            (measure,) = parse_measures([each])
        except UnknownName as error:
            raise UnknownName("measure of quotes", error.name, [*QUOTED, "AURC"], ", …") from None
        if not isinstance(measure, Selective):
            raise UsageError(f"{each} is a measure of rankings; quotes have {', '.join(QUOTED)}, and AURC, …")
        if measure.rel != 1:
            raise UsageError(f"{each}: a quote is right or wrong and has no grades; leave rel out")
        found.append(measure)
    return list(dict.fromkeys(found))


def _answered(found: squad.Scores, confidences: ArrayLike | None, qualifier: str) -> Answered:
    """The answers that are given, each with how sure it is, and wrong unless it matches a gold."""
    if confidences is None:
        raise UsageError("answers alone have no confidence; name a --reader, or leave AURC, … out")
    given = np.where(found.answered, np.asarray(confidences, np.float64), np.nan)
    wrong = np.where(found.answered, 1 - found.exact * found.answerable, np.nan)
    return Answered(given, {1: wrong}, {1: found.answerable}, qualifier)


def gain_over_silence(
    answers: Sequence[str], pools: Sequence[Pool], confidence: float = 0.95, seed: int = 0
) -> Estimate | None:
    """By how much EM is above that of never answering; None where each question has an answer."""
    found = squad.score(pools, answers, squad.version_of(pools))
    if found.answerable.all():
        return None
    apart = found.exact - ~found.answerable
    counts = int((apart > 0).sum()), int((apart < 0).sum()), len(pools)
    return over_silence(*counts, confidence=confidence, seed=seed)


def evaluate_reader(
    reader: Reader,
    pools: Sequence[Pool],
    *,
    measures: str | Sequence[str] = (),
    confidences: ArrayLike | None = None,
    qualifier: str = "",
    data: str = "",
    confidence: float = 0.95,
    seed: int = 0,
    on_batch: Callable[[int], None] = lambda questions: None,
) -> Quoted:
    """The report on what a reader quotes from each question's passage.

    For AURC and the like `confidences` say how sure it is of each, and `qualifier` where these come from; or
    it does so itself: by the probability of the span (``proba``), unless it has learnt more, as mini has.
    """
    measures_of(measures)  # what is misspelled is told before the work
    readings, own = _read(reader, pools, on_batch)
    answers = [reading.span.text if reading.span else "" for reading in readings]
    if confidences is None:
        by_span = qualifier == PROBABILITY or not isinstance(reader, OnePassReader)
        confidences = [reading.confidence for reading in readings] if by_span else own
        qualifier = PROBABILITY if by_span else reader.name
    how: dict[str, Any] = {"confidence": confidence, "seed": seed}
    more: dict[str, Any] = {"measures": measures, "confidences": confidences, "qualifier": qualifier}
    report = evaluate_answers(answers, pools, name=reader.spec, data=data, **more, **how)
    found = squad.score(
        pools,
        [reading.quotes[0].span.text if reading.quotes else "" for reading in readings],
        squad.version_of(pools),
    )
    if found.answerable.all() or not found.answerable.any():
        return Quoted(report)
    odds = [reading.null_odds for reading in readings]
    best = {name: squad.best(values, found, odds) for name, values in (("EM", found.exact), ("F1", found.f1))}
    return Quoted(report, best, gain_over_silence(answers, pools, **how))


def _read(
    reader: Reader, pools: Sequence[Pool], on_batch: Callable[[int], None]
) -> tuple[list[Reading], list[float]]:
    """What a reader finds for each question, and how sure of it one is that says so by itself."""
    if not isinstance(reader, OnePassReader):
        return readings_of(reader, pools, on_batch), []
    looks = [look for some in _some(pools, on_batch) for look in reader.looks(some)]
    return [look.reading for look in looks], [look.confidence for look in looks]


def readings_of(
    reader: Reader, pools: Sequence[Pool], on_batch: Callable[[int], None] = lambda questions: None
) -> list[Reading]:
    """What a reader finds for each question in its one passage."""
    return [reading for some in _some(pools, on_batch) for reading in reader.read_all(some)]


def _some(pools: Sequence[Pool], on_batch: Callable[[int], None]) -> Iterator[list[Pair]]:
    """The questions with their passages, some at a time; those that were read are reported."""
    for pool in pools:
        if len(pool) != 1:
            what = f"question {pool.id!r} has {len(pool)} passages; a reader is measured on one of each"
            raise DataError(what, fix="take a split of squad")
    for at in range(0, len(pools), _TOGETHER):
        some = pools[at : at + _TOGETHER]
        yield [(pool.question, pool.answers[0]) for pool in some]
        on_batch(len(some))


def over_silence(
    right: int, misled: int, questions: int, *, confidence: float = 0.95, seed: int = 0
) -> Estimate:
    """Exact match less that of no answers at all, and its paired interval over questions.

    `right` answers gain what silence has not, `misled` ones, to questions without an answer, lose what it
    has, and all other questions are the same for both. So a resample of them is a draw of three counts.
    """
    shares = np.array([right, misled, questions - right - misled], np.float64) / questions
    drawn = generator(seed).multinomial(questions, shares, RESAMPLES)
    ends = np.quantile((drawn[:, 0] - drawn[:, 1]) / questions, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate((right - misled) / questions, float(ends[0]), float(ends[1]))
