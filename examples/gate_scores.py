"""Put a gate on the scores of another system, in a CSV with the columns question, answer, score and label.

    python examples/gate_scores.py [SCORES.csv]     # scores.csv beside this file is made up

Half of the questions calibrate the gate. The other half shows what it does to questions that it has not seen.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import demur
from demur.data import pools
from demur.rankers import Ranker
from demur.types import FloatArray


@dataclass(frozen=True)
class Theirs(Ranker):
    """The scores that candidates bring along. A gate knows the system by its name: change both."""

    name = "their-system-1.0"

    def score_pools(self, pools: Sequence[demur.Pool]) -> list[FloatArray]:
        """One array of scores per question."""
        return [np.array([each.extra["score"] for each in pool.candidates]) for pool in pools]


scores = sys.argv[1] if sys.argv[1:] else Path(__file__).with_name("scores.csv")
calibrating, later = pools(scores)[::2], pools(scores)[1::2]
gate = demur.calibrate(Theirs(), calibrating, risk=0.1)  # or raises demur.NoThreshold, which says why
print(gate.promise)
judged = gate.predictions(Theirs(), later)
answered, wrong = judged.coverage(gate.threshold), judged.risk(gate.threshold)
print(f"Of {len(later)} others it answers {100 * answered:.0f} %, and {100 * wrong:.0f} % of these wrongly.")
print(f"Without a gate {100 * judged.risk():.0f} % of all answers would be wrong.")
