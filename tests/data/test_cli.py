from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from demur import registry
from demur.cli import data
from demur.cli.data import app
from demur.errors import MissingData, UnknownName


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result.stdout


def test_list(root: Path) -> None:
    text = run("list")
    row = next(line for line in text.splitlines() if line.startswith("wikiqa"))
    assert "partly" in row and "train dev (test)" in row and "Microsoft" in row, "one row, one line"
    assert len(text.splitlines()) == 1 + len(registry.names("dataset"))
    assert "partly" in text and "missing" in text
    rows = {row["name"]: row for row in json.loads(run("list", "--json"))}
    assert rows["wikiqa"]["state"] == "partly"
    assert rows["wikiqa"]["splits"] == {"train": True, "dev": True, "test": False}
    assert rows["squad-t"]["state"] == "missing"
    assert rows["selqa"]["licence"] == "Apache-2.0"


def test_list_without_a_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    result = CliRunner().invoke(app, ["list"])
    assert result.exit_code == 0
    assert "DEMUR_DATA is not set" in result.stderr
    assert "wikiqa       missing" in result.stdout


def test_show_a_dataset(root: Path) -> None:
    text = run("show", "wikiqa")
    assert "test/clean" in text and "2,341" in text and "Microsoft" in text
    assert json.loads(run("show", "wikiqa", "--json"))["counts"]["test/clean"]["pools"] == 237


def test_show_a_dataset_says_where_its_files_belong(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [line.split() for line in run("show", "wikiqa").splitlines()]
    assert ["wikiqa/WikiQA-train.tsv.gz", "here", "for", "train"] in lines
    assert ["wikiqa/WikiQA-test.tsv.gz", "missing", "for", "test"] in lines
    assert f"below the folder that DEMUR_DATA names ({root})" in run("show", "wikiqa")
    assert json.loads(run("show", "wikiqa", "--json"))["needs"]["dev"] == ["wikiqa/WikiQA-dev.tsv.gz"]
    shared = [line for line in run("show", "example").splitlines() if line.startswith("files")]
    assert not shared, "what comes with demur needs no files"
    monkeypatch.delenv("DEMUR_DATA")
    assert "below the folder that DEMUR_DATA names (not set yet)" in run("show", "wikiqa")


def test_show_a_split(root: Path) -> None:
    text = run("show", "wikiqa/train")
    assert "2 labelled 0 (50.0%)" in text
    assert "who made it?" in text
    assert 'It is "green" .' in text
    found = json.loads(run("show", "wikiqa/train", "--json"))
    assert (found["id"], found["pools"], found["labels"]) == ("wikiqa/train", 3, {"0": 2, "1": 2})
    assert found["samples"][0]["candidates"][0]["id"] == "D1-0"


def test_show_a_file_of_ones_own_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "own.tsv"
    rows = [f"why [red]?\t[bold]answer{n}[/bold] {'long ' * 40}\t{'' if n else 1}" for n in range(7)]
    file.write_text("\n".join(rows), encoding="utf-8")
    text = run("show", str(file))
    assert "why [red]?" in text
    assert "1  [bold]answer0[/bold] long" in text
    assert "6 unjudged (85.7%)" in text
    assert "and 3 more" in text
    assert "pairs" in text and "7 · 1 labelled 1 (14.3%) · 6 unjudged (85.7%)" in text


def test_check(root: Path) -> None:
    assert "changed" in run("check", "wikiqa", code=1)
    assert "known hole" in run("check", "asnq")
    (root / "selqa").mkdir()
    missing = run("check", "selqa", code=1)
    assert "missing" in missing and "wrong" not in missing and "changed" not in missing
    found = json.loads(run("check", "wikiqa", "--json", code=1))
    assert {"dataset": "wikiqa", "what": "wikiqa/train", "state": "wrong"}.items() <= found[4].items()


def test_check_without_a_data_folder_is_misuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    assert isinstance(CliRunner().invoke(app, ["check"]).exception, MissingData)  # main says exit 2


def test_a_terminal_wraps(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "stdout", lambda: Console(force_terminal=True, width=80, highlight=False))
    lines = re.sub(r"\x1b\[[0-9;]*m", "", run("list")).splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) > 3 * len(registry.names("dataset"))


def test_errors_are_left_to_main(root: Path) -> None:
    result = CliRunner().invoke(app, ["show", "wikiqq"])
    assert isinstance(result.exception, UnknownName)
