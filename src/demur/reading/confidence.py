"""How sure it is that a passage answers a question and that the quote is right: one logistic regression.

It weighs what the network's one pass has said: the score, how probable the quote is and how probable no
answer, by the last layer and by the probe of each layer below. It never sees which passage stands first, so a
passage has the same confidence in any company.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur import logistic
from demur.errors import DataError, refuse_newer
from demur.files import read_json, replacing
from demur.reading.spans import View, best
from demur.types import FloatArray

FILE = "sureness.json"
_LEAST = -20.0  # the logarithm of what is as good as impossible
_FORMAT = "demur sureness 1"


def _no_layers() -> NDArray[np.float32]:
    return np.zeros((0, 2, 0), np.float32)


@dataclass(frozen=True)
class Glance(View):
    """A window as mini sees it: a view with the window's score, and what each probe says of positions."""

    score: float = 0.0
    layers: NDArray[np.float32] = field(default_factory=_no_layers)
    """Probes × 2 × positions: logits of a start, and of an end."""


def names(layers: int) -> list[str]:
    """What the signals of a passage are called, for so many probes."""
    probed = [f"{what} by layer {layer}" for layer in range(1, layers + 1) for what in ("quote", "no answer")]
    return ["score", "quote", "no answer", "margin", "length", *probed]


def signals(glances: Sequence[Glance], longest: int) -> FloatArray:
    """The numbers that doubt looks at, from the windows of one passage."""
    layers = len(glances[0].layers)
    found = np.full(5 + 2 * layers, _LEAST)
    found[0] = max(glance.score for glance in glances)
    found[3] = found[4] = 0.0
    spans = [(score, glance, a, b) for glance in glances for score, a, b in best(glance, longest, 2)]
    spans.sort(key=lambda each: -each[0])
    if not spans:  # nothing to quote
        return found
    score, seen, first, last = spans[0]
    found[1] = score - seen.scale
    found[2] = min(glance.null - glance.scale for glance in glances)
    found[3] = score - spans[1][0] if len(spans) > 1 else -_LEAST
    found[4] = np.log1p(last - first)
    if layers:
        said = np.asarray(seen.layers, np.float64)
        said = said - said.max(axis=2, keepdims=True)
        said -= np.log(np.exp(said).sum(axis=2, keepdims=True))
        found[5::2] = said[:, 0, first] + said[:, 1, last]
        found[6::2] = said[:, 0, 0] + said[:, 1, 0]
    return found.clip(_LEAST, -_LEAST)


@dataclass(frozen=True, eq=False)
class ConfidenceModel:
    """What the regression has learnt: a constant, and the range and the weight of each signal."""

    signals: tuple[str, ...]
    constant: float
    ranges: FloatArray
    made: dict[str, Any]

    def of(self, table: FloatArray) -> FloatArray:
        """The probability of being right for each row of signals; beyond what was met it stays as it is."""
        return logistic.probability(table, self.constant, self.ranges)

    def save(self, folder: Path) -> None:
        """Write it into a model's folder."""
        rows = dict(zip(self.signals, self.ranges.tolist(), strict=True))
        facts = {"format": _FORMAT, "constant": self.constant, "signals": rows, "made": self.made}
        with replacing(Path(folder) / FILE) as file:
            file.write(json.dumps(facts, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path, layers: int) -> ConfidenceModel | None:
        """What lies in a model's folder for a network with so many probes; None if nothing does."""
        path = Path(folder) / FILE
        if not path.is_file():
            return None
        fix = "teach the confidence again"
        facts = read_json(path, fix)
        try:
            refuse_newer(facts.get("format"), _FORMAT, path)
            found = cls(
                tuple(facts["signals"]),
                float(facts["constant"]),
                np.array(list(facts["signals"].values()), np.float64).reshape(-1, 3),
                dict(facts["made"]),
            )
            if facts["format"] != _FORMAT or not np.isfinite(found.ranges).all():
                raise ValueError(_FORMAT)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, DataError):
                raise
            what = f"is broken ({type(error).__name__})"
            raise DataError(what, path=path, fix=fix) from None
        if list(found.signals) != names(layers):
            raise DataError("is another network's", path=path, fix=fix)
        return found
