"""CSV, whatever stands between its cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from demur.data import formats


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("says", [False, True])
def test_cells_of_csv_are_separated_as_in_spreadsheets_of_any_country(
    tmp_path: Path, mark: str, says: bool
) -> None:
    rows = ["question", "answer", "label"], ['"Why, or how?"', '"So;\tor, thus."', "1"], ["Who?", "Ann.", "0"]
    text = "".join(f"{mark.join(row)}\n" for row in rows)
    (tmp_path / "a.csv").write_text((f"sep={mark}\n" if says else "") + text, "utf-8")
    found = list(formats.read_pools(tmp_path / "a.csv"))
    assert [(pool.question, pool.answers, pool.labels) for pool in found] == [
        ("Why, or how?", ["So;\tor, thus."], [1]),
        ("Who?", ["Ann."], [0]),
    ]
