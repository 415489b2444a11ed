"""An error says what is wrong and what to do; `make errors` lists them all."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tools.error_messages import Message, messages

from demur import store
from demur.errors import DataError
from demur.reading.confidence import ConfidenceModel
from demur.risk import AnswerSets, Gate

ALL = list(messages())


def test_each_says_what_to_do() -> None:
    silent = [str(each) for each in ALL if not each.advises and set(each.text) - set("…; |")]
    assert not silent, "add what to do, behind a semicolon or as fix=: " + "\n".join(silent)
    assert len(ALL) > 500


def test_one_that_does_not_is_noticed() -> None:
    bare = Message(Path(__file__), 1, "UsageError", "the file is odd", "")
    assert not bare.advises


@pytest.mark.parametrize(
    ("name", "format", "opens"),
    [
        ("ranker.json", "demur ranker 2", lambda path: store.open_folder(path.parent)),
        ("gate.json", "demur gate 2", Gate.load),
        ("sets.json", "demur answer sets 2", AnswerSets.load),
        ("sureness.json", "demur sureness 12", lambda path: ConfidenceModel.load(path.parent, 3)),
    ],
)
def test_what_a_newer_demur_wrote_is_said_to_be_newer(
    name: str, format: str, opens: Callable[[Path], Any], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(json.dumps({"format": format}), "utf-8")
    with pytest.raises(DataError, match=rf"newer demur \(format '{format}'; .*; upgrade demur"):
        opens(tmp_path / name)
    (tmp_path / name).write_text(json.dumps({"format": f"{format} or so"}), "utf-8")
    with pytest.raises(DataError) as refused:
        opens(tmp_path / name)
    assert "upgrade" not in str(refused.value)
