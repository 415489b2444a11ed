"""demur beside other libraries: what the benchmark does, on toy data and without these libraries."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bench.peers.__main__ as command
import numpy as np
import pytest
from bench.peers import facts, known, start, ties, turns, worker
from bench.peers.contenders import OPENERS, TEN, opened
from bench.peers.ways import AllPairs, Encoder, Pairs

from demur.errors import DataError
from demur.types import Pool

POOLS = [
    Pool.of("tea?", ["tea with milk", "a chair"], [1, 0], "a"),
    Pool.of("chair?", ["a chair", "tea", "a hat"], [1, 0, 0], "b"),
]


def test_every_row_can_be_measured() -> None:
    assert {kind for kind, _ in known.rows()} == set(known.KINDS)
    ranked = {(kind, peer) for kind, peer in known.rows() if kind in known.RANKS and peer != known.DEMUR}
    assert ranked == set(OPENERS)
    files = [command.file_of(*row) for row in known.rows()]
    assert len(set(files)) == len(files) and "size.flashrank.json" in files


def test_ways_to_rank_agree() -> None:
    words = ["tea", "chair", "milk", "hat"]

    def embed(texts: list[str]) -> Any:
        return [[float(word in text) + 0.1 for word in words] for text in texts]

    def rank(question: str, answers: list[str]) -> list[float]:
        vectors = np.array(embed([question, *answers]))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return [float(each) for each in vectors[1:] @ vectors[0]]

    found = [
        way.score(POOLS)
        for way in (
            Encoder(embed),
            Pairs(rank),
            AllPairs(lambda pairs: [rank(question, [answer])[0] for question, answer in pairs]),
        )
    ]
    for scores in found:
        assert [len(each) for each in scores] == [2, 3]
        np.testing.assert_allclose(np.concatenate(scores), np.concatenate(found[0]), rtol=1e-6)
    order = Encoder(embed).faq(["a hat", "tea"])("tea?")
    assert isinstance(order, np.ndarray) and order.tolist() == [1, 0]


def test_a_worker_replies_and_says_what_went_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    with worker.Worker("encode", "overlap", tmp_path, 1) as running:
        reply = running.ask(do="score", data="example/questions", first=2, scores=True)
        assert len(reply["found"]) == 2 and reply["processor"] > 0
        assert running.ask(do="faq", data="example/questions")["found"] is None
        with pytest.raises(RuntimeError, match="nothing/here"):
            running.ask(do="score", data="nothing/here")


def test_a_row_has_quality_and_ratios(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    monkeypatch.setitem(turns.EXAMPLE, "example/questions", 3)
    row = turns.compared("encode", "bm25", tmp_path, {"ours": "overlap"}, turns=1)
    assert set(row["quality"]["example/questions"]) == {"bm25"}
    assert 0 < row["quality"]["example/questions"]["bm25"]["MAP"] <= 1
    assert row["speed"]["bm25"][turns.RATIO] == 1
    found = turns.asked("bm25", tmp_path, {"ours": "overlap"}, turns=1)
    assert set(found) == {"ours", "bm25"} and found["ours"]["processor"] > 0


def test_no_question_is_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [Pool.of(f"{number}?", ["tea", "a hat"], [1, 0]) for number in range(2 * worker.ASKED)]
    monkeypatch.setattr(worker, "pools", lambda name, first: many)

    class Listening:
        def faq(self, answers: list[str]) -> Callable[[str], object]:
            return heard.append

    heard: list[str] = []
    for turn in range(2):
        worker.replied(Listening(), {"do": "faq", "data": "many", "turn": turn})
    assert len(heard) == 2 * (worker.ASKED + 1) and len(set(heard)) == 2 * worker.ASKED + 1


def test_ratios_are_medians_over_turns() -> None:
    def times(*some: float) -> list[dict[str, float]]:
        return [{"processor": each, "clock": 9.0} for each in some]

    found = turns.told({"ours": times(1, 2, 1), "p": times(3, 2, 2)}, "p")
    assert found["ours"] == {"processor": 1, "clock": 9, turns.RATIO: 2}
    assert found["p"][turns.RATIO] == 1


def test_ours_is_opened_by_its_spec_or_from_the_models(tmp_path: Path) -> None:
    assert len(opened("encode", "overlap", tmp_path).score([TEN])[0]) == len(TEN)


def test_pools_have_right_and_wrong_candidates() -> None:
    some = worker.pools("example/questions", 5)
    assert len(some) == 5 and all(set(pool.labels) == {0, 1} for pool in some)


def test_ties_do_not_depend_on_names_here() -> None:
    first, last = ties.named(POOLS, right_last=False), ties.named(POOLS, right_last=True)
    assert list(first["1"].values()) == [1, 0, 0] and list(last["1"].values()) == [0, 0, 1]
    assert ties.ours(POOLS) == pytest.approx(np.mean([3 / 4, (1 + 1 / 2 + 1 / 3) / 3]), abs=1e-4)


def test_processes_are_timed_and_failures_told() -> None:
    nothing = [sys.executable, "-c", "pass"]
    times = start.in_turns({"busy": [sys.executable, "-c", "sum(range(10**7))"]}, nothing)
    assert times["busy"]["processor"] > 0
    with pytest.raises(RuntimeError, match="out of tea"):
        start.seconds([sys.executable, "-c", "raise SystemExit('out of tea')"])


def test_names_are_looked_up() -> None:
    assert facts.there("pathlib.Path") and facts.there("json") and facts.there("demur.kb")
    assert not facts.there("pathlib.Pith") and not facts.there("no_such_thing.at_all")
    with pytest.raises(DataError, match="is no fact"):
        facts.Feature("flies", {"bird": "surely"}).source("bird")


def test_rows_that_are_kept_are_not_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(kind: str, peer: str, models: object) -> dict[str, int]:
        asked.append(peer)
        if peer == "txtai":
            raise RuntimeError("no tea\nat all")
        return {peer: 1}

    asked: list[str] = []
    monkeypatch.setattr(command, "measured", measured)
    monkeypatch.setattr("sys.argv", ["peers", "size", "-o", str(tmp_path)])
    assert command.main() == 1, "one failed"
    assert asked == [peer for kind, peer in known.rows() if kind == "size"]
    kept = json.loads((tmp_path / "size.txtai.json").read_text("utf-8"))
    assert kept["failed"] == "RuntimeError: no tea" and kept["commit"] and len(kept["load"]) == 2
    assert kept["command"] == "make bench-peers" and kept["threads"] == turns.THREADS
    asked.clear()
    assert command.main() == 0 and asked == []
    monkeypatch.setattr("sys.argv", ["peers", "tea"])
    with pytest.raises(SystemExit, match="2"):
        command.main()
    assert "no kind or peer tea" in capsys.readouterr().err
