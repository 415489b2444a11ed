from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.calling import run
from demur.cli.training import vectors
from demur.cli.training.vectors import app
from demur.embedders.word_vectors import table_formats, word2vec
from demur.errors import DataError, DemurError, UsageError

GUIDE = """# The workshop

The table saw stands by the window.

## Lasers

The laser cutter stands by the door. The laser is hot.
"""
SMALL = ("--width", 4, "--min-count", 1, "--epochs", 1)


def call(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs/guide.md"
    path.write_text(GUIDE, encoding="utf-8")
    return path


def test_train_on_a_file_of_ones_own(guide: Path, tmp_path: Path) -> None:
    done = call("train", guide, "-o", tmp_path / "v.safetensors", *SMALL)
    assert done.exit_code == 0 and not done.stdout
    assert "learnt 10 words, 4 wide, from" in done.stderr
    found = table_formats.read_table(tmp_path / "v.safetensors")
    assert {"workshop", "lasers", "laser", "window", "hot"} <= set(found.words)
    assert found.words[0] in ("laser", "stands", "workshop") and found.made["texts of"] == [str(guide)]


@pytest.mark.parametrize("kind", ["folder", "pools", "csv", "jsonl", "dataset"])
def test_train_on_all_kinds_of_texts(kind: str, guide: Path, tmp_path: Path) -> None:
    source: object = guide.parent
    if kind == "pools":
        source = tmp_path / "pools.tsv"
        source.write_text(
            "question\tanswer\tlabel\nwhere is the laser\tby the door, hot\t1\n", encoding="utf-8"
        )
    elif kind == "csv":
        source = tmp_path / "texts.csv"
        source.write_text("title,text\na,the hot laser\n", encoding="utf-8")
    elif kind == "jsonl":
        source = tmp_path / "texts.jsonl"
        source.write_text('{"text": "the hot laser"}\n', encoding="utf-8")
    elif kind == "dataset":
        source = "example/questions"
    done = call("train", source, "-o", tmp_path / "v.safetensors", *SMALL, "--model", "ppmi", "--json")
    facts = json.loads(done.stdout)
    assert facts["output"] == str(tmp_path / "v.safetensors") and facts["width"] == 4
    words = set(table_formats.read_table(tmp_path / "v.safetensors").words)
    assert ({"laser", "hot"} <= words) if kind != "dataset" else len(words) > 100


def test_what_cannot_be_trained_on_is_told(guide: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.safetensors"
    with pytest.raises(DemurError, match="no such file"):
        call("train", tmp_path / "none.md", "-o", out)
    with pytest.raises(DemurError, match="unknown dataset or file 'wikiqq'"):
        call("train", "wikiqq", "-o", out)
    with pytest.raises(DataError, match="no word occurs 10 times"):
        call("train", guide, "-o", out)
    with pytest.raises(UsageError, match="does not say how to write vectors"):
        call("train", guide, "-o", tmp_path / "v.csv")
    with pytest.raises(UsageError, match="model=glove"):
        call("train", guide, "-o", out, "--model", "glove")
    for words in (["train", tmp_path / "none.md"], ["convert", tmp_path / "none.txt"]):
        with pytest.raises(DemurError, match="folder"):  # before any text is read
            call(*words, "-o", tmp_path / "away" / "v.safetensors")
    assert not out.exists()


def test_show(guide: Path, tmp_path: Path) -> None:
    out = tmp_path / "v.safetensors"
    call("train", guide, "-o", out, *SMALL)
    shown = call("show", out, "--like", "laser").stdout
    assert "words        10" in shown and "'model': 'skipgram'" in shown
    facts = json.loads(call("show", out, "--like", "laser", "--json").stdout)
    assert facts["words"] == 10 and facts["made"]["epochs"] == 1
    assert len(facts["nearest"]) == 9 and "laser" not in facts["nearest"]
    with pytest.raises(UsageError, match="'drill' is not among the 10 words"):
        call("show", out, "--like", "drill")


def test_convert(guide: Path, tmp_path: Path) -> None:
    first = tmp_path / "v.safetensors"
    call("train", guide, "-o", first, *SMALL)
    assert "10 words, 4 wide" in call("convert", first, "-o", tmp_path / "v.bin").stderr
    assert table_formats.read_table(tmp_path / "v.bin").words == table_formats.read_table(first).words
    call("convert", first, "-o", tmp_path / "few.txt", "--limit", 2)
    assert len(table_formats.read_table(tmp_path / "few.txt")) == 2
    (tmp_path / "some.txt").write_text("Is the Laser hot?", encoding="utf-8")
    call("convert", first, "-o", tmp_path / "some.npz", "--words-of", tmp_path / "some.txt")
    assert set(table_formats.read_table(tmp_path / "some.npz").words) == {"laser", "hot"}
    (tmp_path / "none.txt").write_text("", encoding="utf-8")
    with pytest.raises(UsageError, match=r"no word of .*none\.txt has a vector"):
        call("convert", first, "-o", tmp_path / "none.vec", "--words-of", tmp_path / "none.txt")
    assert not (tmp_path / "none.vec").exists()
    with pytest.raises(UsageError, match="half-width"):
        call("convert", first, "-o", tmp_path / "half.txt", "--half")
    facts = json.loads(call("convert", first, "-o", tmp_path / "half.safetensors", "--half", "--json").stdout)
    assert facts["words"] == 10
    assert (tmp_path / "half.safetensors").stat().st_size < first.stat().st_size


def test_vectors_too_wide_to_be_read_again_are_refused_before_the_work(
    guide: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vectors.WIDEST == word2vec.WIDEST
    words = ("train", guide, "-o", tmp_path / "v.txt", "--model", "ppmi", "--width", 65_537)
    assert run(monkeypatch, "vectors", *map(str, words)) == 2
    said = "demur: --width 65537 is not a whole number from 1 to 65536; write one, such as 300\n"
    assert capsys.readouterr().err == said
