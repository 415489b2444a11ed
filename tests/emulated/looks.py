"""What mini says of the example's questions and of thirty pools, as JSON; run on any processor."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from demur import data
from demur.rankers.lexical.bm25 import BM25
from demur.reading.readers.mini import Mini

POOLS = Path(__file__).with_name("pools.jsonl")
_OF_EXAMPLE = 3  # passages read again for each question, those with most of its words


def environment() -> dict[str, str]:
    """Of a process on another processor: there OpenBLAS looks for itself, whatever it is told on this one."""
    told = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    return told | {"OPENBLAS_NUM_THREADS": "1"}


def questions() -> list[tuple[str, list[str]]]:
    """The questions, each with its passages."""
    found = []
    for pool in data.stream("example/questions"):
        ranked = BM25().rank(pool.question, pool.answers).candidates
        found.append((pool.question, [each.text for each in ranked[:_OF_EXAMPLE]]))
    for line in POOLS.read_text("utf-8").splitlines():
        entry = json.loads(line)
        found.append((entry["question"], entry["answers"]))
    return found


def said(mini: Mini) -> list[list[dict[str, float | str]]]:
    """Of each passage of each question: score, probabilities of span and of none, confidence, quotation."""
    return [
        [
            {
                "score": look.score,
                "span": look.reading.confidence,
                "none": look.reading.null_probability,
                "confidence": look.confidence,
                "quote": look.quote.text if look.quote else "",
                "answers": str(look.span is not None),
            }
            for look in mini.looks([(question, text) for text in texts])
        ]
        for question, texts in questions()
    ]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(said(Mini(threads=1))))
