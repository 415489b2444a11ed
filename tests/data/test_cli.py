from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from demur.cli.data import app
from demur.errors import UnknownName


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, words)
    assert result.exit_code == code, result.output
    return result.stdout


def test_list(root: Path) -> None:
    text = run("list")
    assert max(map(len, text.splitlines())) <= 80
    assert "train dev (test)" in text
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
    assert all(len(line) <= 80 for line in text.splitlines() if str(tmp_path)[:20] not in line)


def test_check(root: Path) -> None:
    assert "changed" in run("check", "wikiqa", code=1)
    assert "known hole" in run("check", "asnq")
    found = json.loads(run("check", "wikiqa", "--json", code=1))
    assert {"dataset": "wikiqa", "what": "wikiqa/train", "state": "wrong"}.items() <= found[4].items()


def test_errors_are_left_to_main(root: Path) -> None:
    result = CliRunner().invoke(app, ["show", "wikiqq"])
    assert isinstance(result.exception, UnknownName)
