"""How a job is asked for: misuse is one line, at the command line too."""

from __future__ import annotations

import json
import shutil
import sys
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cli.calling import process
from demur import scoring
from demur.data import formats
from demur.errors import DemurError
from demur.scale.job import Done, Here, score_files
from demur.scale.recipe import Recipe
from demur.scoring import Scorer
from demur.types import Candidate, Pool
from scale.jobs import folder
from scored import RANKER

SCORER = Scorer(RANKER)


def run(source: Path, target: Path, scorer: Scorer = SCORER, **more: Any) -> Done:
    return score_files(str(source), str(target), scorer, Here(), pairs=30, **more)


def beir(place: Path) -> Path:
    pools = [Pool("q", "ape", (Candidate("c", "ape", 1),))]
    formats.write_pools(place / "beir", pools, "beir")
    return place / "beir"


@pytest.mark.parametrize(
    ("source", "target", "more", "message"),
    [
        (
            "none",
            "out",
            {},
            "no such file or folder; check the spelling of the path; a dataset's id will not do",
        ),
        ("-", "out", {}, "a pipe cannot be resumed"),
        ("in", "in/out", {}, "lies in .*, and would be read the next time"),
        ("in", "in", {}, "lies in .*, and would be read the next time"),
        ("in", ".", {}, "exists already; remove it, or name another place to write"),
        ("in/b.jsonl", "in/b.jsonl", {}, "in/b.jsonl: is the file that is read, and would be lost; name"),
        ("in", "file", {}, "is a file, not a folder; name a folder"),
        ("in", "out.parquet", {}, "out.parquet names a file, but the input is a folder; name a folder"),
        ("in", "out.JSONL.gz", {}, "out.JSONL.gz names a file, but the input is a folder; name a folder"),
        ("in/b.jsonl", "empty", {"write_as": "jsonl"}, "is a folder, not a file"),
        ("in", "out", {"write_as": "tsv"}, "cannot be written as 'tsv'; these can be: jsonl, parquet"),
        ("in/b.jsonl", "out.run", {}, "cannot be written as 'run'"),
        ("in/notes.txt", "out.jsonl", {}, "cannot tell the format"),
        ("t.tsv", "out.jsonl", {}, "is neither .jsonl nor .parquet"),
        ("empty", "out", {}, "holds no .jsonl, .ndjson or .parquet file"),
        ("beir", "out", {}, "is one set of pools in BEIR's form; score it without --engine ray"),
    ],
)
def test_misuse_is_one_line_before_the_work(
    tmp_path: Path, source: str, target: str, more: dict[str, Any], message: str
) -> None:
    folder(tmp_path), beir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "t.tsv").write_text("a\tb\t1\n")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DemurError, match=message) as caught:
        run(Path(source) if source == "-" else tmp_path / source, tmp_path / target, **more)
    assert "\n" not in str(caught.value) and sorted(tmp_path.rglob("*")) == before


def test_there_is_a_meter(tmp_path: Path) -> None:
    seen: dict[str, int] = {}

    def meter(label: str, unit: str, total: int | None) -> AbstractContextManager[scoring.Advance]:
        return nullcontext(lambda pairs: seen.update({label: seen.get(label, 0) + pairs}))

    run(folder(tmp_path), tmp_path / "out", meter=meter)
    assert seen == {"scoring": 540, "joining": 540}


def test_at_the_command_line(tmp_path: Path) -> None:
    source = folder(tmp_path)
    with (source / "b.jsonl").open("a", encoding="utf-8") as file:
        file.write("{\n" * 12)
    done = process("score", source, "-o", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["files"], told["pools"], told["bad_rows"], told["engine"]) == (3, 180, 12, "local")
    lines = done.stderr.splitlines()
    assert len(lines) == 11 and f"{source / 'b.jsonl'}:61: broken JSON" in lines[0]
    assert lines[-1] == f"left out 12 bad rows; what is wrong with each is in {tmp_path / 'out'}.bad.jsonl"
    shutil.rmtree(tmp_path / "out")
    Path(f"{tmp_path / 'out'}.bad.jsonl").unlink()
    (source / "b.jsonl").write_bytes(b"\x1f\x8bno")
    done = process("score", f"{source}/", "-o", f"{tmp_path / 'out'}/")  # as shells complete them
    assert done.returncode == 1 and "left out" in done.stderr and "broken gzip file" in done.stderr
    assert f"scored 360 pairs in 120 pools of 2 files with {RANKER.spec}" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--engine", "spark"], "there is no engine 'spark'; write --engine local or --engine ray"),
        (["--workers", "2"], "--workers is for --engine ray"),
        (["--address", "auto"], "--address is for --engine ray"),
        (["--format", "jsonl"], "--format does not go with a folder or --engine ray"),
        (["--to", "tsv"], "cannot be written as 'tsv'"),
    ],
)
def test_misuse_at_the_command_line(tmp_path: Path, words: list[str], message: str) -> None:
    done = process("score", folder(tmp_path), "-o", tmp_path / "out", *words)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("s3://books/in", "out", "s3://books/in: only files are scored; copy or mount what is there"),
        ("in/b.jsonl", "gs://books/out.jsonl", "gs://books/out.jsonl: only files are scored"),
        ("in", "s3://books/out", "s3://books/out: only files are scored; copy or mount what is there"),
        ("postgresql://ada@here/books", "out", "only files are scored"),
        ("nowhere/", "out", "unknown dataset or file 'nowhere/'"),
    ],
)
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_places_that_are_none_are_told_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, target: str, message: str, engine: str
) -> None:
    folder(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = process("score", source, "-o", target, "--engine", engine)
    if (source, engine) == ("nowhere/", "ray"):
        message = "nowhere/: no such file or folder" if find_spec("ray") else "needs ray"
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_folder_without_files_to_score_is_told(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.txt").touch()
    done = process("score", tmp_path / "in", "-o", tmp_path / "out")
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert "in: holds no .jsonl, .ndjson or .parquet file; name the folder that has them" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_folder_may_be_called_as_a_file_is(tmp_path: Path) -> None:
    source = folder(tmp_path)
    done = score_files(str(source), f"{tmp_path}/slash.parquet/", SCORER, Here())
    (tmp_path / "there.parquet").mkdir()
    assert done == run(source, tmp_path / "there.parquet")


def test_a_beir_folder_and_a_dataset_are_still_scored(tmp_path: Path) -> None:
    done = process("score", beir(tmp_path), "-o", tmp_path / "out.run")
    assert done.returncode == 0 and list(formats.read_run(tmp_path / "out.run")) == ["q"]


def test_without_ray_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.scale.on_ray import OnRay

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(
        DemurError, match=r"this needs ray, which is not installed; pip install 'demur\[ray\]'"
    ):
        OnRay(Recipe("bm25"))
