"""The suite: each condition's figures beside those of the untouched pools, with paired tests and Holm's p."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from demur.data import binary
from demur.data.perturbing import roles
from demur.errors import DataError, UsageError
from demur.evaluation.comparison.significance import holm, mcnemar, permutation
from demur.evaluation.evaluating import evaluate
from demur.evaluation.intervals import estimates, generator
from demur.evaluation.robust.conditions import changed, conditions, numbers_changed
from demur.rankers import Ranker
from demur.rankers.lexical.overlap import Overlap
from demur.specs import Spec, parse
from demur.types import FloatArray, Pool

MEASURES = ("P@1", "MAP")
SEEDS = 5
_RESAMPLES = 2000


@dataclass(frozen=True)
class Finding:
    """What a condition does to a measure of one ranker, over the pools that it changed.

    `before` and `after` are means, the latter over seeds too; `low` and `high` hold the difference with 95 %
    confidence. `p` is of a permutation test of each pool's mean difference, `mcnemar` of right and wrong top
    answers under the first seed, `adjusted` Holm's over the whole suite. They are None where nothing is
    paired. In the family `beside`, `before` is of the first ranker and `after` of this one, under the same.
    """

    ranker: str
    family: str
    condition: str
    measure: str
    pools: int
    before: float
    after: float
    difference: float
    low: float
    high: float
    p: float | None = None
    mcnemar: float | None = None
    adjusted: float | None = None


@dataclass(frozen=True)
class Robustness:
    """All findings about some rankers, on the same pools."""

    data: str
    pools: int
    seeds: int
    rankers: Mapping[str, str]  # name -> spec
    findings: tuple[Finding, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "rankers": dict(self.rankers), "findings": [asdict(f) for f in self.findings]}


def robustness(
    rankers: Mapping[str, Ranker] | Sequence[Ranker],
    pools: Iterable[Pool],
    *,
    seeds: int = SEEDS,
    data: str = "",
    on_condition: Callable[[int], None] = lambda done: None,
) -> Robustness:
    """The suite over labelled pools; those without both a right and a wrong answer are left out.

    `on_condition` hears of each condition of each ranker that is done.
    """
    named = rankers if isinstance(rankers, Mapping) else {ranker.spec: ranker for ranker in rankers}
    if not named or seeds < 1:
        raise UsageError("the suite needs a ranker, and one seed or more")
    kept = [pool for pool in binary(pools) if 0 < pool.positives < len(pool)]
    if not kept:
        raise DataError("no pool has both right and wrong answers", path=data or None, fix="check the labels")
    found: list[Finding] = []
    under: list[Under] = []
    for name, ranker in named.items():
        under.append({})
        found += _suite(name, _Scorer(ranker.prepare(kept)), kept, seeds, on_condition, under[-1])
        if len(under) > 1:
            found += [
                _paired((name, "beside", *case), under[0][case].mean(axis=0), values)
                for case, values in under[-1].items()
                if case in under[0]
            ]
    specs = {name: _placeless(ranker.spec) for name, ranker in named.items()}
    return Robustness(data, len(kept), seeds, specs, tuple(_adjusted(found)))


def _placeless(spec: str) -> str:
    """What a ranker is, without the folder that it lies in on this machine."""
    found = parse(spec)
    return str(Spec(found.name, {key: value for key, value in found.settings.items() if key != "folder"}))


Under = dict[tuple[str, str], FloatArray]
"""What a ranker came to under each condition, by each measure: seeds × pools."""


class _Scorer:
    """Scores that are computed once for texts that stand in many conditions."""

    def __init__(self, ranker: Ranker) -> None:
        self.ranker = ranker
        self.known: dict[Any, Any] = {}

    def __call__(self, pools: Sequence[Pool]) -> list[FloatArray]:
        if self.ranker.alone:
            new = dict.fromkeys((p.question, a) for p in pools for a in p.answers)
            pairs = [pair for pair in new if pair not in self.known]
            singles = [Pool.of(question, [answer]) for question, answer in pairs]
            scores = [float(score[0]) for score in self.ranker.score_pools(singles)] if singles else []
            self.known.update(zip(pairs, scores, strict=True))
            return [np.array([self.known[p.question, a] for a in p.answers]) for p in pools]
        keys = [(pool.question, *pool.answers) for pool in pools]
        missing = {key: pool for key, pool in zip(keys, pools, strict=True) if key not in self.known}
        if missing:
            found = self.ranker.score_pools(list(missing.values()))
            self.known.update(zip(missing, found, strict=True))
        return [self.known[key] for key in keys]

    def values(self, pools: Sequence[Pool]) -> dict[str, FloatArray]:
        """Each measure, pool by pool."""
        return evaluate(self(pools), pools, MEASURES).values


def _suite(
    name: str,
    scores: _Scorer,
    pools: Sequence[Pool],
    seeds: int,
    on_condition: Callable[[int], None],
    under: Under,
) -> list[Finding]:
    """The findings of one ranker; what it came to under the conditions is put into `under`."""
    plain = scores.values(pools)
    found = _hard_and_easy(name, pools, plain["P@1"])
    for condition in conditions(seeds):
        runs, touched = [], np.zeros(len(pools), np.bool_)
        for seed in range(condition.seeds):
            made = condition.make(pools, seed)
            touched |= [changed(one, other) for one, other in zip(pools, made, strict=True)]
            runs.append((made, scores.values(made)))
        if touched.any():
            counts = touched if condition.family == "same meaning" else np.ones_like(touched)
            for measure in MEASURES:
                values = np.array([run[measure] for _, run in runs])[:, counts]
                under[condition.name, measure] = values
                of = name, condition.family, condition.name, measure
                found.append(_paired(of, plain[measure][counts], values))
            if condition.family == "echo":
                found.append(_fooled(name, condition.name, scores, pools, [made for made, _ in runs]))
        on_condition(1)
    found += _numbers(name, scores, pools, seeds)
    found.append(_roles(name, scores))
    on_condition(1)
    return found


def _paired(of: tuple[str, str, str, str], before: FloatArray, runs: FloatArray) -> Finding:
    """The finding of one measure: pools × nothing before, seeds × pools after."""
    after = runs.mean(axis=0)
    interval = estimates((after - before)[:, None])[0]
    first = np.round(runs[0] - before, 12)
    exact = of[3] == "P@1" and bool(np.isin(np.concatenate([before, runs[0]]), (0.0, 1.0)).all())
    return Finding(
        *of,
        *(len(before), float(before.mean()), float(after.mean())),
        *(interval.mean, interval.low, interval.high),
        p=permutation(after - before),
        mcnemar=mcnemar(first) if exact else None,
    )


def _hard_and_easy(name: str, pools: Sequence[Pool], right: FloatArray) -> list[Finding]:
    """P@1 where the answers that share most with the question are all right, and where they are all wrong.

    Nothing is paired here: `before` is of the easy questions, `after` of the hard ones.
    """
    overlap = Overlap().score_pools(pools)
    tops = [
        {
            bool(one.label and one.label > 0)
            for one, high in zip(pool.candidates, s == s.max(), strict=True)
            if high
        }
        for pool, s in zip(pools, overlap, strict=True)
    ]
    easy, hard = (right[[top == {side} for top in tops]] for side in (True, False))
    if not len(easy) or not len(hard):
        return []
    draws = generator(0)
    means = [
        each[draws.integers(0, len(each), (_RESAMPLES, len(each)))].mean(axis=1) for each in (easy, hard)
    ]
    low, high = np.quantile(means[1] - means[0], (0.025, 0.975)).tolist()
    name_of = f"{len(easy)} easy, {len(hard)} hard"
    pair = float(easy.mean()), float(hard.mean())
    count = len(easy) + len(hard)
    return [Finding(name, "overlap", name_of, "P@1", count, *pair, pair[1] - pair[0], low, high)]


def _fooled(
    name: str, condition: str, scores: _Scorer, pools: Sequence[Pool], runs: Sequence[Sequence[Pool]]
) -> Finding:
    """How often an answer is the top one, before and after it echoes the question."""
    before = scores(pools)
    shares = []
    for made in runs:
        rows = []
        for one, other, old, new in zip(pools, made, before, scores(made), strict=True):
            at = next((n for n, c in enumerate(other.candidates) if c.text != one.candidates[n].text), None)
            rows.append((0.0, 0.0) if at is None else (_top(old, at), _top(new, at)))
        shares.append(rows)
    means = np.array(shares).mean(axis=0)
    interval = estimates((means[:, 1] - means[:, 0])[:, None])[0]
    return Finding(
        *(name, "echo", condition, "echo on top", len(pools)),
        *(float(means[:, 0].mean()), float(means[:, 1].mean())),
        *(interval.mean, interval.low, interval.high),
        p=permutation(means[:, 1] - means[:, 0]),
    )


def _top(scores: FloatArray, at: int) -> float:
    """The chance that a candidate stands first; those with equal scores share it."""
    best = scores == scores.max()
    return float(best[at] / best.sum())


def _numbers(name: str, scores: _Scorer, pools: Sequence[Pool], seeds: int) -> list[Finding]:
    """How often a right answer scores less once its numbers are others: it should, always."""
    plain = scores(pools)
    shares: list[FloatArray] = []
    kept: list[int] = []
    for seed in range(seeds):
        made = numbers_changed(pools, seed)
        kept = [n for n, (one, other) in enumerate(zip(pools, made, strict=True)) if changed(one, other)]
        new = scores([made[n] for n in kept])
        rows = []
        for n, after in zip(kept, new, strict=True):
            other = [a.text != b.text for a, b in zip(pools[n].candidates, made[n].candidates, strict=True)]
            fell = np.sign(np.round(plain[n] - after, 9))[other]
            rows.append(float((fell + 1).mean() / 2))
        shares.append(np.array(rows))
    if not kept:
        return []
    means = np.mean(shares, axis=0)
    interval = estimates(means[:, None])[0]
    what = "other numbers"
    edges = interval.mean - 0.5, interval.low - 0.5, interval.high - 0.5
    return [
        Finding(
            name,
            "other meaning",
            what,
            "score falls",
            len(kept),
            0.5,
            interval.mean,
            *edges,
            p=permutation(means - 0.5),
        )
    ]


def _roles(name: str, scores: _Scorer) -> Finding:
    """How often who did it comes before whom it was done to, beside a coin's half."""
    pools = list(roles.swapped())
    right = evaluate(scores(pools), pools, ["P@1"]).values["P@1"]
    interval = estimates(right[:, None])[0]
    edges = interval.mean - 0.5, interval.low - 0.5, interval.high - 0.5
    return Finding(
        *(name, "other meaning", "roles swapped", "P@1", len(pools), 0.5, interval.mean),
        *edges,
        p=permutation(right - 0.5),
    )


def _adjusted(found: Sequence[Finding]) -> list[Finding]:
    places = [n for n, one in enumerate(found) if one.p is not None]
    values = holm([found[n].p or 0.0 for n in places])
    adjusted = dict(zip(places, values, strict=True))
    return [replace(one, adjusted=adjusted.get(n)) for n, one in enumerate(found)]
