"""Labels that become a promise: which question to label next, what the labels carry, and the gate they make.

Questions that certify are asked about in the order of their hashes, which is chance, as a promise holds for
questions drawn like them; those that fit (see `demur.asking.gates.labels`), by what they teach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from demur.asking.gates.calibrating import judged_pool
from demur.asking.gates.labels import FIT, Labelled, fits, labelled, lot, parted
from demur.asking.gates.missing import RISKS, missing_labels
from demur.asking.meaning import finding
from demur.errors import DemurError
from demur.kb.folder import KnowledgeBase
from demur.kb.store.labels import named
from demur.risk.predictions import Predictions
from demur.risk.qualifiers.base import Qualifier, qualifier
from demur.risk.thresholds.control import Evidence
from demur.types import Pool, Ranking

SHOWN = 9
"""Passages that are shown to be judged, as there are so many keys."""
_TAUGHT = 200  # questions among which the most informative one is chosen
_FOUND = 10  # passages that tell how unsure a search by words is


def waiting(kb: KnowledgeBase) -> list[str]:
    """The questions that are kept to be labelled and are not, or whose labels are stale."""
    known = labelled(kb.labels())
    done = {named(each.question) for each in known.values() if not each.stale}
    found: dict[str, str] = {}
    for question in [*kb.questions(), *(each.question for each in known.values() if each.stale)]:
        name = named(question)
        if name not in done:
            found.setdefault(name, question)
    return list(found.values())


def keep_new(kb: KnowledgeBase, questions: Iterable[str], logged: bool = False) -> int:
    """How many of these questions are new, whatever their case and signs; they are kept, to be labelled."""
    known = {named(each): each for each in kb.questions()}
    found: dict[str, str] = {}
    for each in questions:
        found.setdefault(named(each), known.get(named(each), each))
    return kb.keep_questions(found.values(), logged)


def next_question(kb: KnowledgeBase, skipped: Iterable[str] = ()) -> str | None:
    """The question to label next; None if none waits.

    Those that fit and those that certify take turns, by how many there should be of each.
    """
    left_out = set(skipped)
    open_ = [each for each in waiting(kb) if each not in left_out]
    fit, certify = ([each for each in open_ if fits(each) is wanted] for wanted in (True, False))
    done = [each for each in labelled(kb.labels()).values() if not each.stale]
    behind = sum(fits(each.question) for each in done) * FIT < len(done)
    if fit and (behind or not certify):
        return most_informative(kb, fit, [each.question for each in done])
    return min(certify, key=lot) if certify else None


def most_informative(kb: KnowledgeBase, questions: Sequence[str], done: Sequence[str]) -> str:
    """The question that teaches most, by the rule of `advise --label-next`.

    It stands for many that are alike and unlabelled, the search is unsure of it, and it has an answer.
    """
    from demur.advice.labelling import best_of

    some = sorted(questions, key=lot)[:_TAUGHT]
    scores = [kb.by_words(each, _FOUND)[1] for each in some]
    known = sorted(done, key=lot)[:_TAUGHT]
    try:
        return some[best_of(some, scores, known, finding.vectors)]
    except DemurError:  # the encoder did not come with this copy of demur
        return some[best_of(some, scores, known)]


class Desk:
    """What is known of labelled questions: what is found for each, kept as long as nothing has changed."""

    def __init__(self, how: str | Qualifier) -> None:
        self.how = qualifier(how)
        self._state = ""
        self._found: dict[str, tuple[Ranking, float]] = {}

    def missing(self, questions: Iterable[str]) -> list[str]:
        """The questions that nothing was found for yet."""
        return [each for each in questions if each not in self._found]

    def confidence(self, ranking: Ranking) -> float:
        """How sure the best passage is."""
        pool = Pool("q", ranking.question, ranking.candidates)
        return float(self.how.confidence([pool], [np.array(ranking.scores, np.float64)])[0])

    def keep(self, state: str, question: str, ranking: Ranking, confidence: float) -> None:
        """Note what was found for a question; all that was found in another state of the base goes."""
        self.forget(state)
        self._found[question] = (ranking, confidence)

    def drop(self, question: str) -> None:
        """Forget what was found for a question."""
        self._found.pop(question, None)

    def copy(self) -> Desk:
        """What is known now, whatever others ask meanwhile."""
        other = Desk(self.how)
        other._state, other._found = self._state, dict(self._found)
        return other

    def forget(self, state: str) -> None:
        """Drop all that was found, if the base is another now."""
        if state != self._state:
            self._state, self._found = state, {}

    def ranking(self, question: str) -> Ranking:
        """What was found for a question."""
        return self._found[question][0]

    def judged(self, known: Iterable[Labelled]) -> list[Pool]:
        """What was found for labelled questions, judged by their labels."""
        return [judged_pool(self._found[each.question][0], each.pool) for each in known]

    def standing(self, known: Sequence[Labelled], confidence: float = 0.95) -> list[dict[str, Any]]:
        """For each risk the share of questions that a gate would answer, or how many more labels it takes."""
        evidence, certify, delta = self._evidence(known), parted(known)[0], 1 - confidence
        told: list[dict[str, Any]] = []
        for risk in RISKS:
            choice = None if evidence is None else evidence.choice(risk, delta)
            share = None if choice is None else choice.accepted / max(1, choice.questions)
            more = None if choice is not None else missing_labels(evidence, len(certify), risk, delta)
            told.append({"risk": risk, "promised": choice is not None, "coverage": share, "more": more})
        return told

    def missing_labels(self, known: Sequence[Labelled], risk: float, confidence: float) -> int | None:
        """How many more labels a risk takes, as `standing` tells it; None if no rate of errors is known."""
        evidence = self._evidence(known)
        if evidence is None or not evidence.tells_a_rate:
            return None
        return missing_labels(evidence, len(parted(known)[0]), risk, 1 - confidence)

    def _evidence(self, known: Sequence[Labelled]) -> Evidence | None:
        """What the certifying labels say of the answers; None if nothing was found for their questions."""
        certify = parted(known)[0]
        pools = self.judged(certify)
        if not any(map(len, pools)):
            return None
        confidences = np.array([self._found[each.question][1] for each in certify])
        scores = [np.array([one.extra["score"] for one in pool.candidates], np.float64) for pool in pools]
        answers = Predictions.of_pools(pools, scores, confidences)
        others = np.array([self._found[e.question][1] for e in known if fits(e.question)])
        others = others[np.isfinite(others)]
        return Evidence.of(
            answers.confidence[answers.predicted],
            answers.wrong[answers.predicted],
            others=others if len(others) else None,
        )


def exported(known: Iterable[Labelled], part: str, found: Callable[[str], Ranking]) -> list[dict[str, Any]]:
    """Labelled questions as `demur train` reads them: what was judged; what is shown beside it is wrong."""
    rows = []
    for each in known:
        if part != "all" and fits(each.question) is not (part == "fit"):
            continue
        pool = each.pool
        seen = set(pool.answers)
        shown = judged_pool(found(each.question), pool).candidates[:SHOWN]  # nobody looks at the rest
        others = [one for one in shown if one.text not in seen]
        candidates = [
            {"id": str(n), "text": one.text, "label": one.label}
            for n, one in enumerate([*pool.candidates, *others])
        ]
        rows.append({"id": pool.id, "question": pool.question, "candidates": candidates})
    return rows
