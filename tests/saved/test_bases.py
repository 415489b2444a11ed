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

OLD = HERE / "0.1" / "beside"
SAID: dict[str, Any] = json.loads((OLD / "answers.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def now(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a copy says, as a base that is opened may be written to."""
    copy = tmp_path_factory.mktemp("old") / "beside"
    shutil.copytree(OLD, copy)
    return bases.said(copy)


@pytest.mark.parametrize("name", SAID)
def test_it_opens_and_says_the_same(name: str, now: dict[str, Any]) -> None:
    plain = json.loads(json.dumps(now))
    assert flat(plain[name]) == pytest.approx(flat(SAID[name]), abs=1e-6)


def flat(value: Any) -> list[Any]:
    """Everything in nested lists and objects, in order."""
    if isinstance(value, dict):
        value = [each for pair in value.items() for each in pair]
    return [one for each in value for one in flat(each)] if isinstance(value, list) else [value]


def test_the_base_answers_with_a_promise_and_abstains() -> None:
    answered, *others = SAID["answers"]
    assert answered[0] == "A kit1029 is lent for 31 days." and answered[2:] == [0.2, 1, 0.0]
    assert [each[0] for each in others] == [None, None] and len(SAID["labels"]) == 30


def test_without_what_is_derived_it_is_made_again(tmp_path: Path) -> None:
    copy = tmp_path / "beside"
    shutil.copytree(OLD, copy, ignore=shutil.ignore_patterns("words"))
    assert flat(bases.said(copy)["answers"]) == pytest.approx(flat(SAID["answers"]), abs=1e-6)


def test_every_format_that_is_written_has_a_file_here() -> None:
    held = [path.read_bytes() for path in HERE.rglob("*") if path.suffix in (".json", ".safetensors")]
    marks = [version.encode() for _, _, version, _, _ in versions.ROWS if version.startswith("demur ")]
    assert len(marks) == 5 and all(any(mark in each for each in held) for mark in marks)
