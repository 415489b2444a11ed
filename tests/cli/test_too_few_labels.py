"""What `demur calibrate` says of labels that are not in the files, and of too few of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.calling import run
from demur.data import formats
from demur.types import Candidate, Pool

ABSENT = [("b", Candidate("b", "Drills cost a pound.", 1)), ("c", Candidate("guide.md:9", "", 1))]
THERE = [
    ("a", Candidate("a", "Saws are lent for a week.", 1)),
    ("d", Candidate("guide.md:3", "", 1)),
    ("e", Candidate("e", "Ladders go out for days.", 1)),  # there, but BM25 does not find it
    ("f", Candidate("f", "Saws cost a pound.", 0)),  # nobody says that this has an answer
    ("g", Candidate("g", "It is.", 1)),  # too common to look for
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("guide.md").write_text("Saws are lent for a week.\n\nLadders go out for days.\n", "utf-8")
    pools = [Pool(id, f"How long for saws, {id}?", (right,)) for id, right in THERE + ABSENT]
    formats.write_pools("labelled.jsonl", pools)
    formats.write_pools("fine.jsonl", pools[: len(THERE)])


@pytest.mark.parametrize("how", [[], ["--plan"]])
@pytest.mark.parametrize("base", [False, True])
def test_labels_that_are_not_in_the_files_are_counted_and_the_first_is_named(
    how: list[str], base: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--from", "guide.md"]
    if base:
        run(monkeypatch, "kb", "add", "a.kb", "guide.md", "--words-only")
        asked = ["--kb", "a.kb"]
        capsys.readouterr()
    for name, many in (("labelled.jsonl", 2), ("fine.jsonl", 0)):
        run(monkeypatch, "calibrate", "none", name, *asked, *how, "--json")
        shown = capsys.readouterr()
        told: Any = json.loads(shown.out)
        assert told["labels_not_found"] == many
        assert ("no right passage is in the files" in shown.err) == bool(many)
        if many:
            line = next(line for line in shown.err.splitlines() if "no right passage" in line)
            assert line.startswith("2 of 7 labelled questions: ")
            assert line.endswith("the first is: How long for saws, b?")
