"""Jobs that were stopped or killed go on; another job in their place is refused."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import demur
from demur.errors import DemurError
from demur.parts import Parts
from demur.scale.items import Folders, Item
from demur.scale.job import Done, Here, score_files
from demur.scale.work import Outcome
from demur.scoring import Scorer, score_file
from scale.jobs import Stopping, folder, same
from scored import RANKER

SCORER = Scorer(RANKER)


def run(source: Path, target: Path, scorer: Scorer = SCORER, **more: Any) -> Done:
    return score_files(str(source), str(target), scorer, Here(), pairs=30, **more)


def test_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"

    for after in (9, 1):  # while scoring; then, with all scored, while joining
        with pytest.raises(RuntimeError):
            if after == 1:
                score_files(str(source), str(target), SCORER, _Joins(_Stops(1)), pairs=30)
            else:
                score_files(str(source), str(target), SCORER, _Stops(after), pairs=30)
    assert [path.name for path in target.rglob("*.parquet")] != []
    done = run(source, target, Scorer(Stopping(at="q3")))  # which none of them scores again
    assert (done.files, done.pools, done.pairs, done.resumed_pools) == (3, 180, 540, 180)
    same(source, target, SCORER, 30)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


class _Stops(Here):
    """It is killed after so many steps."""

    def __init__(self, after: int) -> None:
        self.after = after

    def score(self, scorer: Scorer, items: Sequence[Item], pairs: int) -> Iterator[Outcome]:
        for number, outcome in enumerate(super().score(scorer, items, pairs)):
            if number == self.after:
                raise RuntimeError("killed")
            yield outcome

    def join(self, files: Any, write_as: str) -> Iterator[Outcome]:
        for number, outcome in enumerate(super().join(files, write_as)):
            if number == self.after:
                raise RuntimeError("killed")
            yield outcome


class _Joins(Here):
    """It scores as usual, and joins as another does."""

    def __init__(self, other: Here) -> None:
        self.other = other

    def join(self, files: Any, write_as: str) -> Iterator[Outcome]:
        return self.other.join(files, write_as)


def test_bad_rows_of_an_earlier_run_are_still_told(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with (source / "a2.jsonl").open("w", encoding="utf-8") as file:
        file.write("{\n" + (source / "b.jsonl").read_text("utf-8"))
    with pytest.raises(KeyboardInterrupt):
        run(source, target, Scorer(Stopping(at="q150")))
    assert [told["row"] for told in run(source, target).bad] == [1]


def test_kill_9_loses_and_doubles_nothing(tmp_path: Path) -> None:
    source, target = folder(tmp_path, 400), tmp_path / "out"
    code = (
        "import sys; from pathlib import Path; from scale.jobs import Dying; from scale.test_jobs import *;"
        "run(*map(Path, sys.argv[1:]), Scorer(Dying(seconds=0.02)))"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    for wanted in (5, 40):
        child = subprocess.Popen(
            [sys.executable, "-c", code, str(source), str(target)], env={**os.environ, "PYTHONPATH": paths}
        )
        while len(list(tmp_path.glob("out.parts/*/0*.jsonl"))) < wanted:
            assert child.poll() is None, "it must still be running"
            time.sleep(0.01)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        assert not target.exists()
    done = run(source, target)
    assert done.pools == 1200 and done.resumed_pools >= 400
    same(source, target, SCORER, 30)


def test_another_job_is_refused_and_restart_forgets(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(source, target, Scorer(Stopping(at="q100")))
    with pytest.raises(DemurError, match=r"another job \(the ranker differs\).*--restart"):
        run(source, target, Scorer(demur.ranker("length")))
    with pytest.raises(DemurError, match=r"another job \(the format to write differs\)"):
        run(source, target, write_as="jsonl")
    os.utime(source / "b.jsonl", (1, 1))
    with pytest.raises(DemurError, match=r"another job \(the files differ\)"):
        run(source, target)
    with pytest.raises(DemurError, match=r"another job \(the files and the format to write differ\)"):
        run(source, target, write_as="jsonl")
    with pytest.raises(DemurError, match=r"another job \(the files and the reader differ\)"):
        run(source, target, Scorer(RANKER, also={"reader": "another"}))
    assert run(source, target, restart=True).resumed_pools == 0
    same(source, target, SCORER, 30)


def test_a_job_of_one_file_is_another_job(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    one, written = str(source / "b.jsonl"), tmp_path / "o.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(source, target, Scorer(Stopping(at="q100")))
    with pytest.raises(DemurError, match=r"another job .*--restart"):
        score_file(one, str(target), RANKER, write_as="jsonl")
    assert run(source, target).resumed_pools == 100
    with pytest.raises(KeyboardInterrupt):
        score_file(one, str(written), Stopping(at="q100"), pairs=30)
    with pytest.raises(DemurError, match=r"another job .*--restart"):
        run(source / "b.jsonl", written)
    assert run(source / "b.jsonl", written, restart=True).resumed_pools == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "o.jsonl", "out"]


@pytest.mark.parametrize("write_as", [None, "jsonl"])  # the same job, and another one in its place
def test_restart_removes_what_the_stopped_job_has_published(tmp_path: Path, write_as: str | None) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    published(source, target, 3)
    assert len(list(target.rglob("*.parquet"))) == 3
    told = Path(f"{target}.bad.jsonl")
    told.write_text("{}\n")  # as a kill leaves it that comes after the joining
    done = run(source, target, restart=True, write_as=write_as)
    assert (done.files, done.resumed_pools) == (3, 0)
    kind = write_as or "parquet"
    written = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert written == [f"a.{kind}", f"b.{kind}", f"more/c.{kind}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_restart_that_finds_a_file_of_another_removes_nothing(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    published(source, target, 1)
    (target / "notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DemurError, match=r"out/notes.txt: exists already, and this job did not write it"):
        run(source, target, restart=True)
    assert sorted(tmp_path.rglob("*")) == before
    assert run(source, target).resumed_pools == 180


def published(source: Path, target: Path, files: int) -> None:
    """What a job leaves that is killed once so many files are published."""
    with pytest.raises(RuntimeError):
        score_files(str(source), str(target), SCORER, _Joins(_Stops(files - 1)), pairs=30)


def test_what_the_earlier_job_had_and_this_one_lacks_is_named(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(source, target, Scorer(Stopping(at="q100"), also={"reader": "one"}))
    with pytest.raises(DemurError, match=r"another job \(the reader differs\)"):
        run(source, target)


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    source = folder(tmp_path)
    run(source, tmp_path / "out")
    before = (tmp_path / "out" / "a.parquet").read_bytes()
    with pytest.raises(DemurError, match="out: exists already; remove it, or name another place"):
        run(source, tmp_path / "out", Scorer(demur.ranker("length")))
    assert (tmp_path / "out" / "a.parquet").read_bytes() == before
    (tmp_path / "new.bad.jsonl").write_text("mine")
    with pytest.raises(DemurError, match=r"new.bad.jsonl: exists already"):
        run(source, tmp_path / "new")
    assert (tmp_path / "new.bad.jsonl").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "new.bad.jsonl", "out"]


@pytest.mark.parametrize("name", ["a.parquet", "b.parquet"])  # one that was published, one that was not
def test_a_file_of_another_is_not_written_over_when_it_goes_on(tmp_path: Path, name: str) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with pytest.raises(RuntimeError):
        score_files(str(source), str(target), SCORER, _Joins(_Stops(1)), pairs=30)
    ours = (target / "a.parquet").read_bytes()
    (target / name).write_text("mine")
    (target / "notes.txt").write_text("in nobody's way")
    said = rf"out/{name}: exists already, and this job did not write it; remove it, or name another place"
    with pytest.raises(DemurError, match=said):
        run(source, target)
    assert (target / name).read_text() == "mine"
    (target / name).unlink()
    assert run(source, target).pools == 180
    assert (target / "a.parquet").read_bytes() == ours


@pytest.mark.parametrize("left", [2, 0])  # folders that the kill leaves
def test_a_kill_while_the_parts_are_removed_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with (source / "b.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n")

    killed_while_cleaning_up(source, target, monkeypatch, left)
    with pytest.raises(DemurError, match=r"another job \(the ranker differs\)"):
        run(source, target, Scorer(demur.ranker("length")))
    done = run(source, target, Scorer(Stopping(at="q3")))  # which it does not score again
    assert (done.files, done.pools, done.pairs, done.resumed_pools) == (3, 180, 540, 180)
    assert [told["row"] for told in done.bad] == [61]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.bad.jsonl"]
    with pytest.raises(DemurError, match="out: exists already"):
        run(source, target)


def test_results_that_are_gone_after_such_a_kill_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    killed_while_cleaning_up(source, target, monkeypatch, 2)
    shutil.rmtree(target)
    assert run(source, target).resumed_pools == 0
    same(source, target, SCORER, 30)


@pytest.mark.parametrize("left", [3, 1, 0])
def test_restart_after_such_a_kill_starts_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: int
) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    killed_while_cleaning_up(source, target, monkeypatch, left)
    (target / "notes.txt").write_text("mine")
    with pytest.raises(DemurError, match=r"out/notes.txt: exists already, and this job did not write it"):
        run(source, target, restart=True)
    (target / "notes.txt").unlink()
    assert run(source, target, restart=True, write_as="jsonl").resumed_pools == 0
    assert sorted(path.name for path in target.iterdir()) == ["a.jsonl", "b.jsonl", "more"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def killed_while_cleaning_up(source: Path, target: Path, monkeypatch: pytest.MonkeyPatch, left: int) -> None:
    """What a job leaves that is killed when so many folders of shards were not yet removed."""

    def killed(folders: Folders) -> None:
        for path in folders.shards()[left:]:
            shutil.rmtree(path)
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(Folders, "sweep", killed)
        run(source, target)


def test_a_file_that_was_published_just_before_a_kill_is_known_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = folder(tmp_path), tmp_path / "out"

    publish = Parts.publish

    def killed(parts: Parts, name: str) -> None:
        publish(parts, name)
        raise RuntimeError("killed")

    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr(Parts, "publish", killed)
        run(source, target)
    assert [path.name for path in target.iterdir()] == ["a.parquet"]
    assert run(source, target).resumed_pools == 180
    same(source, target, SCORER, 30)
