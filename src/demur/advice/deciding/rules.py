"""Rules that choose a method by its figure on each labelled question and by what is known of other data.

Ours looks at each method's lead over a yardstick, question by question. The mean lead is shrunk towards what
the method led by on the datasets of our evidence: the more, the fewer the questions, the more they disagree,
and the surer that evidence is of one more dataset (empirical Bayes). Then the simplest method that is hardly
below the best is taken. The other rules stand beside it in the table that replays them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from demur.evaluation.comparison.significance import permutation
from demur.types import FloatArray

NEAR = 0.004
"""Of MAP: a simpler method this close to the best is taken."""
YARDSTICK = "encoder"
"""What others are compared with where it was tried: it has figures everywhere, and others stay near it."""
LEVEL = 0.05
_FEW, _SPREAD = 5, 0.2  # questions' worth of trust in the usual spread of leads, as few show too little of it
_FIXED = 10  # questions' worth of trust in the evidence, where a rule fixes it
_DRAWS = 2_000

Values = Mapping[str, FloatArray]
"""By method, the simplest first: its figure on each of the same questions."""


@dataclass(frozen=True)
class Lead:
    """What a method leads the yardstick by on one more dataset, and with what variance, by other datasets."""

    mean: float
    variance: float


Leads = Mapping[str, Lead]


def yardstick(names: Mapping[str, object]) -> str:
    """The method that others are compared with: the usual one, or the simplest where that was not tried."""
    return YARDSTICK if YARDSTICK in names else next(iter(names))


def shrunk(values: Values, leads: Leads) -> dict[str, float]:
    """By method, the mean to expect on more questions like these."""
    standard = values[yardstick(values)]
    level = float(standard.mean())
    found = {}
    for name, figures in values.items():
        ahead, known = figures - standard, leads[name]
        weight = known.variance / (known.variance + _noise(ahead)) if known.variance else 0.0
        found[name] = level + weight * float(ahead.mean()) + (1 - weight) * known.mean
    return found


def _noise(ahead: FloatArray) -> float:
    """The variance of the mean of leads."""
    squares = float(((ahead - ahead.mean()) ** 2).sum()) + _FEW * _SPREAD**2
    return squares / (len(ahead) - 1 + _FEW) / len(ahead)


def simplest(means: Mapping[str, float], near: float = NEAR) -> str:
    """The first, that is the simplest, of those that are hardly below the best."""
    best = max(means.values())
    return next(name for name, mean in means.items() if mean >= best - near)


def by_shrunk_means(values: Values, leads: Leads) -> str:
    """The rule that `demur advise` goes by."""
    return simplest(shrunk(values, leads))


def by_best_shrunk_mean(values: Values, leads: Leads) -> str:
    """As ours, but a simpler method is not preferred."""
    return simplest(shrunk(values, leads), 0.0)


def by_means(values: Values, leads: Leads) -> str:
    """The best mean, whatever is known of other data."""
    return simplest(_means(values), 0.0)


def by_near_means(values: Values, leads: Leads) -> str:
    """The simplest that is hardly below the best mean."""
    return simplest(_means(values))


def by_fixed_weights(values: Values, leads: Leads) -> str:
    """As ours, but the evidence always counts for the same number of questions."""
    means = _means(values)
    level = means[yardstick(values)]
    count = len(next(iter(values.values())))
    return simplest(
        {
            name: level + (count * (mean - level) + _FIXED * leads[name].mean) / (count + _FIXED)
            for name, mean in means.items()
        }
    )


def by_significance(values: Values, leads: Leads) -> str:
    """The simplest that is not significantly worse than the best: what `demur advise` went by before."""
    means = _means(values)
    best = max(means, key=lambda name: means[name])
    return next(
        name
        for name, mean in means.items()
        if mean == means[best] or permutation(values[name] - values[best], draws=_DRAWS) >= LEVEL
    )


def _means(values: Values) -> dict[str, float]:
    return {name: float(figures.mean()) for name, figures in values.items()}


RULES: dict[str, Callable[[Values, Leads], str]] = {
    "shrunk means, the simplest within .004": by_shrunk_means,
    "shrunk means, the best": by_best_shrunk_mean,
    "the best mean": by_means,
    "the simplest within .004 of the best mean": by_near_means,
    "evidence worth ten questions, the simplest within .004": by_fixed_weights,
    "the simplest not significantly worse": by_significance,
}
