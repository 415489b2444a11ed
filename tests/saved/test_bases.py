"""What an older demur saved beside models still opens, and says what it said then."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tools import versions

from saved import bases
from saved.opening import HERE

PLACES = {path.parent.name: path for path in sorted(HERE.glob("0.*/beside"))}
SAID: dict[str, dict[str, Any]] = {
    version: json.loads((place / "answers.json").read_text("utf-8")) for version, place in PLACES.items()
}
of_each_version = pytest.mark.parametrize("version", PLACES)


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What copies say, as a base that is opened may be written to."""
    found = {}
    for version, place in PLACES.items():
        copy = tmp_path_factory.mktemp("old") / "beside"
        shutil.copytree(place, copy)
        found[version] = bases.said(copy)
    return found


@pytest.mark.parametrize(
    ("version", "name"), [(version, name) for version, said in SAID.items() for name in said]
)
def test_it_opens_and_says_the_same(version: str, name: str, now: dict[str, dict[str, Any]]) -> None:
    plain = json.loads(json.dumps(now[version]))
    assert flat(plain[name]) == pytest.approx(flat(SAID[version][name]), abs=1e-6)


def flat(value: Any) -> list[Any]:
    """Everything in nested lists and objects, in order."""
    if isinstance(value, dict):
        value = [each for pair in value.items() for each in pair]
    return [one for each in value for one in flat(each)] if isinstance(value, list) else [value]


@of_each_version
def test_the_base_answers_with_a_promise_and_abstains(version: str) -> None:
    answered, *others = SAID[version]["answers"]
    assert answered[0] == "A kit1029 is lent for 31 days." and answered[2:] == [0.2, 1, 0.0]
    assert [each[0] for each in others] == [None, None] and len(SAID[version]["labels"]) == 30


@of_each_version
def test_without_what_is_derived_it_is_made_again(version: str, tmp_path: Path) -> None:
    copy = tmp_path / "beside"
    shutil.copytree(PLACES[version], copy, ignore=shutil.ignore_patterns("words"))
    assert flat(bases.said(copy)["answers"]) == pytest.approx(flat(SAID[version]["answers"]), abs=1e-6)


def test_every_format_that_is_written_has_a_file_here() -> None:
    held = [path.read_bytes() for path in HERE.rglob("*") if path.suffix in (".json", ".safetensors")]
    marks = [version.encode() for _, _, version, _, _ in versions.ROWS if version.startswith("demur ")]
    assert len(marks) == 5 and all(any(mark in each for each in held) for mark in marks)
