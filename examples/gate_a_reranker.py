"""Put a gate on a Hugging Face reranker: it answers only where its error rate can be promised.

    python examples/gate_a_reranker.py [MODEL] [LABELLED]     # pip install 'demur[encoder]'

LABELLED has questions, answers and labels, in any format of docs/formats.md; a promise takes some hundred.
"""

from __future__ import annotations

import sys

import demur
from demur.data import pools

MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"  # the hub id or the folder of any cross-encoder
LABELLED = "example/questions"  # forty questions about the handbook that comes with demur
RISK = 0.2  # the share of answers that may be wrong


def main(model: str = MODEL, labelled: str = LABELLED) -> None:
    """Calibrate on all labelled questions but three, and ask those three."""
    ranker = demur.ranker(model)
    *calibrated, first, second, third = pools(labelled)
    try:
        gate = demur.calibrate(ranker, calibrated, risk=RISK)
    except demur.NoThreshold as reason:
        print(f"No gate: {reason}.")
        return
    print(gate.promise)
    for pool in (first, second, third):
        ranking = ranker.rank(pool.question, pool.candidates)
        verdict = gate.judge(ranking)
        print(f"\n{pool.question}")
        print(f"  no answer: {verdict.refusal}" if verdict.refusal else f"  {ranking.candidates[0].text}")


if __name__ == "__main__":
    main(*sys.argv[1:])
