"""`demur ask --explain`: what is known of the two likeliest passages, and what adds up to their chances."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from cli.calling import run
from demur.cli.asking.reasons import reasons
from demur.types import Candidate

FAQ = "question,answer\nWhere do you ship?,To Austria.\nWhen are you open?,From Tuesday to Saturday.\n"

READ = {"--example": "12 of the 50", "faq.csv": "none of the 2", "ship.txt": "none of the 3"}


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("What does a lost card cost?", ["--example"]),
        ("When do you close?", ["--from", "faq.csv"]),
        ("Where do you ship?", ["--from", "faq.csv", "--from", "ship.txt"]),
    ],
)
def test_the_parts_are_shown_largest_first_and_add_up_to_the_chance(
    question: str,
    sources: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faq.csv").write_text(FAQ, "utf-8")
    Path("ship.txt").write_text("We ship.", "utf-8")
    run(monkeypatch, "ask", question, *sources, "--explain", "--json")
    told = json.loads(capsys.readouterr().out)["ranking"][:2]
    run(monkeypatch, "ask", question, *sources, "--explain")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    start = lines.index("What adds up to the log of the odds of each, the largest first:") + 1
    rows = [line.rsplit(maxsplit=2) for line in lines[start : lines.index("", start)]]
    assert rows[0] == ["passage", "1", "2"]
    parts = {row[0].strip(): row[1:] for row in rows[1:] if row[1][0] in "+-–" and row[0].strip() != "sum"}
    largest = [max(abs(float(each)) for each in row if each != "–") for row in parts.values()]
    assert largest == sorted(largest, reverse=True) and len(largest) > 3
    sums = next(row[1:] for row in rows if row[0].strip() == "sum")
    for at, each in enumerate(told):
        assert {name: row[at] for name, row in parts.items() if row[at] != "–"} == {
            name: f"{value:+.2f}" for name, value in each["adds"].items()
        }
        assert float(sums[at]) == pytest.approx(sum(each["adds"].values()), abs=0.006)
    shown = "\n".join(lines)
    assert "is not what its sum says" not in shown
    assert [1 / (1 + math.exp(-float(each))) for each in sums] == pytest.approx(
        [each["score"] for each in told], abs=0.01
    )
    for number in (1, 2):
        assert f"What is known of passage {number}: " in shown
    assert f"The network has read {READ[sources[-1]]} passages that were ranked." in shown


def test_a_chance_that_is_not_its_sum_is_said_to_be_another() -> None:
    extra = {"matched": [], "question": "", "signals": {"text": 0.5}, "adds": {"lead": 3.0}, "chance": 0.5}
    asked = {**extra, "question": "Where?", "chance": 0.97}
    told = "\n".join(reasons([Candidate("a", "A", None, asked), Candidate("b", "B", None, extra)], []))
    assert "The chance of passage 1 is not what its sum says: its question is the one that was asked" in told
    assert "The chance of passage 2 is not what its sum says: the network has not read it" in told


def test_rows_with_the_same_question_are_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("faq.csv").write_text(FAQ + "Where do you ship?,To Brazil.\n", "utf-8")
    twice = "When do you ship?,On Mondays.\nwhen do you ship,On Fridays.\n"
    Path("cases.csv").write_text(f"question,answer\n{twice}", "utf-8")
    Path("same.csv").write_text("question,answer\nWhen do you ship?,On Mondays.\n", "utf-8")
    Path("again.csv").write_text("question,answer\nWhen do you ship?,on mondays\n", "utf-8")
    Path("long.csv").write_text(f"question,answer\nDo you ship?,{'Yes we do. ' * 200}\n", "utf-8")
    for question, source, told in (
        ("where do you ship", "faq.csv", True),
        ("When are you open?", "faq.csv", False),
        ("When do you ship?", "cases.csv", True),
        ("Do you ship?", "long.csv", False),  # parts of one answer are no other answers
    ):
        run(monkeypatch, "ask", question, "--from", source)
        shown = capsys.readouterr().out
        assert ("Passage 2 answers the same question as passage 1" in shown) == told
        assert source != "faq.csv" or not told or ("Austria" in shown and "Brazil" in shown)
    for files, count in ((("cases.csv",), 1), (("same.csv", "again.csv"), 0)):
        for top in "15":
            words = "When do you ship?", "--json", "--top", top, *(w for f in files for w in ("--from", f))
            run(monkeypatch, "ask", *words)
            assert json.loads(capsys.readouterr().out)["answer"]["also_answered_by"] == count
    run(monkeypatch, "ask", "where do you ship", "--from", "faq.csv", "--top", "1")
    assert "1 passage not shown answers the same question as passage 1" in capsys.readouterr().out
