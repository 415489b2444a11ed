"""The page about speed says what was kept of benchmarks, and which goals were missed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import bench.__main__
import bench.again
import bench.bm25
import numpy as np
import pytest
from bench.common import below, told
from tools.speed import page


def test_goals_that_were_missed_are_told(tmp_path: Path) -> None:
    assert "##" not in page(tmp_path)
    rows = [below("a page turned", 0.5, 1), below("a book read", 3, 2), told("a shelf", "7 m")]
    kept = {"about": "Books.", "machine": "one desk", "versions": {"lamp": "2.0"}, "rows": rows}
    (tmp_path / "bm25.json").write_text(json.dumps(kept), "utf-8")
    lines = page(tmp_path).splitlines()
    assert lines.index("## Bm25") < lines.index("Books.") < lines.index("<sub>one desk; lamp 2.0</sub>")
    assert "| a page turned | 500.0 ms | < 1 s |" in lines
    assert "| a book read | 3.00 s | < 2 s, **missed** |" in lines
    assert "| a shelf | 7 m | – |" in lines


def test_a_part_that_is_kept_stands_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [below("a page turned", 0.5, 1), below("a book read", 3, 2)]
    monkeypatch.setattr(bench.bm25, "run", lambda: rows)
    monkeypatch.setattr("sys.argv", ["bench", "bm25", "-o", str(tmp_path / "kept")])
    assert bench.__main__.main() == 1, "one goal was missed"
    shown = capsys.readouterr().out
    assert "ok   a page turned" in shown and "MISS a book read" in shown
    assert [file.name for file in (tmp_path / "kept").iterdir()] == ["bm25.json"]
    kept = json.loads((tmp_path / "kept" / "bm25.json").read_text("utf-8"))
    assert kept["rows"] == rows and kept["versions"]["numpy"] == np.__version__
    assert "| a book read | 3.00 s | < 2 s, **missed** |" in page(tmp_path / "kept")
    monkeypatch.setattr("sys.argv", ["bench", "bm52"])
    with pytest.raises(SystemExit, match="2"):
        bench.__main__.main()


def test_a_run_from_nothing_is_told_with_its_time_and_how_far_it_is_off(tmp_path: Path) -> None:
    kept = Path(__file__).resolve().parents[2] / "results" / "committee" / "table1"
    there = tmp_path / "committee" / "table1"
    shutil.copytree(kept / "man", there / "man")
    whole, off = bench.again.beside(tmp_path, 3601)
    assert whole["what"].startswith("2 means of Table 1") and whole["found"] == "60 min" and not whole["met"]
    assert off["found"] == "0.000, 0.000"
    for number in range(1, 5):
        (there / "man" / f"wikiqa-seed{number}.json").unlink()  # so that the first seed is the mean
    _, off = bench.again.beside(tmp_path, 3600)
    assert 0 < float(off["found"].partition(", ")[2]) < 0.1
