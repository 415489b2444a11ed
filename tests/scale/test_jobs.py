"""Folders of files: each comes out as `demur score` writes it, bad rows are left out, nothing is lost."""

from __future__ import annotations

import errno
import gzip
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import demur
from demur import scoring
from demur.data import formats
from demur.errors import DemurError, MissingExtra
from demur.scale.items import Item
from demur.scale.job import Done, Here, score_files
from demur.scale.work import Outcome
from demur.scoring import Scorer
from demur.types import Candidate, Pool
from scale.jobs import Dying, folder, made, same
from scored import RANKER

SCORER = Scorer(RANKER)


def run(source: Path, target: Path, scorer: Scorer = SCORER, **more: Any) -> Done:
    return score_files(str(source), str(target), scorer, Here(), pairs=30, **more)


def test_each_file_is_what_demur_score_writes(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    assert run(source, target) == Done(3, 180, 540, 0)
    written = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    assert written == ["a.parquet", "b.parquet", "more/c.parquet"]
    same(source, target, SCORER, 30)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_jsonl_and_single_files_will_do(tmp_path: Path) -> None:
    source = folder(tmp_path)
    assert run(source, tmp_path / "out", write_as="jsonl").files == 3
    assert run(source / "b.jsonl", tmp_path / "b.jsonl").pools == 60
    scoring.score_file(str(source / "b.jsonl"), str(tmp_path / "alone.jsonl"), RANKER, pairs=30)
    for ours in (tmp_path / "out" / "b.jsonl", tmp_path / "b.jsonl"):
        assert ours.read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    assert run(source / "b.jsonl", tmp_path / "b.jsonl").pools == 60, "a file is written again"


def test_without_what_writes_parquet_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    lines = tmp_path / "in" / "a.jsonl"
    formats.write_pools(lines, made(3))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for source, target in ((lines.parent, tmp_path / "out"), (lines, tmp_path / "a.parquet")):
        with pytest.raises(MissingExtra, match=r"pip install 'demur\[parquet\]'"):
            run(source, target)
    with pytest.raises(MissingExtra, match="pyarrow"):
        scoring.score_file(str(lines), str(tmp_path / "a.parquet"), RANKER)
    assert [*tmp_path.iterdir()] == [lines.parent]
    assert run(lines.parent, tmp_path / "out", write_as="jsonl").pools == 3


def test_statistics_are_those_of_all_files(tmp_path: Path) -> None:
    source = folder(tmp_path)
    ranker = demur.ranker("bm25", stats="dataset")
    run(source, tmp_path / "out", Scorer(ranker))
    same(source, tmp_path / "out", Scorer(ranker.prepare([*made(180)])), 30)


BAD_LINES = [
    ('{"question": "broken', r"b.jsonl:3: broken JSON"),
    ('{"id": "x", "question": 3, "candidates": []}', r"b.jsonl:3: 'question' is a number, not text"),
    ('{"question": "a", "candidates": [{"text": null}]}', r"b.jsonl:3: candidate 1: 'text' is null"),
    ("[]", r"b.jsonl:3: a list where a JSON object was expected"),
    (b'{"question": "\xff"}', r"b.jsonl:3: byte 0xff is not UTF-8"),
]


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_a_bad_line_is_told_and_left_out(tmp_path: Path, line: str | bytes, problem: str) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    lines = (source / "b.jsonl").read_bytes().splitlines(keepends=True)
    lines.insert(2, (line.encode() if isinstance(line, str) else line) + b"\n")
    sound = (source / "b.jsonl").read_bytes()
    (source / "b.jsonl").write_bytes(b"".join(lines))
    done = run(source, target)
    assert (done.files, done.pools, done.failed) == (3, 180, [])
    (told,) = done.bad
    assert told["file"] == str(source / "b.jsonl") and told["row"] == 3
    assert problem in told["problem"] and "\n" not in told["problem"]
    assert [told] == list(map(json.loads, Path(f"{target}.bad.jsonl").read_text("utf-8").splitlines()))
    (source / "b.jsonl").write_bytes(sound)
    same(source, target, SCORER, 30)


def test_a_bad_line_of_a_file_whose_name_is_no_utf_8_is_told(tmp_path: Path) -> None:
    source = folder(tmp_path)
    (source / os.fsdecode(b"na\xffme.jsonl")).write_text('{"question": 7}\n')
    done = run(source, tmp_path / "out", write_as="jsonl")
    assert (done.files, done.pools) == (4, 180)
    assert done.bad[0]["file"] == f"{source}/na?me.jsonl"


BGE = '{"query": "q", "pos": ["a"], "neg": ["b"]}\n'
TEVATRON = '{"query_id": "7", "query": "q", "positive_passages": [], "negative_passages": []}\n'


@pytest.mark.parametrize(("line", "ids"), [(BGE, ["1", "3"]), (TEVATRON, ["7", "7"])])
def test_a_bad_line_of_training_data_is_left_out(tmp_path: Path, line: str, ids: list[str]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text(f"{line}\nbroken\n{line}")
    done = run(tmp_path / "in", tmp_path / "out", write_as="jsonl")
    assert [told["row"] for told in done.bad] == [3] and not done.failed
    assert [pool.id for pool in formats.read_pools(tmp_path / "out" / "a.jsonl")] == ids


def test_a_bad_first_line_hides_no_other(tmp_path: Path) -> None:
    source = folder(tmp_path)
    sound = (source / "b.jsonl").read_text("utf-8")
    (source / "b.jsonl").write_text('{"quest": 1}\n' + sound, "utf-8")
    done = run(source, tmp_path / "out")
    assert done.pools == 180 and "b.jsonl:1: no 'question'" in done.bad[0]["problem"]


def test_a_bad_row_of_parquet_is_told_and_left_out(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    source = folder(tmp_path)
    table = pyarrow.parquet.read_table(source / "a.parquet")
    rows = table.to_pylist()
    rows[4]["extra"] = "{"
    rows[6]["question"] = None
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema=table.schema), source / "a.parquet")
    done = run(source, tmp_path / "out")
    assert [told["row"] for told in done.bad] == [5, 7] and done.pools == 178
    assert "a.parquet: row 5: 'extra' is broken JSON" in done.bad[0]["problem"]
    ids = [pool.id for pool in formats.read_pools(tmp_path / "out" / "a.parquet")]
    assert ids == [f"q{n}" for n in range(60) if n not in (4, 6)]


def test_a_flat_parquet_table_with_a_null_is_left_out_whole(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    source = folder(tmp_path)
    table = {"question": ["a?", "a?", None, "b?"], "answer": ["x", "y", "z", None]}
    pyarrow.parquet.write_table(pyarrow.table(table), source / "flat.parquet")
    done = run(source, tmp_path / "out")
    assert (done.files, done.pools, done.bad) == (3, 180, [])
    assert len(done.failed) == 1 and "flat.parquet: row 3: 'question' is null" in done.failed[0]
    assert not (tmp_path / "out" / "flat.parquet").exists()


def test_a_column_of_a_flat_table_may_be_called_text(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    source = folder(tmp_path)
    table = {"question": ["a?"], "answer": ["x"], "text": ["mine"]}
    pyarrow.parquet.write_table(pyarrow.table(table), source / "flat.parquet")
    assert run(source, tmp_path / "out").files == 4
    (pool,) = formats.read_pools(tmp_path / "out" / "flat.parquet")
    assert pool.candidates[0].extra["text"] == "mine"


def test_a_row_that_cannot_be_scored_is_left_out(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    pools = made(60, 60)
    formats.write_pools(source / "b.jsonl", [*pools[:12], replace(pools[12], question="fails"), *pools[13:]])
    done = run(source, target, Scorer(Dying()))
    (told,) = done.bad
    assert told["row"] == 13 and told["problem"] == f"{source / 'b.jsonl'}:13: ValueError: it fails here"
    assert (done.pools, done.pairs) == (179, 537)
    found = list(formats.read_pools(target / "b.parquet"))
    assert [pool.id for pool in found] == [f"q{n}" for n in range(60, 120) if n != 72]


def test_a_row_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    half = '{"id": "h", "question": "a\\ud800", "candidates": [{"text": "a"}]}\n'
    (source / "b.jsonl").write_text(half + '{"id": "w", "question": "a", "candidates": [{"text": "a"}]}\n')
    done = run(source, tmp_path / "out")
    assert done.pools == 1 and [told["row"] for told in done.bad] == [1]
    what = "half a character, U+D800, in 'question'; write the character itself"
    assert done.bad[0]["problem"] == f"{source / 'b.jsonl'}:1: {what}"


def test_a_row_that_the_format_cannot_hold_is_left_out(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    wide = [Pool("q", "ape", (Candidate("c", "ape", 10**20),))]
    formats.write_pools(source / "b.jsonl", [*made(9), *wide, *made(9, 9)])
    done = run(source, tmp_path / "out")
    (told,) = done.bad
    assert done.pools == 18 and ".parts" not in told["problem"]
    assert f"b.jsonl:10: {tmp_path / 'out' / 'b.parquet'}: pool 'q' has the label 1000" in told["problem"]


def test_what_fails_for_every_row_is_no_fault_of_rows(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    formats.write_pools(source / "b.jsonl", [replace(pool, question="fails") for pool in made(3)])
    with pytest.raises(ValueError, match="it fails"):
        run(source, tmp_path / "out", Scorer(Dying()))
    assert not (tmp_path / "out").exists()


def test_a_file_that_changes_while_it_is_read_is_left_out_whole(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"

    class Changing(Here):
        def score(self, scorer: Scorer, items: Sequence[Item], pairs: int) -> Iterator[Outcome]:
            for number, outcome in enumerate(super().score(scorer, items, pairs)):
                if number == 7:  # a.parquet is done, and b.jsonl is not
                    formats.write_pools(source / "a.parquet", made(3))
                    formats.write_pools(source / "b.jsonl", made(50))
                yield outcome

    done = score_files(str(source), str(target), SCORER, Changing(), pairs=30)
    said = f"{source / 'b.jsonl'}: was changed while it was read; score it again when nothing writes there"
    assert (done.files, done.pools, done.failed) == (2, 120, [said])
    assert not (target / "b.parquet").exists()


def test_a_file_that_cannot_be_read_is_left_out_whole(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    packed = gzip.compress((source / "b.jsonl").read_bytes())
    (source / "broken.jsonl.gz").write_bytes(packed[:-9])
    (source / "broken.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DemurError, match="would both become"):
        run(source, target)
    (source / "broken.parquet").rename(source / "other.parquet")
    (source / "void.parquet").touch()
    done = run(source, target)
    assert (done.files, done.pools) == (3, 180)
    said = ["broken gzip file", "broken parquet file", "is empty, and so no parquet file"]
    assert all(what in told for what, told in zip(said, done.failed, strict=True)), done.failed
    assert sorted(path.name for path in target.iterdir()) == ["a.parquet", "b.parquet", "more"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_what_is_no_file_is_told_and_never_opened(tmp_path: Path) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    (tmp_path / "other").mkdir()
    (source / "around").symlink_to(source / "more")  # is read anyway
    (source / "away").symlink_to(tmp_path / "other")
    (source / "gone.jsonl").symlink_to(tmp_path / "none.jsonl")
    (source / "linked.jsonl").symlink_to(source / "b.jsonl")
    (source / "_hidden").symlink_to(tmp_path / "other")
    (source / "notes.md").symlink_to(tmp_path / "none")
    os.mkfifo(source / "pipe.jsonl")  # to open it would wait for ever
    done = run(source, target)
    assert (done.files, done.pools) == (4, 240)
    assert done.failed == [
        f"{source}/away: is a link to a folder, which is not followed; score that folder too",
        f"{source}/gone.jsonl: is a link to nothing; mend the link or remove it",
        f"{source}/pipe.jsonl: is a pipe or a device, not a file; save what it gives to a file",
    ]


def test_a_folder_of_nothing_but_a_pipe_says_so(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    os.mkfifo(tmp_path / "in" / "p.jsonl")
    with pytest.raises(DemurError, match=r"p\.jsonl: is a pipe or a device, not a file"):
        run(tmp_path / "in", tmp_path / "out")


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, scan = folder(tmp_path), os.scandir

    def barred(path: Any) -> Any:
        if str(path) == str(source / "more"):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", barred)
    done = run(source, tmp_path / "out")
    assert done.files == 2
    assert done.failed == [f"{source}/more: cannot be read (Permission denied); change its permissions"]
