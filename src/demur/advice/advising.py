"""Advice on one's own pools: methods tried on the labels there are, or the evidence of our own runs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demur.advice import table
from demur.advice.coverage import certified
from demur.advice.deciding import choosing, evidence, worth
from demur.advice.deciding.evidence import OtherData
from demur.advice.deciding.profile import Profile
from demur.advice.methods import Method, applicable
from demur.advice.table import Row
from demur.advice.trials import curves, measuring
from demur.advice.trials.learning import curve
from demur.advice.trials.trying import FEWEST, Say, Trial, Trying, drawn, inner, is_informative, is_labelled
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.types import Pool

MOST = 1_000
"""Pools that methods are tried on: of more, so many drawn by chance."""
_FOR_CURVE = 0.25  # of the time, kept for the learning curve
_FOR_COSTS = 0.15  # and for measuring what methods cost to use
_WITHIN = 0.05  # of MAP below the best: of methods further behind nobody asks what they cost


@dataclass(frozen=True, eq=False)
class Advice:
    """What to take and why; `rows` are empty where there were too few labels to measure anything."""

    recommendation: str
    method: Method
    profile: Profile
    labelled: int
    informative: int  # of these, with a right and a wrong answer
    pools: int
    rows: tuple[Row, ...] = ()
    skipped: tuple[Trial, ...] = ()
    missing: tuple[Method, ...] = ()
    labels: str = ""  # how many more labels until a trained method wins
    curve: curves.Curve | None = None
    forecast: curves.Forecast | None = None
    other_data: OtherData | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The advice as plain values."""
        return {
            "recommendation": self.recommendation,
            "method": self.method.name,
            "spec": self.method.spec,
            "pools": self.pools,
            "labelled": self.labelled,
            "informative": self.informative,
            "profile": self.profile.to_json(),
            "measured": [row.to_json() for row in self.rows],
            "skipped": {trial.method.name: trial.skipped for trial in self.skipped},
            "missing": {method.name: method.extra for method in self.missing},
            "labels": self.labels,
            "curve": None if self.curve is None else {"sizes": self.curve.sizes, "gains": self.curve.means},
            "forecast": None if self.forecast is None else self.forecast.to_json(),
            "alike": None if self.other_data is None else self.other_data.dataset.name,
            **self.facts,
        }

    def made(self) -> dict[str, Any]:
        """What the card of the saved model says."""
        told = {"by": "demur advise", "recommendation": self.recommendation, **self.facts}
        return (
            told | {"labelled": self.labelled, "evidence": table.evidence(self.rows, self.skipped)}
            if self.rows
            else told
        )


def advise(
    pools: Sequence[Pool],
    minutes: float = 5.0,
    *,
    risk: float | None = None,
    folds: int = 5,
    seed: int = 0,
    more: Sequence[str] = (),
    clock: Callable[[], float] = time.monotonic,
    say: Say = lambda line: None,
) -> Advice:
    """The method to take for these pools, from what labels there are, in about so many minutes."""
    if not pools or not any(len(pool) for pool in pools):
        raise UsageError(
            "there are no candidates in these pools, so there is nothing to rank; "
            "give questions with their candidates"
        )
    if not 0 < minutes < float("inf") or folds < 2 or seed < 0:
        raise UsageError("minutes must be a number above 0, folds 2 or more, and the seed 0 or more")
    if risk is not None and not 0 < risk < 1:
        raise UsageError(f"risk={risk:g} must be a share of answers above 0 and below 1, such as 0.1")
    deadline = clock() + 60 * minutes
    labelled = [pool for pool in pools if is_labelled(pool)]
    informative = sum(map(is_informative, labelled))
    profile = Profile.of(pools)
    facts: dict[str, Any] = {"folds": folds, "seed": seed, "minutes": minutes}
    if risk is not None:
        facts["risk"] = risk
    if informative < FEWEST:
        return _by_other_data(pools, profile, len(labelled), informative, facts)
    methods, missing = applicable(True, more)
    part = drawn(labelled, MOST, seed)
    if sum(map(is_informative, part)) < FEWEST:  # so few of them tell something that all are needed
        part = labelled
    spare = 60 * minutes * (_FOR_CURVE + _FOR_COSTS)
    around = drawn(pools, MOST, seed)
    trying = Trying(
        around, part, deadline - spare, min(folds, sum(map(is_informative, part))), seed, clock, say
    )
    known, ours = evidence.packaged(), len(methods) - len(more)
    early = worth.too_early(methods[:ours], sum(map(is_informative, part)), known)

    def why_not(method: Method) -> str:
        if method in methods[ours:]:
            return ""
        return early.get(method.name) or worth.at_hand(method) or _beaten(method, trying, part, seed, known)

    tried = trying.run([*methods[ours:], *methods[:ours]], why_not)  # what the user names gets its time first
    trials = sorted(tried, key=lambda trial: methods.index(trial.method))  # and is no simpler for that
    found = choosing.beside_the_best(trials, part, seed, known)
    if not found:
        raise UsageError("no method could be tried in the time; give more --minutes")
    trying.deadline = deadline
    gains, reached, labels = _labels(found, trying, len(labelled), 60 * minutes * _FOR_CURVE)
    if early and not any(each.trial.method.labels for each in found):
        labels = _labels_needed(evidence.by_evidence(profile, methods, known))
    costs = _costs(found, trying)
    rows = tuple(
        Row(
            each,
            costs[each.name],
            None if risk is None else certified(part, each.trial.scores, trying.fold_of, risk, seed),
            risk is not None,
        )
        for each in found
    )
    return Advice(
        recommendation=choosing.sentence(found),
        method=choosing.chosen(found).trial.method,
        profile=profile,
        labelled=len(labelled),
        informative=informative,
        pools=len(pools),
        rows=rows,
        skipped=tuple(trial for trial in trials if trial.skipped),
        missing=tuple(missing),
        labels=labels,
        curve=gains,
        forecast=reached,
        facts={**facts, "measured_on": len(part)},
    )


