from __future__ import annotations

from dataclasses import dataclass, field
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
    seed: int = 0
    names: list[str] = field(default_factory=list)
    space: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize("value", ["9" * 5000, "[" * 5000])
def test_thousands_of_digits_or_brackets_are_one_line(value: str, tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(f"seed = {value}", "utf-8")
    with pytest.raises(DataError, match=r"recipe\.toml: not TOML \(.*\); correct the recipe"):
        read_toml(Recipe, path)


@pytest.mark.parametrize("key", ["names", "space"])
def test_a_text_is_no_list_and_no_table_of_texts(key: str, tmp_path: Path) -> None:
    path = tmp_path / "recipe.toml"
    path.write_text(f'{key} = "x"', "utf-8")
    with pytest.raises(DataError, match=f"{key} is 'x', which must be of type"):
        read_toml(Recipe, path)
