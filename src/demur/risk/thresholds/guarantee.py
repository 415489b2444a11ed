"""Promises put to the test: gates calibrated on many draws from populations whose true risk is known.

A rule breaks its word on a draw if the true risk at its threshold is above the one asked for. It may do so on
a share delta of draws; on how many more by bad luck, `limit` says. A rule that never finds a threshold breaks
nothing, so coverage is watched too: the true share of questions that pass, none where there is no threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from demur.risk.predictions import BoolArray
from demur.risk.thresholds.control import STARTS, Choice, Evidence
from demur.risk.thresholds.counted_answers import Labelled
from demur.risk.thresholds.populations import Population, populations
from demur.types import FloatArray

SIZES, RISKS, DRAWS = (200, 1000), (0.10, 0.05), 1000
UNLABELLED = 1000


@dataclass(frozen=True)
class Rule:
    """A way to come from labelled questions to a threshold."""

    name: str
    method: str
    unlabelled: bool = False  # thresholds from questions without labels, and all that have labels are tested
    starts: int = STARTS

    def choice(
        self,
        confidence: FloatArray,
        wrong: BoolArray,
        others: FloatArray,
        risk: float,
        delta: float,
        seed: int,
    ) -> Choice | None:
        """The threshold for one draw."""
        if self.unlabelled:
            labelled = Labelled.of(confidence, wrong)
            evidence = Evidence(labelled, len(labelled), others, None, self.method, self.starts)
        else:
            evidence = Evidence.of(confidence, wrong, method=self.method, seed=seed)
        return evidence.choice(risk, delta)


GATE = "gate"
RULES = (
    Rule(GATE, "ltt"),
    Rule("gate, thresholds from unlabelled questions", "ltt", unlabelled=True),
    Rule("the same from one start", "ltt", unlabelled=True, starts=1),
    Rule("Bonferroni", "bonferroni"),
    Rule("SGR, faults fixed", "sgr"),
    Rule("Clopper-Pearson at each threshold", "clopper-pearson"),
    Rule("naive", "naive"),
    Rule("SGR, authors' code", "sgr-code"),
)


@dataclass(frozen=True)
class Cell:
    """How one rule did on one population."""

    population: str
    questions: int
    risk: float  # asked for, and delta too
    rule: str
    draws: int
    violations: int
    abstained: int
    coverage: float
    limit: int

    @property
    def kept(self) -> bool:
        """Whether the promise was kept as often as promised, luck allowed for."""
        return self.violations <= self.limit


def limit(draws: int, delta: float) -> int:
    """How many violations among so many draws a rule that keeps its word exceeds once in a thousand."""
    from scipy.stats import binom

    return int(binom.ppf(0.999, draws, delta))


def tried(
    population: Population,
    questions: int,
    risk: float,
    rules: Sequence[Rule] = RULES,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[Cell]:
    """One cell per rule, all over the same draws; delta is the risk."""
    rng = np.random.default_rng([seed, questions, round(1000 * risk), *population.name.encode()])
    violations, abstained, coverage = (dict.fromkeys(range(len(rules)), 0.0) for _ in range(3))
    for draw in range(draws):
        confidence, wrong = population.draw(rng, questions)
        others = population.draw(rng, UNLABELLED)[0]
        for place, rule in enumerate(rules):
            choice = rule.choice(confidence, wrong, others, risk, risk, seed + draw)
            if choice is None or population.coverage(choice.threshold) == 0:
                abstained[place] += 1
                continue
            violations[place] += population.risk(choice.threshold) > risk
            coverage[place] += population.coverage(choice.threshold)
    return [
        Cell(
            population=population.name,
            questions=questions,
            risk=risk,
            rule=rule.name,
            draws=draws,
            violations=int(violations[place]),
            abstained=int(abstained[place]),
            coverage=round(coverage[place] / draws, 6),
            limit=limit(draws, risk),
        )
        for place, rule in enumerate(rules)
    ]


def everything(draws: int = DRAWS, seed: int = 0, rules: Sequence[Rule] = RULES) -> Iterator[list[Cell]]:
    """The cells of every population, size and risk."""
    for risk in RISKS:
        for questions in SIZES:
            for population in populations(risk):
                yield tried(population, questions, risk, rules, draws, seed)


def faults(cells: Sequence[Cell]) -> list[str]:
    """What is wrong with a run, a line each: the gate must keep its word and be of use, others break it."""
    found = [
        f"the gate broke its word on {cell.population}: on {cell.violations} draws, {cell.limit} allowed"
        for cell in cells
        if cell.rule in {rule.name for rule in RULES if rule.method == "ltt"} and not cell.kept
    ]
    found += [
        f"{rule} was not caught breaking its word, so this test finds nothing"
        for rule in ("naive", "SGR, authors' code")
        if all(cell.kept for cell in cells if cell.rule == rule)
    ]
    smooth = [c for c in cells if (c.population, c.questions, c.risk, c.rule) == ("smooth", 1000, 0.1, GATE)]
    found += [f"the gate lets only {c.coverage:.2f} of smooth pass" for c in smooth if c.coverage <= 0.3]
    return found
