"""`demur evaluate --cases`: what two rankers differ on, for people and for programs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from cli.calling import process
from demur.cli.evaluation.cases import show
from demur.cli.main import app
from demur.data import formats
from demur.errors import DemurError
from demur.evaluation import cases, evaluate
from demur.types import Pool

POOLS = [
    Pool.of("Who sold the [old] mill?", ["The mill is old.", "Ada sold it.", "No."], [0, 1, 0], "a"),
    Pool.of("Which oil does the saw need?", ["Does the saw need a blade?", "Chain oil."], [0, 1], "b"),
    Pool.of("Who lit the kiln?", ["Eve lit the kiln.", "It is next to the workshop."], [1, 0], "d"),
    Pool.of("Who left?", ["Bob left early in the evening.", "Ada."], [1, 0], "c"),
]


def call(*words: object) -> Result:
    return CliRunner().invoke(app, ["evaluate", *(str(word) for word in words)])


def refused(*words: object) -> str:
    done = call(*words)
    assert isinstance(done.exception, DemurError), (done.output, done.exception)
    return str(done.exception)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    formats.write_pools(tmp_path / "pools.jsonl", POOLS)
    return tmp_path / "pools.jsonl"


def test_rankers_and_reports_tell_the_same(data: Path, tmp_path: Path) -> None:
    for name in ("bm25", "length"):
        assert call(data, "--ranker", name, "-o", tmp_path / f"{name}.json").exit_code == 0
    written = ["--cases", tmp_path / "bm25.json", tmp_path / "length.json", "--json"]
    named = ["--cases", "bm25", "length", "--json", "-o", tmp_path / "cases.json"]
    first, second = (json.loads(call(data, *words).stdout) for words in (written, named))
    assert first == second == json.loads((tmp_path / "cases.json").read_text("utf-8"))
    assert first["rankers"] == ["bm25", "length"]
    mixed = json.loads(call(data, "--cases", tmp_path / "bm25.json", "length", "--json").stdout)
    assert mixed == first


def test_plain_text_has_asterisks_and_no_escapes(data: Path) -> None:
    done = process("evaluate", data, "--cases", "bm25", "length")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and done.stderr == ""
    assert "*" in done.stdout
    assert "wrong answers by group; one can be in several" in done.stdout
    assert "labels in doubt: 0 of 9\n" in done.stdout


def terminal(top: int = 5, **how: Any) -> str:
    scores = [[[1, 0, 0], [1, 0], [1, 0], [1, 0]], [[0, 1, 0], [0, 1], [1, 0], [1, 0]]]
    found = {name: evaluate(each, POOLS, "P@1") for name, each in zip(("[b]", "other"), scores, strict=True)}
    settings: dict[str, Any] = {
        "force_terminal": True,
        "width": 100,
        "highlight": False,
        "color_system": "standard",
        **how,
    }
    console = Console(file=(out := io.StringIO()), **settings)
    show(cases(found, POOLS, data="toy"), top, console)
    return out.getvalue()


def test_a_terminal_marks_shared_words_and_shows_what_brackets_hold() -> None:
    shown = terminal()
    assert "The \x1b[1mmill\x1b[0m is \x1b[1mold\x1b[0m." in shown
    assert "\x1b[31mwrong\x1b[0m" in shown and "\x1b[32mright\x1b[0m" in shown
    assert "[b] and other on toy: 4 questions" in shown and "Who sold the [old] mill?" in shown
    assert "only other is right, [b] is wrong: 2 questions, surest first" in shown
    assert "[b] wrong" in shown


@pytest.mark.parametrize("how", [{"no_color": True}, {"color_system": None}])
def test_without_colour_there_are_asterisks(how: dict[str, Any]) -> None:
    shown = terminal(**how)
    assert "The *mill* is *old*." in shown
    assert "\x1b[31m" not in shown and "\x1b[32m" not in shown


def test_top_says_how_many_are_shown() -> None:
    shown = terminal(top=1)
    assert "2 questions, the surest 1" in shown
    assert "Who sold" in shown and "Which oil" not in shown


def test_long_answers_are_cut_in_the_middle_of_nothing_that_is_marked() -> None:
    long = " ".join(["mill"] * 200)
    pools = [Pool.of("a mill?", [long, "b\x1b[2J\nc"], [0, 1], "a")]
    found = {str(n): evaluate([[n, 1 - n]], pools, "P@1") for n in (0, 1)}
    console = Console(file=(out := io.StringIO()), width=9_999, soft_wrap=True)
    show(cases(found, pools), 5, console)
    assert out.getvalue().count("*mill*") == 80 and "…" in out.getvalue()
    assert "b\ufffd[2J c" in out.getvalue()


def test_what_is_misused_is_said(data: Path, tmp_path: Path) -> None:
    assert "name DATA: demur evaluate DATA --cases bm25 length" in refused("--cases", "bm25", "length")
    assert "bm25 is named twice" in refused(data, "--cases", "bm25", "bm25")
    assert "--cases takes only DATA; leave out --ranker" in refused(
        data, "--cases", "bm25", "length", "--ranker", "length"
    )
    assert "--suite" in refused(data, "--cases", "bm25", "length", "--suite", "robust")
    assert "unknown ranker 'nobody'" in refused(data, "--cases", "bm25", "nobody")
    assert "none.json" in refused(data, "--cases", tmp_path / "none.json", "length")
    old = tmp_path / "old.json"
    assert call(data, "--ranker", "bm25", "-o", old).exit_code == 0
    held = json.loads(old.read_text("utf-8"))
    del held["scores"]
    old.write_text(json.dumps(held), "utf-8")
    assert "the report old does not hold scores" in refused(data, "--cases", old, "length")
    formats.write_pools(data, [Pool.of("q", ["x", "y"], [1, 0], "tied"), Pool.of("q", ["x"], [1], "all")])
    assert "(no wrong answer: 1, a tie between right and wrong: 1); name labelled" in refused(
        data, "--cases", "bm25", "length"
    )
    assert "--top is for --cases" in refused(data, "--ranker", "bm25", "--top", "3")
