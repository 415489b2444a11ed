"""What the doubt of `mini` does where an answer must fail (`python -m tools.mini_failures`).

The questions of each set are asked with typos; as letters without sense, and as a heap of words of other
questions; of passages of another set; and with all right passages taken away, so that near misses are left.
The gate that comes with `mini` meets them, and one of a confidence that learnt from questions with typos and
without sense, too. The model card shows what is written down here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demur import toml
from demur.data.perturbing import edits
from demur.data.subsets import sample
from demur.files import replacing
from demur.reading.confidence import ConfidenceModel
from demur.reading.readers.mini import Mini
from demur.risk.gates.several import open_gates
from demur.risk.predictions import Predictions
from demur.risk.thresholds.control import Evidence
from demur.training.readers.mini_confidence import fit_confidence
from demur.training.recipes.stages import Recipe
from demur.types import FloatArray, Pool
from tools import written_pools
from tools.cards import FAILURES, SURE, TYPOS, USUAL, failures
from tools.make_mini import QUESTIONS, RECIPES, held_out
from tools.mini_left_out import counted, tests

MOST = 300
"""So many questions of each set at most."""
EXTRA = 1000  # questions with typos, and as many without sense, that the other confidence learns from too


def with_typos(pools: Sequence[Pool], seed: int) -> list[Pool]:
    """Each question with a typo in some of its words; what is right stays right."""
    draws = np.random.default_rng(seed)
    return [replace(pool, question=edits.typos(pool.question, TYPOS, draws)) for pool in pools]


def letters(pools: Sequence[Pool], seed: int) -> list[Pool]:
    """Questions of random letters, in words of the same length."""
    draws = np.random.default_rng(seed)

    def word(length: int) -> str:
        return "".join(chr(97 + int(draws.integers(26))) for _ in range(length))

    return [_wrong(pool, " ".join(word(len(each)) for each in pool.question.split())) for pool in pools]


def heaps(pools: Sequence[Pool], seed: int) -> list[Pool]:
    """Questions of as many words, each of any question."""
    draws, words = np.random.default_rng(seed), [word for pool in pools for word in pool.question.split()]

    def heap(count: int) -> str:
        return " ".join(words[int(draws.integers(len(words)))] for _ in range(count))

    return [_wrong(pool, heap(len(pool.question.split()))) for pool in pools]


def of_others(pools: Sequence[Pool], others: Sequence[Pool]) -> list[Pool]:
    """The passages of these pools, asked the questions of others."""
    return [_wrong(pool, others[place % len(others)].question) for place, pool in enumerate(pools)]


def near_misses(pools: Sequence[Pool]) -> list[Pool]:
    """The pools without their right passages."""
    kept = ((pool, tuple(each for each in pool.candidates if not each.label)) for pool in pools)
    return [replace(pool, candidates=left) for pool, left in kept if left]


def _wrong(pool: Pool, question: str) -> Pool:
    candidates = tuple(replace(each, label=0) for each in pool.candidates)
    return replace(pool, question=question, candidates=candidates, extra={})


def kinds() -> Iterator[tuple[str, dict[str, list[Pool]]]]:
    """Each set by its name, and its questions in each way."""
    every = {name: list(sample(some, MOST)) for name, some in tests()}
    names = list(every)
    for place, name in enumerate(names):
        some = every[name]
        yield (
            name,
            {
                "as they are": some,
                "typos": with_typos(some, 11),
                "letters": letters(some, 12),
                "heap of words": heaps(some, 13),
                "another set": of_others(some, every[names[(place + 1) % len(names)]]),
                "near misses": near_misses(some),
            },
        )


def retaught(mini: Mini) -> tuple[ConfidenceModel, float]:
    """A confidence that learnt from typos and questions without sense too, and its threshold."""
    teach, proof = held_out([toml.read_toml(Recipe, path) for path in RECIPES], QUESTIONS)
    teach = [*teach, *written_pools.asked("chance")]
    some = list(sample(teach, EXTRA))
    half = len(some) // 2
    nonsense = [*letters(some[:half], 2), *heaps(some[half:], 3)]
    found = fit_confidence(mini, [*teach, *with_typos(some, 1), *nonsense])
    met = Seen.of(mini, proof).judged(found)
    choice = Evidence.of(met.confidence, met.wrong).choice(USUAL, 1 - SURE)
    assert choice is not None, "the confidence that comes with mini has one"
    return found, choice.threshold


@dataclass(frozen=True)
class Seen:
    """Questions with the scores of their passages, and the signals of the first of these."""

    pools: Sequence[Pool]
    scores: list[FloatArray]
    signals: FloatArray

    @classmethod
    def of(cls, mini: Mini, pools: Sequence[Pool]) -> Seen:
        """What mini sees of them."""
        pools = [pool for pool in pools if len(pool)]
        scores = mini.score_pools(pools)
        first = [
            (pool.question, pool.answers[int(np.argmax(each))])
            for pool, each in zip(pools, scores, strict=True)
        ]
        return cls(pools, scores, mini.signals(first))

    def judged(self, model: ConfidenceModel) -> Predictions:
        """What is right, and how sure a confidence is of that."""
        return Predictions.of_pools(self.pools, self.scores, model.of(self.signals))


def measured() -> dict[str, Any]:
    """For each set and way how many were asked, answered and wrong, and how well right is told from wrong."""
    mini = Mini()
    gate = next(gate for gate in open_gates(mini.place).gates if gate.certificate.risk == USUAL)
    assert mini.confidence_model is not None, "the packaged one has it"
    models = {"shipped": (mini.confidence_model, gate.threshold), "retaught": retaught(mini)}
    print("the other confidence is ready", file=sys.stderr, flush=True)
    rows: dict[str, Any] = {}
    for name, ways in kinds():
        rows[name] = {}
        for way, some in ways.items():
            seen = Seen.of(mini, some)
            rows[name][way] = {"questions": len(some)}
            for said, (model, threshold) in models.items():
                met = seen.judged(model)
                answered = counted(threshold, met) or {}
                rows[name][way][said] = {**answered, "told apart": told_apart(met)}
        print(name, json.dumps(rows[name]), file=sys.stderr, flush=True)
    return {"command": "python -m tools.mini_failures", "ranker": mini.fingerprint, "sets": rows}


def told_apart(met: Predictions) -> float | None:
    """How often a right answer is surer than a wrong one; None where all are right, or all wrong."""
    right, wrong = met.confidence[met.correct], met.confidence[met.wrong]
    if not len(right) or not len(wrong):
        return None
    above = (right[:, None] > wrong).mean() + 0.5 * (right[:, None] == wrong).mean()
    return round(float(above), 3)


def main() -> int:
    """Measure, and write it down."""
    found = measured()
    with replacing(FAILURES) as out:
        json.dump(found, out, indent=1)
        out.write("\n")
    print(failures())
    return 0


if __name__ == "__main__":
    sys.exit(main())
