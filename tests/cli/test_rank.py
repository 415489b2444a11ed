from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.calling import invoke
from demur.cli.ranking.rank import rank
from demur.data import formats
from demur.errors import DataError, UsageError
from demur.risk.sets import answer_sets
from demur.types import Pool

CANDIDATES = "saw\nsaw drill\nsaw drill lathe\nplane\n"


def call(*arguments: object, input: str = CANDIDATES) -> Any:
    return invoke(rank, "saw drill lathe", "--candidates", "-", *arguments, input=input)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Forty pools in which one of the two best candidates is right."""
    texts = CANDIDATES.split("\n")[:4]
    pools = [
        Pool.of("saw drill lathe", texts, [0, place == 0, place == 1, 0], id=str(number))
        for number in range(40)
        for place in [number % 2]
    ]
    formats.write_pools(tmp_path / "labelled.jsonl", pools)
    return tmp_path / "labelled.jsonl"


def test_a_set_is_printed_with_its_promise_in_one_sentence(labelled: Path) -> None:
    done = call("--ranker", "overlap", "--set", "0.9", "--calibration", labelled)
    lines = done.stdout.splitlines()
    assert [line.split(maxsplit=2)[2] for line in lines[:2]] == ["saw drill lathe", "saw drill"]
    assert lines[2] == ""
    assert lines[3].startswith("2 of 4 candidates. On average, sets made this way hold a correct answer for")
    assert len(lines) == 4
    small = call("--ranker", "overlap", "--set", "0.3", "--calibration", labelled).stdout
    assert small.splitlines()[2].startswith("1 of 4 candidates.")


def test_a_saved_rule_brings_its_ranker(labelled: Path, tmp_path: Path) -> None:
    answer_sets("overlap", formats.read_pools(labelled), 0.9).save(tmp_path / "sets.json")
    with pytest.raises(UsageError, match=r"--set prints a whole set, .* and --top would cut it; leave one"):
        call("--set", tmp_path / "sets.json", "--top", 1)
    told = json.loads(call("--set", tmp_path / "sets.json", "--top", 1, "--json").stdout)
    assert len(told["ranking"]) == 1 and len(told["set"]["ids"]) == 2
    told = json.loads(call("--set", tmp_path / "sets.json", "--json").stdout)
    assert told["ranker"].startswith("overlap")
    assert len(told["ranking"]) == 4
    assert told["set"]["ids"] == ["2", "1"]
    assert (told["set"]["level"], told["set"]["calibrated_on"]) == (0.9, 40)
    with pytest.raises(UsageError, match="not with bm25"):
        call("--set", tmp_path / "sets.json", "--ranker", "bm25")


def test_too_few_labels_are_said_and_give_all_candidates(labelled: Path) -> None:
    done = call("--set", "0.99", "--calibration", labelled)
    assert "4 of 4 candidates. 40 labelled questions are too few for 99 %" in done.stdout
    told = json.loads(call("--set", "0.99", "--calibration", labelled, "--json").stdout)
    assert told["set"]["threshold"] is None


def test_a_ranker_with_statistics_keeps_those_of_the_calibration(labelled: Path) -> None:
    done = call("--ranker", "bm25(stats=dataset)", "--set", "0.9", "--calibration", labelled)
    assert "2 of 4 candidates." in done.stdout


def test_explain_says_how_far_the_promise_goes(labelled: Path) -> None:
    notes = call("--set", "0.9", "--calibration", labelled, "--explain").stdout.splitlines()[-4:]
    assert notes.pop(0) == "How far the promise goes:"
    assert all(note.startswith("– ") and note.endswith(".") for note in notes)
    assert "average" in notes[0]


def test_texts_are_printed_on_one_line_each_and_tabs_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "saw\\tdrill\\r\\nlathe\\u2028end"}\n"[b]saw[/b] \\ud800"\n', "utf-8")
    words = ["rank", "saw \udce9", "--candidates", str(path), "--ranker", "length"]
    done = subprocess.run([sys.executable, "-m", "demur", *words], capture_output=True, check=True)
    texts = [line.split(b"  ", 3)[-1].lstrip(b"0123456789. ") for line in done.stdout.splitlines()]
    assert texts == [b"saw\tdrill lathe end", b"[b]saw[/b] ?"]
    done = subprocess.run([sys.executable, "-m", "demur", *words, "--json"], capture_output=True, check=True)
    told = json.loads(done.stdout)
    assert told["question"] == "saw ?"
    assert told["ranking"][0]["text"] == "saw\tdrill\r\nlathe\u2028end"


def test_no_candidates_print_nothing() -> None:
    assert call(input="").stdout == ""


def test_misuse_is_one_clear_line(labelled: Path) -> None:
    with pytest.raises(UsageError, match=r"write --set 0\.9 --calibration DATA"):
        call("--set", "0.9")
    with pytest.raises(UsageError, match=r"write --set 0\.9 --calibration DATA"):
        call("--calibration", labelled)
    with pytest.raises(UsageError, match="calibrated already"):
        call("--set", "sets.json", "--calibration", labelled)
    with pytest.raises(UsageError, match="between 0 and 1"):
        call("--set", "90", "--calibration", labelled)
    with pytest.raises(DataError, match="no such file"):
        call("--set", "sets.json")
