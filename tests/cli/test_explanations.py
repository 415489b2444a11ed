from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cli.calling import invoke
from demur.cli.ranking import explanations
from demur.cli.ranking.rank import rank
from demur.data import formats
from demur.rankers.explanations import Explanation, WordPair
from demur.types import Candidate, Pool, Span
from laws import toys

CANDIDATES = "A saw, a drill.\nNothing here.\nsaw saw SAW\n"


def call(*arguments: object, question: str = "saw or drill?", input: str = CANDIDATES) -> Any:
    return invoke(rank, question, "--candidates", "-", "--explain", *arguments, input=input)


def test_each_candidate_is_followed_by_its_words_and_what_they_add() -> None:
    done = call("--ranker", "overlap(weighted=false)")
    assert done.stdout.splitlines() == [
        "  1    2.0000  A saw, a drill.",
        "               saw → saw 1.000, drill → drill 1.000",
        "  2    1.0000  saw saw SAW",
        "               saw → saw 1.000 (3×)",
        "  3    0.0000  Nothing here.",
        "               no words are paired",
    ]
    assert done.stderr == ""
    assert len(call("--ranker", "overlap", "--top", 1).stdout.splitlines()) == 2


def test_json_has_all_pairs_as_objects() -> None:
    told = json.loads(call("--ranker", "bm25", "--json", "--top", 2).stdout)
    assert len(told["ranking"]) == 2
    for row in told["ranking"]:
        assert sum(pair["contribution"] for pair in row["pairs"]) == pytest.approx(row["score"])
    first = told["ranking"][0]["pairs"][0]
    assert first["question"] == {"start": 0, "end": 3, "text": "saw"}
    assert set(first) == {"question", "answer", "similarity", "weight", "contribution"}
    assert "pairs" not in json.loads(call("--ranker", "random", "--json").stdout)["ranking"][0]


def test_aligned_words_are_told_too() -> None:
    done = call("--ranker", f'alignment(vectors="{toys.vectors()}")', question="ship", input="cape\nship\n")
    assert done.stdout.splitlines()[:2] == ["  1    1.0000  ship", "               ship → ship 1.000"]


def test_a_ranker_that_cannot_say_says_so_in_one_line() -> None:
    done = call("--ranker", "length")
    assert len(done.stdout.splitlines()) == 3
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("length cannot say which words its scores come from")
    assert call("--ranker", "length", input="").stderr == ""


def test_how_far_the_promise_goes_is_said_below(tmp_path: Path) -> None:
    pools = [Pool.of("saw drill", ["saw drill", "plane"], [1, 0], id=str(n)) for n in range(40)]
    formats.write_pools(tmp_path / "labelled.jsonl", pools)
    told = ["--ranker", "overlap", "--set", "0.9", "--calibration", tmp_path / "labelled.jsonl"]
    lines = call(*told).stdout.splitlines()
    assert "saw → saw" in lines[1]
    assert lines[-1].startswith("– ")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Puts a terminal of 60 columns in place of stdout; what it shows, with marks for styles."""
    file = io.StringIO()
    console = Console(file=file, force_terminal=True, width=60, highlight=False, color_system=None)
    monkeypatch.setattr(explanations, "stdout", lambda: console)
    return file.getvalue


def test_a_terminal_shows_words_marked_and_wrapped(terminal: Callable[[], str]) -> None:
    call("--ranker", "overlap(weighted=false)", input=f"a saw, {'and ' * 30}a drill\r\n")
    lines = terminal().splitlines()
    assert len(lines) > 3
    assert all(line.startswith(" " * 15) for line in lines[1:])
    assert "saw → saw 1.000" in lines[-1]
    assert max(map(len, lines)) < 100  # escapes of styles among them


def explanation(*adds: tuple[int, int, float]) -> Explanation:
    pairs = [WordPair(Span(0, 1, "q"), Span(start, end, "w"), 1.0, add) for start, end, add in adds]
    return Explanation(sum(add for *_, add in adds), tuple(pairs))


def test_the_more_a_word_adds_the_stronger_it_is_marked() -> None:
    text = "one two three four five"
    adds = explanations.answer_words(
        explanation((0, 3, 1.0), (4, 7, 0.25), (4, 7, 0.25), (8, 13, 0.2), (14, 18, 0.01), (19, 23, -1.0))
    )
    assert adds[4, 7] == 0.5
    styles = {text[span.start : span.end]: span.style for span in explanations.marked(text, adds, 1.0).spans}
    assert styles == {"one": "bold reverse", "two": "bold underline", "three": "underline"}
    assert explanations.marked(text, {(0, 3): -1.0}, 0.0).spans == []


def test_no_text_commands_the_terminal_and_marks_stay_in_place(terminal: Callable[[], str]) -> None:
    text = "\x1b]0;x\x07\r\nsaw"
    shown = explanations.marked(text, {(8, 11): 1.0}, 1.0)
    assert shown.plain == "\ufffd]0;x\ufffd  saw"
    assert [shown.plain[span.start : span.end] for span in shown.spans] == ["saw"]
    evil = WordPair(Span(0, 1, "\x1b[2J"), Span(0, 1, "\x07"), 1.0, 1.0)
    explanations.show([(Candidate("0", text), 1.0)], {text: Explanation(1.0, (evil,))})
    assert "\x1b[2J" not in terminal() and "\x07" not in terminal()


def test_of_many_pairs_people_see_the_strongest() -> None:
    many = explanation(*((n, n + 1, 1.0) for n in range(3)))
    assert explanations.pair_line(many) == "q → w 3.000 (3×)"
    words = [WordPair(Span(n, n + 1, f"q{n}"), Span(0, 1, "w"), 1.0, float(n)) for n in range(20)]
    line = explanations.pair_line(Explanation(1.0, tuple(words)))
    assert line.startswith("q19 → w 19.000, ")
    assert line.endswith("q8 → w 8.000, and 8 more")
