from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

import demur
from demur import scoring
from demur.data import formats
from demur.errors import DemurError
from demur.rankers import Ranker
from demur.types import Candidate, FloatArray, Pool

RANKER = demur.ranker("bm25")


def made(number: int) -> list[Pool]:
    return [
        Pool.of(f"ape w{n}", [f"w{n} ape bee", "ape", f"cat {n}"], [1, 0, 0], id=f"q{n}")
        for n in range(number)
    ]


def apart(number: int) -> list[Pool]:
    """Pools whose candidates have ids of their own, as in BEIR."""
    return [
        Pool(f"q{n}", f"ape w{n}", (Candidate(f"q{n}", f"w{n} ape" + " bee" * n, 1),)) for n in range(number)
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
    with pytest.raises(DemurError, match=r"another job \(files differs\)"):
        scoring.score_file(str(source), str(target), RANKER, pairs=30)
    done = scoring.score_file(str(source), str(target), RANKER, pairs=30, restart=True)
    assert (done.pools, done.resumed_pools) == (99, 0)


def test_nothing_is_lost_or_doubled_after_kill_9(tmp_path: Path) -> None:
    formats.write(tmp_path / "in.jsonl", made(4000))
    slow = """
        import contextlib, sys, time
        from demur import scoring
        import demur
        def rest(pairs): time.sleep(0.01)
        def meter(*words): return contextlib.nullcontext(rest)
        scoring.score_file(sys.argv[1], sys.argv[2], demur.ranker("bm25"), pairs=60, meter=meter)
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
    with pytest.raises(DemurError, match="the folder to write into is not there; make it first"):
        scoring.score_file(str(source), str(source.parent / "no" / "out.jsonl"), RANKER)


def test_dataset_statistics_are_those_of_the_whole_file(source: Path) -> None:
    target = source.parent / "out.jsonl"
    ranker = demur.ranker("bm25", stats="dataset")
    scoring.score_file(str(source), str(target), ranker, pairs=30)
    wanted = ranker.prepare(made(100)).score_pools(made(100))
    assert list(scores(target).values()) == [each.tolist() for each in wanted]


def stopped(source: Path, target: Path, at: str = "q50") -> Path:
    """The folder that a run leaves that was stopped at a question."""
    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), str(target), Failing(at=at), pairs=30)
    return Path(f"{target}.parts")


def test_the_ticket_says_all_that_the_scores_depend_on(source: Path) -> None:
    parts = stopped(source, source.parent / "o.run", "q99")
    ticket = json.loads((parts / "job.json").read_text())
    assert set(ticket) == {"demur", "source", "read_as", "files", "ranker", "shard"}
    assert ticket["demur"] == demur.__version__ and ticket["source"] == str(source)


def test_other_statistics_or_another_demur_are_another_job(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, texts = str(source.parent / "o.jsonl"), source.parent / "texts.jsonl"
    formats.write(texts, made(5))
    by_file = demur.ranker("bm25", stats=str(texts))
    seen = by_file.prepare(())

    class Stops(Failing):
        @property
        def fingerprint(self) -> str:
            return seen.fingerprint

    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), target, Stops(at="q50"), pairs=30)
    formats.write(texts, made(6))  # the same name, but other statistics
    with pytest.raises(DemurError, match=r"another job \(ranker differs\)"):
        scoring.score_file(str(source), target, by_file, pairs=30)
    formats.write(texts, made(5))
    with monkeypatch.context() as patch:
        patch.setattr("demur.parts.__version__", "0.0.1")
        with pytest.raises(DemurError, match=r"another job \(demur differs\)"):
            scoring.score_file(str(source), target, by_file, pairs=30)
    assert scoring.score_file(str(source), target, by_file, pairs=30).resumed_pools == 50


def test_any_source_that_load_takes(tmp_path: Path) -> None:
    formats.write(tmp_path / "beir", apart(10), "beir")
    for spelling in ("beir", "beir/qrels/test.tsv"):
        target = tmp_path / "o.run"
        assert scoring.score_file(str(tmp_path / spelling), str(target), RANKER).pairs == 10
        assert formats.read_run(target)["q7"] == {"q7": RANKER.score_pools(apart(8))[7][0]}
    with pytest.raises(DemurError, match="no such file"):
        scoring.score_file(str(tmp_path / "none.jsonl"), str(tmp_path / "o.run"), RANKER)
    with pytest.raises(DemurError, match="no such file"):
        scoring.score_file(str(tmp_path / "none"), str(tmp_path / "o.run"), RANKER, read_as="tsv")
    with pytest.raises(DemurError, match="several splits"):
        scoring.score_file("wikiqa", str(tmp_path / "o.run"), RANKER)
    assert not (tmp_path / "o.run.parts").exists()


@pytest.mark.parametrize("inside", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_each_file_of_a_folder_counts(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "beir"
    formats.write(folder, apart(100), "beir")
    stopped(folder, tmp_path / "o.run")
    (folder / inside).write_text((folder / inside).read_text() + "\n")
    (folder / "notes.txt").write_text("these do not count")
    with pytest.raises(DemurError, match=r"\(files differs\)"):
        scoring.score_file(str(folder), str(tmp_path / "o.run"), RANKER, pairs=30)


@pytest.mark.needs_data
def test_a_dataset_by_its_id(tmp_path: Path) -> None:
    done = scoring.score_file("wikiqa/test/clean", str(tmp_path / "o.run"), RANKER)
    assert done.pools == 237
    assert [path.name for path in tmp_path.iterdir()] == ["o.run"]


@pytest.mark.parametrize(
    ("name", "write_as", "message"),
    [
        ("o.jsonl", "nope", "unknown format 'nope'"),
        ("o.qrels", None, "scores cannot be written as 'qrels'; these can hold them: jsonl, tsv"),
        ("o.json", None, "scores cannot be written as 'squad'"),
        ("o", "asnq", "scores cannot be written as 'asnq'"),
        ("folder", None, "is there already"),
        ("folder", "jsonl", "is a folder, not a file"),
        ("in.jsonl/o.jsonl", None, "lies in a file, not in a folder"),
        ("-", None, "a pipe cannot be gone on with"),
    ],
)
def test_a_target_that_cannot_be_is_found_out_before_the_work(
    source: Path, name: str, write_as: str | None, message: str
) -> None:
    (source.parent / "folder").mkdir()
    (source.parent / "folder" / "x").touch()
    target = name if name == "-" else str(source.parent / name)
    with pytest.raises(DemurError, match=message):
        scoring.score_file(str(source), target, Failing(at="q0"), write_as=write_as)
    assert sorted(path.name for path in source.parent.iterdir()) == ["folder", "in.jsonl"]


def test_a_failure_before_the_first_shard_blocks_nothing(source: Path) -> None:
    parts = stopped(source, source.parent / "o.run", "q0")
    assert not parts.exists()
    scoring.score_file(str(source), str(source.parent / "o.run"), demur.ranker("length"), pairs=30)
    parts.mkdir()  # as a kill leaves it
    (parts / "job.json").write_text('{"demur": "0.0.0"}')
    (parts / "lock").touch()
    scoring.score_file(str(source), str(source.parent / "o.run"), RANKER, pairs=30)
    assert not parts.exists()


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("names", [["notes.txt"], ["job.json"], ["000000.jsonl"], None])
def test_a_folder_of_the_users_is_refused(source: Path, names: list[str] | None, restart: bool) -> None:
    parts = source.parent / "o.run.parts"
    if names is None:
        parts.write_text("a file")
    else:
        parts.mkdir()
        for name in names:
            (parts / name).write_text("{}")
    with pytest.raises(DemurError, match="is there already, and not demur's; move it away"):
        scoring.score_file(str(source), str(source.parent / "o.run"), RANKER, restart=restart)
    assert names is None or [path.name for path in parts.iterdir()] == names


@pytest.mark.parametrize("restart", [False, True])
def test_what_somebody_put_beside_the_shards_stays(source: Path, restart: bool) -> None:
    parts = stopped(source, source.parent / "o.run")
    for name in (".joined.o.run.77.part", ".000003.jsonl.77.part", "joined.o.run"):
        (parts / name).write_text("what a kill leaves")
    (parts / "notes.txt").write_text("mine")
    scoring.score_file(str(source), str(source.parent / "o.run"), RANKER, pairs=30, restart=restart)
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]
    assert len(formats.read_run(source.parent / "o.run")) == 100


def test_a_kill_during_the_join_leaves_its_half_in_the_folder(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = source.parent / "o.jsonl.gz"

    def killed(path: Path, *rest: object) -> None:
        path.with_name(f".{path.name}.77.part").write_text("half")
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(scoring, "write", killed)
        with pytest.raises(RuntimeError):
            scoring.score_file(str(source), str(target), RANKER, pairs=30)
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.jsonl", "o.jsonl.gz.parts"]
    assert scoring.score_file(str(source), str(target), Failing(at="q0"), pairs=30).resumed_pools == 100
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.jsonl", "o.jsonl.gz"]
    assert len(scores(target)) == 100


def test_an_empty_shard_is_not_taken_for_a_done_one(source: Path) -> None:
    parts = stopped(source, source.parent / "o.jsonl")
    (parts / "000001.jsonl").write_text("")  # as after a loss of power
    with pytest.raises(DemurError, match="holds 90 pools of 100; start afresh with --restart"):
        scoring.score_file(str(source), str(source.parent / "o.jsonl"), RANKER, pairs=30)
    assert not (source.parent / "o.jsonl").exists()


def test_two_pools_with_one_id_make_no_run(source: Path) -> None:
    formats.write(source, [*made(3), *made(1)])
    with pytest.raises(DemurError, match="two pools have the id 'q0'"):
        scoring.score_file(str(source), str(source.parent / "o.run"), RANKER)
    with pytest.raises(DemurError, match="two pools have the id 'q0'"):
        scoring.write(str(source.parent / "o.run"), scoring.score_stream(RANKER, formats.read(source)))
    assert [path.name for path in source.parent.iterdir()] == ["in.jsonl"]
    assert scoring.score_file(str(source), str(source.parent / "o.jsonl"), RANKER).pools == 4


def test_the_second_of_two_runs_is_refused(source: Path) -> None:
    target = str(source.parent / "o.jsonl")
    refused: list[str] = []

    def meter(label: str, unit: str, total: int | None) -> AbstractContextManager[scoring.Advance]:
        if label == "scoring":
            with pytest.raises(DemurError, match="another run is writing into") as caught:
                scoring.score_file(str(source), target, RANKER, restart=True)
            refused.append(str(caught.value))
        return scoring.no_meter(label, unit, total)

    assert scoring.score_file(str(source), target, RANKER, meter=meter).pools == 100
    assert len(refused) == 1 and len(scores(Path(target))) == 100


def test_each_stage_has_a_meter(source: Path) -> None:
    shown: list[tuple[str, int | None]] = []
    seen: dict[str, int] = {}

    def meter(label: str, unit: str, total: int | None) -> AbstractContextManager[scoring.Advance]:
        shown.append((label, total))
        return nullcontext(lambda pairs: seen.update({label: seen.get(label, 0) + pairs}))

    ranker = demur.ranker("bm25", stats="dataset")
    scoring.score_file(str(source), str(source.parent / "o.run"), ranker, meter=meter)
    assert shown == [("counting words", None), ("scoring", None), ("joining", 300)]
    assert set(seen.values()) == {300}


def run(*words: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "demur", "score", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_pipes_at_the_command_line(source: Path) -> None:
    done = run("-", "-o", source.parent / "o.jsonl", "--json", stdin=gzip.compress(source.read_bytes()))
    assert json.loads(done.stdout)["pairs"] == 300, done.stderr
    done = run(source, "-o", "-", "--ranker", "bm25(stats=dataset)")
    wanted = demur.ranker("bm25", stats="dataset").prepare(made(100)).score_pools(made(1))[0].tolist()
    assert [one["score"] for one in json.loads(done.stdout.splitlines()[0])["candidates"]] == wanted
    done = run("-", "-o", "-", "--ranker", f"bm25(stats='{source}')", stdin=source.read_bytes())
    assert [one["score"] for one in json.loads(done.stdout.splitlines()[0])["candidates"]] == wanted


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", "-o", "-", "--json"], "-o - and --json both write to stdout"),
        (["-", "-o", "-", "--ranker", "bm25(stats=dataset)"], "reads its data twice"),
        (["-", "-o", "-", "--to", "squad"], "scores cannot be written as 'squad'"),
        (["-", "-o", "/dev/full", "--to", "jsonl"], "No space left on device"),
    ],
)
def test_misuse_of_pipes_is_one_line(source: Path, words: list[str], message: str) -> None:
    done = run(*words, stdin=source.read_bytes())
    assert done.returncode == 2 and done.stdout == b""
    assert message in done.stderr.decode() and done.stderr.count(b"\n") == 1