def _beaten(method: Method, trying: Trying, part: Sequence[Pool], seed: int, known: evidence.Evidence) -> str:
    """Why a method that takes long need not be tried after those that were; nothing where it could win."""
    if not method.data:
        return ""
    found = choosing.beside_the_best(trying.trials, part, seed, known)
    return worth.beaten(method, {each.name: each.expected for each in found}, known)


def _labels(
    found: Sequence[choosing.Judged], trying: Trying, labelled: int, seconds: float
) -> tuple[curves.Curve | None, curves.Forecast | None, str]:
    """How many more labels until the best method that learns from them wins over the best that does not."""
    taught = [each for each in found if each.trial.method.labels]
    without = [each for each in found if not each.trial.method.labels]
    if not taught or not without:
        return None, None, "unknown, as no method that learns from labels could be tried"
    first, other = (max(side, key=lambda each: each.expected) for side in (taught, without))
    if first.expected > other.expected:
        if other.worse:
            return None, None, f"{first.name}, which learns from them, is already better than {other.name}"
        return None, None, f"{first.name}, which learns from them, is level with {other.name} already"
    gains = curve(trying, first.trial.method, other.trial.scores, seconds)
    reached = None if gains is None else curves.forecast(gains, trying.seed)
    if reached is None:
        why = f"too few labels, or too little time, for a learning curve of {first.name}"
        return gains, None, f"unknown: {why}"
    scale = len(trying.labelled) / sum(
        map(is_informative, trying.labelled)
    )  # the curve counts those that tell something
    stretched = curves.Forecast(*(scale * each for each in (reached.needed, reached.low, reached.high)))
    return gains, stretched, f"{first.name} is level with {other.name} {stretched.more(labelled)}"


def _costs(found: Sequence[choosing.Judged], trying: Trying) -> dict[str, measuring.Cost | None]:
    costs: dict[str, measuring.Cost | None] = dict.fromkeys(each.name for each in found)
    most = max(each.expected for each in found)
    for each in found:
        if each.expected < most - _WITHIN:
            continue
        trying.say(f"{each.name}: measuring what it costs to use")
        costs[each.name] = measuring.cost(each.trial.models[0], trying.labelled, trying.left)
    return costs


def _by_other_data(
    pools: Sequence[Pool], profile: Profile, labelled: int, informative: int, facts: dict[str, Any]
) -> Advice:
    """Advice from our own evidence, where there are too few labels to measure anything."""
    methods, missing = applicable(False)
    methods = [method for method in methods if not worth.at_hand(method)]
    known = evidence.by_evidence(profile, methods, evidence.packaged())
    method = known.method if known else methods[min(2, len(methods) - 1)]
    few = (
        f"{informative} of your {len(pools):,} pools have both a right and a wrong answer marked, and with "
        f"fewer than {FEWEST} nothing can be measured"
    )
    if known is None or known.figure is None:
        why = "this is the usual choice, and no measurement supports it"
    else:
        figure, figures = known.figure, known.dataset.figures
        others = [each for each in methods if each.name in figures and each != method]
        others.sort(key=lambda each: -figures[each.name].mean)
        beside = " and ".join(f"{each.name} {figures[each.name].mean:.3f}" for each in others[:2])
        why = (
            f"your pools look most like {known.dataset.name} ({known.dataset.profile}), where it reached MAP "
            f"{figure.mean:.3f} ({figure.low:.3f}–{figure.high:.3f}) in our runs"
            f"{beside and ', beside '}{beside}; on your own data nothing was measured"
        )
    if known is not None and known.instead is not None and known.elsewhere is not None:
        there, name = known.elsewhere, known.instead.name
        why += (
            f". Try {name} too: on {known.dataset.name} it has no fair figure, but on {there.name}, "
            f"the next most alike, it reached {there.figures[name].mean:.3f} and {method.name} "
            f"{there.figures[method.name].mean:.3f}"
        )
    return Advice(
        recommendation=f"Take {method.name}: {few}; {why}.",
        method=method,
        profile=profile,
        labelled=labelled,
        informative=informative,
        pools=len(pools),
        missing=tuple(missing),
        labels=f"{FEWEST - informative} more allow measurements on your own pools; {_labels_needed(known)}",
        other_data=known,
        facts=facts,
    )


def _labels_needed(known: OtherData | None) -> str:
    if known is None or math.isnan(known.labels):
        return "how many it takes to train a net is unknown, as no learning curve was measured"
    if math.isinf(known.labels):
        tried = f"with up to {known.most:,} labelled questions"
        return f"on {known.curves} no trained net caught up with rankers that need none, {tried}"
    many = f"about {curves.rounded(known.labels)} labelled questions"
    return f"on {known.curves} it took {many} until a trained net caught up with rankers that need none"


def final(advice: Advice, pools: Sequence[Pool], seed: int) -> Ranker:
    """The ranker of the chosen method, trained on all labelled pools."""
    if not advice.method.labels:
        return advice.method.learn(pools, (), seed)
    return advice.method.learn(*inner([pool for pool in pools if is_labelled(pool)], seed), seed)


def save(advice: Advice, pools: Sequence[Pool], folder: str | Path, seed: int = 0) -> Ranker:
    """The ranker of the chosen method, trained on all labelled pools and written as a model folder."""
    from demur.advice.card import text
    from demur.rankers.opening import save as write

    taught = final(advice, pools, seed)
    write(taught, Path(folder), advice.made(), {"README.md": text(advice)})
    return taught
