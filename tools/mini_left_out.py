"""What gates of `mini` do on questions of a kind they were not made on (`python -m tools.mini_left_out`).

For each risk a set of questions has three gates: one made on its own held-out questions, one on those of all
sets, which is the gate that comes with `mini`, and one on those of all sets but this. Each then meets the
set's test questions, which made none of them. The model card shows what is written down here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from demur import toml
from demur.data import pools
from demur.data.subsets import sample
from demur.files import replacing
from demur.reading.readers.mini import Mini
from demur.risk.gates.judging import judge_answers
from demur.risk.predictions import Predictions
from demur.risk.qualifiers.base import qualifier
from demur.risk.thresholds.control import Evidence
from demur.training.readers.mini_confidence import among_others
from demur.training.recipes.stages import Recipe
from demur.types import Pool
from tools.cards import LEFT_OUT, RISKS, SURE, left_out
from tools.make_mini import DEVS, QUESTIONS, RECIPES, held_out

SQUAD, MOST = "squad/2.0", 1000
"""Of the dev set, which is SQuAD's test set here, so many questions; each among passages of its article."""


def tests() -> Iterator[tuple[str, Sequence[Pool]]]:
    """Each set by the name of its data, with its test questions."""
    dev = among_others(pools(f"{SQUAD}/dev"))
    yield SQUAD.partition("/")[0], list(sample(dev, MOST))
    for name in DEVS:
        data = name.partition("/")[0]
        yield data, [pool for pool in pools(f"{data}/test") if len(pool)]


def proofs() -> dict[str, list[Pool]]:
    """The held-out questions that make the gate that comes with `mini`, by the name of their data."""
    proof = held_out([toml.read_toml(Recipe, path) for path in RECIPES], QUESTIONS)[1]
    of = {pool.id: name.partition("/")[0] for name in DEVS for pool in pools(name)}
    found: dict[str, list[Pool]] = {}
    for pool in proof:
        found.setdefault(of.get(pool.id, SQUAD.partition("/")[0]), []).append(pool)
    return found


def measured() -> dict[str, Any]:
    """For each set and risk what each gate answers, and how much of that is wrong."""
    mini, how = Mini(), qualifier("mini")

    def judged(some: Sequence[Pool]) -> Predictions:
        return judge_answers(mini, some, how)[0]

    made = {name: judged(some) for name, some in proofs().items()}
    rows: dict[str, Any] = {}
    for name, some in tests():
        met = judged(some)
        rows[name] = {"questions": len(some), "first right": int(met.correct.sum())}
        parts = {"own": [name], "all": list(made), "others": [each for each in made if each != name]}
        for risk in RISKS:
            rows[name][str(risk)] = {
                said: counted(_threshold([made[each] for each in group], risk), met)
                for said, group in parts.items()
            }
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    return {"command": "python -m tools.mini_left_out", "ranker": mini.fingerprint, "sets": rows}


def _threshold(made: Sequence[Predictions], risk: float) -> float | None:
    """The threshold that a risk can be promised at, or None."""
    sure, wrong = (np.concatenate([getattr(each, of) for each in made]) for of in ("confidence", "wrong"))
    choice = Evidence.of(sure, wrong).choice(risk, 1 - SURE)
    return None if choice is None else choice.threshold


def counted(threshold: float | None, met: Predictions) -> dict[str, int] | None:
    """What is answered at a threshold, and how much of it is wrong; None where there is no gate."""
    if threshold is None:
        return None
    answered = met.predicted & (met.confidence >= threshold)
    return {"answered": int(answered.sum()), "wrong": int((answered & met.wrong).sum())}


def main() -> int:
    """Measure, and write it down."""
    found = measured()
    with replacing(LEFT_OUT) as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    print(left_out(RISKS))
    return 0


if __name__ == "__main__":
    sys.exit(main())
