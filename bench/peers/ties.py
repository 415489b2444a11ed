"""MAP of a scorer that knows nothing, by PyTerrier's experiment and by demur, on the same pools."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import demur
from bench.peers.known import DEMUR
from bench.peers.turns import datasets
from bench.peers.worker import pools
from demur.types import Pool

ORDERS = {"right ones have the first ids": False, "right ones have the last ids": True}


def found(peer: str) -> dict[str, Any]:
    """MAP of both, for two ways in which the candidates of each pool may be named."""
    (data, *_) = datasets("encode")
    some = pools(data)
    return {
        "data": data,
        "MAP": {name: {DEMUR: ours(some), peer: theirs(named(some, last))} for name, last in ORDERS.items()},
    }


def ours(some: Sequence[Pool]) -> float:
    """MAP by demur, whatever the candidates are called."""
    report = demur.evaluate([[0.0] * len(pool) for pool in some], some, ["MAP"])
    return round(report.measures["MAP"].mean, 4)


def named(some: Sequence[Pool], right_last: bool) -> dict[str, dict[str, int]]:
    """The labels of candidates by question and id, where the ids of right ones come first or last."""
    found: dict[str, dict[str, int]] = {}
    for number, pool in enumerate(some):
        labels = sorted((label or 0 for label in pool.labels), reverse=not right_last)
        found[str(number)] = {f"{place:04d}": label for place, label in enumerate(labels)}
    return found


def theirs(labels: dict[str, dict[str, int]]) -> float:
    """MAP by `pt.Experiment`."""
    frame = import_module("pandas").DataFrame
    judged = [(question, id, label) for question, each in labels.items() for id, label in each.items()]
    run = frame([(q, id, 0.0, 0) for q, id, _ in judged], columns=["qid", "docno", "score", "rank"])
    topics = frame([(question, "a question") for question in labels], columns=["qid", "query"])
    qrels = frame(judged, columns=["qid", "docno", "label"])
    table = import_module("pyterrier").Experiment([run], topics, qrels, ["map"])
    return round(float(table["map"].iloc[0]), 4)
