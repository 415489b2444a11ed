"""Workers in turns: how well each ranks, and how much longer than ours the other takes."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import demur
from bench.peers.known import DEMUR
from bench.peers.worker import Worker, pools

THREADS, TURNS, FIRST = 1, 3, 10
DATA = {  # questions of each, from the first on; 0 is all
    "encode": {"wikiqa/test": 100, "covidfaq/test": 0, "semeval2016/test": 50},
    "rerank": {"wikiqa/test": 100},
}
EXAMPLE = {"example/questions": 0}
LEARNT, FAQ = "wikiqa/train", "covidfaq/test"
MEASURES = ("MAP", "P@1")
CLOCKS = ("processor", "clock")
RATIO = "peer takes"
OURS = {
    "encode": {"same weights": "encoder(model=minilm, device=cpu, precision=fp32)", "as it comes": "encoder"},
    "rerank": {"same weights": "fp32", "int8": "int8"},
}
Times = dict[str, list[dict[str, float]]]


def datasets(kind: str) -> dict[str, int]:
    """The data that rows of a kind are about; without `DEMUR_DATA` the handbook that comes with demur."""
    return DATA[kind] if os.environ.get("DEMUR_DATA") else EXAMPLE


def compared(
    kind: str, peer: str, folder: Path, ours: Mapping[str, str] | None = None, turns: int = TURNS
) -> dict[str, Any]:
    """What a row of this kind found: the peer's quality, and times in turns with ours; or our quality."""
    ours = OURS[kind] if ours is None else ours
    peers = {} if peer == DEMUR else {peer: peer}
    data = datasets(kind)
    with ExitStack() as running:
        workers = {
            name: running.enter_context(Worker(kind, what, folder, THREADS))
            for name, what in {**ours, **peers}.items()
        }
        quality = {
            name: {who: _quality(workers[who], name, first) for who in peers or ours}
            for name, first in data.items()
        }
        if not peers:
            return {"quality": quality}
        request = {"do": "score", "data": next(iter(data)), "first": FIRST}
        return {"quality": quality, "speed": told(timed(workers, request, turns), peer)}


def asked(
    peer: str, folder: Path, ours: Mapping[str, str] | None = None, turns: int = TURNS
) -> dict[str, dict[str, float]]:
    """Times of questions that are asked one by one of an FAQ, whose vectors are there."""
    data = datasets("encode")
    ours = OURS["encode"] if ours is None else ours
    with ExitStack() as running:
        workers = {
            name: running.enter_context(Worker("encode", what, folder, THREADS))
            for name, what in {**ours, peer: peer}.items()
        }
        request = {"do": "faq", "data": FAQ if FAQ in data else next(iter(data))}
        return told(timed(workers, request, turns), peer)


def _quality(worker: Worker, data: str, first: int) -> dict[str, float]:
    scores = worker.ask(do="score", data=data, first=first, scores=True)["found"]
    report = demur.evaluate(scores, pools(data, first), MEASURES)
    return {name: round(report.measures[name].mean, 4) for name in MEASURES}


def timed(workers: Mapping[str, Worker], request: Mapping[str, Any], turns: int) -> Times:
    """The times of each, by who took them, after a turn that is not counted."""
    times: Times = {who: [] for who in workers}
    for turn in range(turns + 1):
        for who, worker in workers.items():
            reply = worker.ask(**request, turn=turn)
            if turn:
                times[who].append({clock: reply[clock] for clock in CLOCKS})
    return times


def told(times: Times, peer: str) -> dict[str, dict[str, float]]:
    """For each the median seconds, and how many times as long the peer takes: the median over turns."""
    found = {}
    for who, each in times.items():
        both = zip(each, times[peer], strict=True)
        ratios = [theirs["processor"] / max(ours["processor"], 1e-9) for ours, theirs in both]
        found[who] = {clock: round(statistics.median(turn[clock] for turn in each), 4) for clock in CLOCKS}
        found[who][RATIO] = round(statistics.median(ratios), 3)
    return found
