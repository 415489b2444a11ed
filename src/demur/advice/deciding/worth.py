"""Which methods are not worth trying, as what was measured elsewhere, or here, makes sure that they lose."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from demur.advice.deciding import rules
from demur.advice.deciding.evidence import Evidence
from demur.advice.methods import Method
from demur.advice.trials.curves import rounded, wins_at
from demur.data.sources import find_file

_OTHER_DATA = 4  # times fewer labels may do on data that are not like any that we measured
_LEVEL = 0.01  # of MAP: a net this close to the best without labels is level with it
_SURE = 2.0  # standard deviations


def too_early(methods: Sequence[Method], informative: int, known: Evidence) -> dict[str, str]:
    """Of the methods that learn from labels, why not: far fewer labels than ever were enough."""
    needed, where = fewest(known)
    if not math.isfinite(needed) or informative >= needed / _OTHER_DATA:
        return {}
    why = (
        f"{informative} labels are far too few: on {where}, where the fewest were needed, it took about "
        f"{rounded(needed)} until the best of the nets that learn from labels was within {_LEVEL:g} MAP of "
        "the best ranker without"
    )
    return {method.name: why for method in methods if method.labels}


def fewest(known: Evidence) -> tuple[float, str]:
    """With how many labels a net was first as good as the best without any, and on which dataset."""
    found = [
        (wins_at(points, each.without - _LEVEL), each.name)
        for each in known.datasets
        if each.without is not None
        for points in each.curves.values()
        if points
    ]
    return min(found, default=(math.inf, ""))


def beaten(method: Method, means: Mapping[str, float], known: Evidence) -> str:
    """Why a method cannot win any more, whatever it gets here; nothing where it could.

    `means` are those to expect of the methods tried so far. A method that nobody measured may always win.
    """
    if not means:
        return ""
    standard = rules.yardstick(means)
    if not known.measured(method.name, standard):
        return ""
    lead = known.leads([method], standard)[method.name]
    best = max(means, key=lambda name: means[name])
    if means[standard] + lead.mean + _SURE * math.sqrt(lead.variance) > means[best]:
        return ""
    return (
        f"cannot be expected to reach {best} here: it led {standard} by {lead.mean:+.3f} MAP on other data, "
        f"and {best} is {means[best] - means[standard]:.3f} ahead of that"
    )


def at_hand(method: Method) -> str:
    """What is missing of the data that a method learns from; nothing where it is here, or needs none."""
    from demur import data

    lacking = [file for file in data.pools(method.data).files if not find_file(file)] if method.data else []
    if not lacking:
        return ""
    name = lacking[0].partition("/")[0]
    return (
        f"learns from {method.data}, and {lacking[0]} is not here: demur data show {name} says how to obtain "
        "it; or train it where it is, with recipes/siamese-squad.toml, and name the folder with --also"
    )
