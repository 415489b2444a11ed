from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from demur.errors import DataError
from demur.toml import read_toml


def test_the_middle_of_a_long_message_is_left_out() -> None:
    said = str(DataError("x" * 10_000, path="file.csv", fix="write it anew"))
    assert said.startswith("file.csv: xxx") and " … " in said and said.endswith("xxx; write it anew")
    assert len(said) < 2100


@dataclass(frozen=True)
class Recipe:
    seed: int


def test_a_number_of_thousands_of_digits_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text("seed = " + "9" * 5000, "utf-8")
    with pytest.raises(DataError, match=r"recipe\.toml: not TOML \(.*\); correct the recipe"):
        read_toml(Recipe, path)
