"""Made-up populations of questions whose true risk is known at every threshold, to test promises on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from demur.risk.predictions import BoolArray
from demur.types import FloatArray


@dataclass(frozen=True, eq=False)
class Population:
    """Confidences spread evenly over [0, 1), or over a few levels, and the chance of an error at each.

    `bounds` and `chances` describe the chance as a line from each bound to the next, from the confidence 0
    on: a pair of chances for each stretch, at its lower and its upper end.
    """

    name: str
    about: str
    bounds: tuple[float, ...]
    chances: tuple[tuple[float, float], ...]
    levels: int = 0  # 0: as many as there are numbers
    errors_first: bool = False  # as in a file that was sorted by its labels

    def draw(self, rng: np.random.Generator, questions: int) -> tuple[FloatArray, BoolArray]:
        """Confidences and errors of so many questions."""
        place = rng.random(questions)
        confidence = place if not self.levels else np.floor(place * self.levels) / self.levels
        wrong = rng.random(questions) < self.chance(place)
        if self.errors_first:
            order = np.argsort(~wrong, kind="stable")
            confidence, wrong = confidence[order], wrong[order]
        return confidence, wrong

    def chance(self, place: FloatArray) -> FloatArray:
        """The chance of an error at these places."""
        bounds, chances = np.array(self.bounds), np.array(self.chances)
        stretch = np.searchsorted(bounds, place, side="right") - 1
        width = np.append(bounds[1:], 1.0) - bounds
        share = (place - bounds[stretch]) / width[stretch]
        found: FloatArray = chances[stretch, 0] * (1 - share) + chances[stretch, 1] * share
        return found

    def coverage(self, threshold: float) -> float:
        """The share of all questions that pass a threshold."""
        return 1 - self._edge(threshold)

    def risk(self, threshold: float) -> float:
        """The true share of errors among answers that pass a threshold, which some do."""
        edge = self._edge(threshold)
        lows = np.array(self.bounds)
        highs = np.append(lows[1:], 1.0)
        starts = np.clip(edge, lows, highs)
        chances = np.array(self.chances)
        width = highs - lows
        at_start = chances[:, 0] + (chances[:, 1] - chances[:, 0]) * (starts - lows) / width
        areas = (highs - starts) * (at_start + chances[:, 1]) / 2
        return float(areas.sum() / (1 - edge))

    def _edge(self, threshold: float) -> float:
        """The place from which on answers pass."""
        if self.levels:
            threshold = (
                np.ceil(threshold * self.levels - 1e-9) / self.levels if np.isfinite(threshold) else threshold
            )
        return float(np.clip(threshold, 0.0, 1.0))


def populations(risk: float) -> list[Population]:
    """Those of the guarantee, made around the risk that is asked for."""
    flat = 1.02 * risk
    return [
        Population("smooth", "error falls evenly from 36 % to 0 as confidence rises", (0.0,), ((0.36, 0.0),)),
        Population(
            "flat",
            "every answer has 1.02 times the risk asked for",
            (0.0,),
            ((flat, flat),),
        ),
        Population(
            "edge",
            "half the risk asked for in the surest fifth, 1.15 times below; above it from 87 % coverage on",
            (0.0, 0.8),
            ((1.15 * risk, 1.15 * risk), (risk / 2, risk / 2)),
        ),
        Population(
            "non-monotone",
            "3 times the risk asked for in the surest twentieth, 0.4 times in the next 55 %, 4 times below",
            (0.0, 0.4, 0.95),
            ((4 * risk, 4 * risk), (0.4 * risk, 0.4 * risk), (3 * risk, 3 * risk)),
        ),
        Population(
            "ten levels", "smooth, with confidence cut to ten levels", (0.0,), ((0.36, 0.0),), levels=10
        ),
        Population(
            "constant",
            "one confidence for all, 30 % errors, and they stand first in the file",
            (0.0,),
            ((0.3, 0.3),),
            levels=1,
            errors_first=True,
        ),
    ]
