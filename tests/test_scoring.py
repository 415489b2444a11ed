from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import demur
from demur import scoring
from demur.data import formats
from demur.errors import DemurError
from demur.rankers import Ranker
from demur.types import FloatArray, Pool

RANKER = demur.ranker("bm25")


def made(number: int) -> list[Pool]:
    return [
        Pool.of(f"ape w{n}", [f"w{n} ape bee", "ape", f"cat {n}"], [1, 0, 0], id=f"q{n}")
        for n in range(number)
    ]


def scores(path: Path) -> dict[str, list[float]]:
    return {pool.id: [c.extra["score"] for c in pool.candidates] for pool in formats.read(path)}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    formats.write(tmp_path / "in.jsonl", made(100))
    return tmp_path / "in.jsonl"


def test_a_batch_keeps_the_pools_and_adds_scores() -> None:
    pools = made(3)
    scored = scoring.score_batch(RANKER, pools)
    assert [pool.id for pool in scored] == ["q0", "q1", "q2"]
    assert [c.label for c in scored[0].candidates] == [1, 0, 0]
    assert [c.extra["score"] for c in scored[1].candidates] == RANKER.score_pools(pools)[1].tolist()
    assert pools == made(3)


def test_shards_are_whole_pools_cut_alike() -> None:
    cut = list(scoring.shards(iter(made(10)), pairs=7))
    assert [len(shard) for shard in cut] == [3, 3, 3, 1]
    assert [pool for shard in cut for pool in shard] == made(10)
    assert list(scoring.shards([])) == []
    empty = [Pool(str(n), "no candidates", ()) for n in range(20)]
    assert len(list(scoring.shards(empty, pairs=7))) == 3, "pools without candidates take room too"


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz", "out.parquet", "out.tsv", "out.csv"])
def test_every_format_carries_the_scores(source: Path, name: str) -> None:
    target = source.parent / name
    done = scoring.score_file(str(source), str(target), RANKER, pairs=30)
    assert (done.pools, done.pairs, done.resumed_pools) == (100, 300, 0)
    found = list(scores(target).values())
    assert found == [each.tolist() for each in RANKER.score_pools(made(100))]
    assert sorted(path.name for path in source.parent.iterdir()) == sorted(["in.jsonl", name])


def test_a_run_is_trec(source: Path) -> None:
    target = source.parent / "out.run"
    scoring.score_file(str(source), str(target), RANKER)
    run = formats.read_run(target)
    assert run["q7"] == dict(zip("012", RANKER.score_pools(made(8))[7].tolist(), strict=True))


@dataclass(frozen=True)
class Failing(Ranker):
    """BM25 that fails at one question, once: what a killed process leaves behind."""

    name = "failing"
    at: str = ""

    @property
    def fingerprint(self) -> str:
        return RANKER.fingerprint

    def score_pools(self, pools: Sequence[Pool]) -> list[FloatArray]:
        if any(pool.id == self.at for pool in pools):
            raise RuntimeError("killed")
        return RANKER.score_pools(pools)


def test_goes_on_where_it_stopped(source: Path) -> None:
    target = source.parent / "out.jsonl"
    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), str(target), Failing(at="q50"), pairs=30)
    assert not target.exists()
    done = scoring.score_file(str(source), str(target), Failing(at="q3"), pairs=30)  # q3 is not scored again
    assert (done.pools, done.resumed_pools) == (100, 50)
    assert list(scores(target)) == [f"q{n}" for n in range(100)]


def test_another_job_is_refused_and_restart_forgets(source: Path) -> None:
    target = source.parent / "out.jsonl"
    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), str(target), Failing(at="q50"), pairs=30)
    with pytest.raises(DemurError, match=r"another job \(ranker differs\).*--restart"):
        scoring.score_file(str(source), str(target), demur.ranker("length"), pairs=30)
    formats.write(source, made(99))
    with pytest.raises(DemurError, match=r"another job \(source differs\)"):
        scoring.score_file(str(source), str(target), RANKER, pairs=30)
    done = scoring.score_file(str(source), str(target), RANKER, pairs=30, restart=True)
    assert (done.pools, done.resumed_pools) == (99, 0)


def test_nothing_is_lost_or_doubled_after_kill_9(tmp_path: Path) -> None:
    formats.write(tmp_path / "in.jsonl", made(4000))
    slow = """
        import sys, time
        from demur import scoring
        import demur
        def rest(pairs): time.sleep(0.01)
        scoring.score_file(sys.argv[1], sys.argv[2], demur.ranker("bm25"), pairs=60, on_shard=rest)
    """
    words = [
        sys.executable,
        "-c",
        textwrap.dedent(slow),
        str(tmp_path / "in.jsonl"),
        str(tmp_path / "out.jsonl"),
    ]
    parts = tmp_path / "out.jsonl.parts"
    for wanted in (5, 40):
        process = subprocess.Popen(words)
        while len(list(parts.glob("0*.jsonl"))) < wanted:
            assert process.poll() is None, "it must still be running"
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "out.jsonl").exists()
    done = scoring.score_file(str(tmp_path / "in.jsonl"), str(tmp_path / "out.jsonl"), RANKER, pairs=60)
    assert done.resumed_pools >= 40 * 20 and done.pools == 4000
    assert list(scores(tmp_path / "out.jsonl")) == [f"q{n}" for n in range(4000)]
    assert not parts.exists()


def test_the_folder_must_be_there(source: Path) -> None:
    with pytest.raises(DemurError, match="make the folder to write into first"):
        scoring.score_file(str(source), str(source.parent / "no" / "out.jsonl"), RANKER)


def test_dataset_statistics_are_those_of_the_whole_file(source: Path) -> None:
    target = source.parent / "out.jsonl"
    ranker = demur.ranker("bm25", stats="dataset")
    scoring.score_file(str(source), str(target), ranker, pairs=30)
    wanted = ranker.prepare(made(100)).score_pools(made(100))
    assert list(scores(target).values()) == [each.tolist() for each in wanted]


def test_the_ticket_is_json(source: Path) -> None:
    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), str(source.parent / "o.run"), Failing(at="q99"), pairs=30)
    ticket = json.loads((source.parent / "o.run.parts" / "job.json").read_text())
    assert set(ticket) == {"source", "ranker", "shard"}
