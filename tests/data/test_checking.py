from __future__ import annotations

from pathlib import Path

import pytest

from demur.data import Finding, check
from demur.errors import MissingData, UnknownName


def states(findings: list[Finding]) -> dict[str, str]:
    return {finding.what: finding.state for finding in findings}


def test_what_is_changed_missing_or_wrong_is_told_apart(root: Path) -> None:
    found = check(["wikiqa"])
    assert {finding.dataset for finding in found} == {"wikiqa"}
    assert states(found) == {
        "wikiqa/LICENSE.pdf": "missing",
        "wikiqa/WikiQA-train.tsv.gz": "changed",
        "wikiqa/WikiQA-dev.tsv.gz": "ok",  # here unpacked, so only its counts tell
        "wikiqa/WikiQA-test.tsv.gz": "missing",
        "wikiqa/train": "wrong",
        "wikiqa/train/answerable": "wrong",
        "wikiqa/train/clean": "wrong",
        "wikiqa/dev": "wrong",
        "wikiqa/dev/answerable": "wrong",
        "wikiqa/dev/clean": "wrong",
    }
    notes = {finding.what: finding.note for finding in found}
    assert notes["wikiqa/train"] == "3 pools, 4 pairs; as published it has 2,118 pools, 20,360 pairs"
    assert "WikiQA-dev.tsv" in notes["wikiqa/WikiQA-dev.tsv.gz"]
    assert "Microsoft Download Center" in notes["wikiqa/WikiQA-test.tsv.gz"]


def test_a_file_that_cannot_be_read_is_wrong(root: Path) -> None:
    (root / "wikiqa/WikiQA-dev.tsv").write_text("h\nbroken\n", encoding="utf-8")
    wrong = [finding for finding in check(["wikiqa"]) if finding.what == "wikiqa/dev"]
    assert wrong[0].state == "wrong"
    assert "1 columns where 7 were expected" in wrong[0].note


def test_known_holes_are_no_failures_and_close_when_the_file_is_there(root: Path) -> None:
    assert states(check(["asnq"])) == {"asnq/train.tsv.gz": "known hole", "asnq/dev.tsv.gz": "known hole"}
    (root / "asnq").mkdir()
    (root / "asnq/dev.tsv").write_text("q\ta\t4\n", encoding="utf-8")
    assert states(check(["asnq"])) == {"asnq/train.tsv.gz": "known hole"}


def test_check_needs_known_names_and_a_data_folder(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="wikiqa"):
        check(["wikiq"])
    monkeypatch.delenv("DEMUR_DATA")
    with pytest.raises(MissingData, match="DEMUR_DATA is not set"):
        check()
    monkeypatch.setenv("DEMUR_DATA", "/nowhere")
    with pytest.raises(MissingData, match="DEMUR_DATA is /nowhere, which is no folder"):
        check()
