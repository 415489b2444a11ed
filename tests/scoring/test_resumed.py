"""Scoring that was stopped goes on where it was, and only the same job does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

import demur
from demur import files, scoring
from demur.data import formats
from demur.errors import DemurError
from demur.types import Pool
from scored import RANKER, Failing, apart, made, scores, written


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path)


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
    with pytest.raises(DemurError, match=r"another job \(the ranker differs\).*--restart"):
        scoring.score_file(str(source), str(target), demur.ranker("length"), pairs=30)
    formats.write_pools(source, made(99))
    with pytest.raises(DemurError, match=r"another job \(the files differ\)"):
        scoring.score_file(str(source), str(target), RANKER, pairs=30)
    done = scoring.score_file(str(source), str(target), RANKER, pairs=30, restart=True)
    assert (done.pools, done.resumed_pools) == (99, 0)


@pytest.mark.parametrize("left", [made(99), None])  # another version of the file, or none
def test_a_file_that_changes_while_it_is_read_is_told(source: Path, left: list[Pool] | None) -> None:
    target, sound = source.parent / "out.jsonl", source.read_bytes()
    other = source.with_name("other.jsonl")

    def meter(label: str, unit: str, total: int | None) -> AbstractContextManager[scoring.Advance]:
        return nullcontext(lambda pairs: change() if source.exists() else None)

    def change() -> None:
        if left is None:
            source.unlink()
        else:
            formats.write_pools(other, left)
            other.replace(source)

    what = "was changed" if left else "vanished"
    fix = "start again with --restart when nothing writes there"
    with pytest.raises(DemurError, match=f"in.jsonl: {what} while it was read; {fix}"):
        scoring.score_file(str(source), str(target), RANKER, pairs=30, meter=meter)
    assert not target.exists()
    source.write_bytes(sound)  # what is kept is of this version alone
    assert scoring.score_file(str(source), str(target), RANKER, pairs=30).resumed_pools == 10
    assert len(scores(target)) == 100


def test_nothing_is_lost_or_doubled_after_kill_9(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "in.jsonl", made(4000))
    slow = """
        import contextlib, sys, time
        from demur import files, scoring
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
    formats.write_pools(texts, made(5))
    by_file = demur.ranker("bm25", stats=str(texts))
    seen = by_file.prepare(())

    class Stops(Failing):
        @property
        def fingerprint(self) -> str:
            return seen.fingerprint

    with pytest.raises(RuntimeError):
        scoring.score_file(str(source), target, Stops(at="q50"), pairs=30)
    formats.write_pools(texts, made(6))  # the same name, but other statistics
    with pytest.raises(DemurError, match=r"another job \(the ranker differs\)"):
        scoring.score_file(str(source), target, by_file, pairs=30)
    formats.write_pools(texts, made(5))
    with monkeypatch.context() as patch:
        patch.setattr("demur.parts.__version__", "0.0.1")
        with pytest.raises(DemurError, match=r"another job \(the version of demur differs\)"):
            scoring.score_file(str(source), target, by_file, pairs=30)
    assert scoring.score_file(str(source), target, by_file, pairs=30).resumed_pools == 50


@pytest.mark.parametrize("inside", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_each_file_of_a_folder_counts(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "beir"
    formats.write_pools(folder, apart(100), "beir")
    stopped(folder, tmp_path / "o.run")
    (folder / inside).write_text((folder / inside).read_text() + "\n")
    (folder / "notes.txt").write_text("these do not count")
    with pytest.raises(DemurError, match=r"\(the files differ\)"):
        scoring.score_file(str(folder), str(tmp_path / "o.run"), RANKER, pairs=30)


def test_a_failure_before_the_first_shard_blocks_nothing(source: Path) -> None:
    parts = stopped(source, source.parent / "o.run", "q0")
    assert not parts.exists()
    scoring.score_file(str(source), str(source.parent / "o.run"), demur.ranker("length"), pairs=30)
    parts.mkdir()  # as a kill leaves it
    (parts / "job.json").write_text('{"demur": "0.0.0"}')
    (parts / "lock").touch()
    scoring.score_file(str(source), str(source.parent / "o.run"), RANKER, pairs=30)
    assert not parts.exists()
    parts.mkdir()
    (parts / "lock").touch()
    files.half_of(parts / "job.json").write_text("{")  # killed as the ticket was written
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
    with pytest.raises(DemurError, match="exists already, and is not demur's; move it away"):
        scoring.score_file(str(source), str(source.parent / "o.run"), RANKER, restart=restart)
    assert names is None or [path.name for path in parts.iterdir()] == names


@pytest.mark.parametrize("restart", [False, True])
def test_what_somebody_put_beside_the_shards_stays(source: Path, restart: bool) -> None:
    parts = stopped(source, source.parent / "o.run")
    halves = [files.half_of(parts / name).name for name in ("joined.o.run", "000003.jsonl")]
    for name in (*halves, ".joined.o.run.77.part", ".000003.jsonl.77.part", "joined.o.run"):
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
        files.half_of(path).write_text("half")
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("demur.scoring.files.write_scores", killed)
        with pytest.raises(RuntimeError):
            scoring.score_file(str(source), str(target), RANKER, pairs=30)
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.jsonl", "o.jsonl.gz.parts"]
    assert scoring.score_file(str(source), str(target), Failing(at="q0"), pairs=30).resumed_pools == 100
    assert sorted(path.name for path in source.parent.iterdir()) == ["in.jsonl", "o.jsonl.gz"]
    assert len(scores(target)) == 100


def test_a_long_name_is_no_hindrance_and_one_too_long_is_told_at_once(source: Path) -> None:
    target = source.parent / f"{'a' * 243}.jsonl"  # with .parts as long as a name can be
    assert scoring.score_file(str(source), str(target), RANKER, pairs=30).pools == 100
    assert sorted(path.name for path in source.parent.iterdir()) == [target.name, "in.jsonl"]
    with pytest.raises(DemurError, match=r"cannot be written \(File name too long\); take a shorter name"):
        scoring.score_file(str(source), str(target.with_name(f"a{target.name}")), Failing(at="q0"))


def test_an_empty_shard_is_not_taken_for_a_done_one(source: Path) -> None:
    parts = stopped(source, source.parent / "o.jsonl")
    (parts / "000001.jsonl").write_text("")  # as after a loss of power
    with pytest.raises(DemurError, match="holds 90 pools of 100; start again with --restart"):
        scoring.score_file(str(source), str(source.parent / "o.jsonl"), RANKER, pairs=30)
    assert not (source.parent / "o.jsonl").exists()


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
