"""The page about speed says what was kept of benchmarks, and which goals were missed."""

from __future__ import annotations

import json
from pathlib import Path

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
