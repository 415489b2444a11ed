"""The questions on which two rankers differ, the surest first, and the errors of each by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from demur.data import relevant as lowest_right
from demur.errors import UsageError, count_of
from demur.evaluation.comparison.error_groups import GROUPS, groups_of
from demur.evaluation.comparison.near_duplicates import Doubtful, doubtful_labels, near_duplicates
from demur.evaluation.comparison.wording import shared_words
from demur.evaluation.judged import Judged
from demur.evaluation.report import Report
from demur.types import Candidate, Pool, Span

LEFT_OUT = ("no right answer", "no wrong answer", "not ranked by both", "a tie between right and wrong")
Scores = Mapping[str, float]


@dataclass(frozen=True)
class Choice:
    """What a ranker puts first; `lead` is by how much it prefers it to the other's choice.

    Leads are in standard deviations of the ranker's scores within questions, so that two can be compared.
    """

    ranker: str
    candidate: Candidate
    right: bool
    score: float
    lead: float
    shared: tuple[Span, ...]
    """The words that it shares with the question."""
    groups: tuple[str, ...]
    """Of a wrong one, what may have led to it."""

    def to_json(self) -> dict[str, Any]:
        """The choice as plain values."""
        held = self.candidate
        return {
            "ranker": self.ranker,
            "right": self.right,
            "id": held.id,
            "text": held.text,
            "label": held.label,
            "score": self.score,
            "lead": self.lead,
            "shared": [asdict(span) for span in self.shared],
            "groups": list(self.groups),
        }


@dataclass(frozen=True)
class Case:
    """A question with what each of two rankers chooses."""

    id: str
    question: str
    choices: tuple[Choice, Choice]

    @property
    def lead(self) -> float:
        """How surely the rankers differ: the lead of the less sure one."""
        return min(choice.lead for choice in self.choices)

    @property
    def right(self) -> tuple[bool, bool]:
        """Whether the choice of each is right."""
        return self.choices[0].right, self.choices[1].right


@dataclass(frozen=True)
class Cases:
    """Every question that two rankers answered, in the order of the pools."""

    rankers: tuple[str, str]
    data: str
    every: tuple[Case, ...]
    left_out: dict[str, int]
    """Questions that say nothing about the two, by the reason."""
    doubtful: Doubtful

    def won(self, place: int) -> list[Case]:
        """The questions that one ranker alone gets right, those on which the two differ most surely first."""
        found = [case for case in self.every if case.right == (place == 0, place == 1)]
        return sorted(found, key=lambda case: -case.lead)

    def count(self, first: bool, second: bool) -> int:
        """How many questions the first and the second ranker get right, or wrong."""
        return sum(case.right == (first, second) for case in self.every)

    def errors(self, place: int) -> dict[str, int]:
        """How many errors of one ranker each group has; an error can be in several."""
        found = Counter(group for case in self.every for group in case.choices[place].groups)
        return {group: found[group] for group in GROUPS}

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        one, other = self.rankers
        return {
            "data": self.data,
            "rankers": list(self.rankers),
            "questions": len(self.every),
            "left_out": self.left_out,
            "both_right": self.count(True, True),
            "both_wrong": self.count(False, False),
            "only_right": {one: self.count(True, False), other: self.count(False, True)},
            "errors": {
                name: {"wrong": sum(not case.right[place] for case in self.every), **self.errors(place)}
                for place, name in enumerate(self.rankers)
            },
            "doubtful_labels": self.doubtful.to_json(),
            "cases": [_plain(case) for place in (0, 1) for case in self.won(place)],
            "both_wrong_cases": [_plain(case) for case in self.every if case.right == (False, False)],
        }


def _plain(case: Case) -> dict[str, Any]:
    choices = [choice.to_json() for choice in case.choices]
    return {"id": case.id, "question": case.question, "lead": case.lead, "answers": choices}


def cases(
    reports: Mapping[str, Report], pools: Iterable[Pool], relevant: int | None = None, *, data: str = ""
) -> Cases:
    """The cases of two reports over the pools that they were made of.

    Candidates are right from the label `relevant` on, or else from the one that the pools name.
    """
    if len(reports) != 2:
        raise UsageError(f"cases are of two rankers, not {len(reports)}; name two")
    lowest = lowest_right(pools) if relevant is None else relevant
    pools = pools if isinstance(pools, Sequence) else list(pools)
    scores = [_scores(name, report, pools, data) for name, report in reports.items()]
    spreads = [_spread(one.values()) for one in scores]
    names, every, left_out = list(reports), [], Counter[str]()
    for pool in pools:
        rights = [n for n, label in enumerate(pool.labels) if (label or 0) >= lowest]
        given = [_of(pool, one.get(pool.id, {})) for one in scores]
        firsts = [_first(pool, each, set(rights)) for each in given]
        if not rights:
            left_out["no right answer"] += 1
        elif len(rights) == len(pool):
            left_out["no wrong answer"] += 1
        elif not all(given):
            left_out["not ranked by both"] += 1
        elif None in firsts:
            left_out["a tie between right and wrong"] += 1
        else:
            places = [first for first in firsts if first is not None]
            near = {pair.wrong for pair in near_duplicates(pool, lowest)}
            one, other = (
                _choice(names[at], pool, places[at], places[1 - at], rights, near, given[at], spreads[at])
                for at in (0, 1)
            )
            every.append(Case(pool.id, pool.question, (one, other)))
    counts = {reason: left_out[reason] for reason in LEFT_OUT}
    return Cases((names[0], names[1]), data, tuple(every), counts, doubtful_labels(pools, lowest))


def _scores(name: str, report: Report, pools: Sequence[Pool], data: str) -> dict[str, Scores]:
    """The scores of a report by pool; it must have been made of these pools."""
    if len(report.scores) < report.pools or len(report.labels) < report.pools:
        again = "evaluate it again with this version, or name the ranker in its place"
        raise UsageError(f"the report {name} does not hold scores; {again}")
    held = Judged.of_pools(pools, [np.zeros(len(pool)) for pool in pools], data)
    now = dict(zip(held.ids, held.fingerprints, strict=True))
    then = dict(zip(report.ids, report.labels, strict=True))
    shared = now.keys() & then.keys()
    other = sorted(id for id in shared if now[id] != then[id])
    if not shared or other:
        what = (
            f"{count_of(len(other), 'question')} with other candidates or labels, such as {other[0]!r}"
            if other
            else "no question in common"
        )
        raise UsageError(f"{name} and {data or 'the pools'} have {what}; name the data that it was made of")
    return dict(zip(report.ids, report.scores, strict=True))


def _of(pool: Pool, scores: Scores) -> Scores:
    """The scores of those candidates that the pool has; a run may hold others, which have no text."""
    return {each.id: scores[each.id] for each in pool.candidates if each.id in scores}


def _spread(scores: Iterable[Scores]) -> float:
    """The standard deviation of scores within questions."""
    squares = count = 0.0
    for each in scores:
        values = np.array(list(each.values()))
        if len(values) > 1:
            with np.errstate(over="ignore"):  # scores of 1e200
                squares += float(((values - values.mean()) ** 2).sum())
            count += len(values) - 1
    return float(np.sqrt(squares / count)) if count else 0.0


def _first(pool: Pool, scores: Scores, rights: set[int]) -> int | None:
    """The place of the candidate that stands first; None where right and wrong ones share the first place."""
    best = max(scores.values(), default=0.0)
    places = [n for n, candidate in enumerate(pool.candidates) if scores.get(candidate.id) == best]
    return places[0] if places and len({place in rights for place in places}) == 1 else None


def _choice(
    ranker: str,
    pool: Pool,
    place: int,
    other: int,
    rights: Sequence[int],
    near: set[int],
    scores: Scores,
    spread: float,
) -> Choice:
    candidate, right = pool.candidates[place], place in rights
    score = scores[candidate.id]
    behind = score - scores.get(pool.candidates[other].id, min(scores.values()))
    return Choice(
        ranker=ranker,
        candidate=candidate,
        right=right,
        score=score,
        lead=behind / spread if 0 < spread < np.inf else 0.0,
        shared=shared_words(pool.question, candidate.text),
        groups=() if right else tuple(groups_of(pool, place, rights, near)),
    )
