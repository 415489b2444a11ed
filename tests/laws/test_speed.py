"""The page about speed says what was kept of benchmarks, and which goals were missed."""

from __future__ import annotations

import json
from pathlib import Path

import bench.__main__
import bench.again
import bench.ask
import bench.bm25
import bench.rank
import numpy as np
import pytest
from bench.common import Row, below, told
from tools.places import NOTHING, engine, places
from tools.speed import page

from demur import processor
from demur.experiments.results import stored


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
    [file] = (tmp_path / "kept").iterdir()
    assert file.name == bench.__main__.kept_as("bm25") != "bm25.json"
    kept = json.loads(file.read_text("utf-8"))
    assert kept["processor"]["features"] == list(processor.this_processor().features) and kept["threads"] > 0
    assert kept["commit"], "its maker can be named"
    assert kept["rows"] == rows and kept["versions"]["numpy"] == np.__version__
    assert "| a book read | 3.00 s | < 2 s, **missed** |" in page(tmp_path / "kept")
    monkeypatch.setattr("sys.argv", ["bench", "bm52"])
    with pytest.raises(SystemExit, match="2"):
        bench.__main__.main()


def test_every_kind_of_processor_is_kept_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in processor.RESTRICTING:
        monkeypatch.delenv(name, raising=False)
    old = {"about": "Old.", "machine": "a desk", "versions": {}, "rows": [rate("ours int8", 5)]}
    (tmp_path / "rank.json").write_text(json.dumps(old), "utf-8")
    assert "| not recorded | 5 pairs/s | – | – | – | – |" in page(tmp_path).splitlines()
    assert "no such processor" not in page(tmp_path), "who knows which kind that was"

    facts = "AMD EPYC", ("AVX-512", "VNNI", "bf16")
    monkeypatch.setattr(processor, "_told", lambda: facts)
    monkeypatch.setattr("sys.argv", ["bench", "rank", "ask", "-o", str(tmp_path)])
    first = below("demur ask with mini, process and all", 1.5, 2)
    monkeypatch.setattr(bench.ask, "run", lambda: [first])
    predict = "sentence-transformers predict"
    for value, figure in ((None, 7), (None, 8), ("AVX2", 6)):
        monkeypatch.setattr(bench.rank, "run", lambda n=figure: [rate("ours int8", n), rate(predict, n - 5)])
        if value:
            monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", value)
        assert bench.__main__.main() == 0
    native, restricted = "rank.avx-512-vnni-bf16-amd-epyc", "-onednn-max-cpu-isa-avx2"
    names = {"rank.json", f"{native}.json", f"{native}{restricted}.json"}
    assert {file.name for file in tmp_path.glob("rank*")} == names

    text = page(tmp_path)
    start = text.splitlines().index("## By kind of processor")
    assert text.splitlines()[start + 7 : start + 13] == [
        "|---|---|---|---|---|---|",
        "| AVX-512 VNNI bf16 (AMD EPYC) | 8 pairs/s | – | 3 pairs/s | 1.50 s | – |",
        "| AVX-512 VNNI bf16 (AMD EPYC) ONEDNN_MAX_CPU_ISA=AVX2 | 6 pairs/s | – | 1 pairs/s | 1.50 s | – |",
        "| not recorded | 5 pairs/s | – | – | – | – |",
        "",
        "Not measured, as no such processor was available: SSE4.2; AVX2; AVX2 VNNI; AVX-512; AVX-512 VNNI; "
        "AVX-512 VNNI bf16 AMX; NEON.",
    ]
    assert text.count("## Rank") == 1 and text.count("ours int8: ") == 3, "no result is lost"
    assert f"<sub>{processor.this_processor().label}; AMD EPYC, " in text


def rate(name: str, number: int) -> Row:
    return told(f"{name}: {number} pairs a second; ours int8 against it", "1.0x")


def test_a_run_from_nothing_is_told_with_its_time_and_how_far_it_is_off(tmp_path: Path) -> None:
    kept = Path(__file__).resolve().parents[2] / "results"
    for column in ("wikiqa", "trecqa-clean"):
        for seed in range(5):
            file = f"committee/table1/man/{column}-seed{seed}.json"
            stored.write_result(tmp_path, file, stored.read_result(kept, file) or {})
    whole, off = bench.again.beside(tmp_path, 3601)
    assert whole["what"].startswith("2 means of Table 1") and whole["found"] == "60 min" and not whole["met"]
    assert off["found"] == "0.000, 0.000"
    for seed in range(1, 5):  # so that the first seed is the mean
        (tmp_path / f"committee/table1/man/wikiqa-seed{seed}.json").unlink()
    _, off = bench.again.beside(tmp_path, 3600)
    assert 0 < float(off["found"].partition(", ")[2]) < 0.1


def test_what_was_measured_of_places_stands_side_by_side(tmp_path: Path) -> None:
    assert places(tmp_path) == engine(tmp_path) == NOTHING
    rows = [told("a folder, 9 books: opened", "1 s"), told("a shelf, 9 books: opened", "2 s")]
    rows.append(told("a shelf, 9 books: dusted", "3 s"))
    kept = {"about": "Books.", "machine": "one desk", "versions": {"demur": "9", "lamp": "2.0"}, "rows": rows}
    (tmp_path / "bases.avx2.json").write_text(json.dumps(kept | {"commit": "abc"}), "utf-8")
    lines = places(tmp_path).splitlines()
    assert lines[0] == "| 9 books | a folder | a shelf |"
    assert lines[2:4] == ["| opened | 1 s | 2 s |", "| dusted | – | 3 s |"]
    assert lines[-1] == "<sub>one desk; demur 9; commit abc</sub>"
