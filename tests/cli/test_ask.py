from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import demur
from cli.calling import invoke
from demur.asking import Passage, Verdict
from demur.cli.asking.answers import show
from demur.cli.asking.ask import ask
from demur.errors import DataError, UnknownName, UsageError

GUIDE = """# Loans

Saws are lent for three weeks. Late saws cost a pound.

## Ladders

Ladders go out for days.
"""


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("guide.md")
    path.write_text(GUIDE, encoding="utf-8")
    return path


def call(*arguments: str, input: str = "") -> Any:
    if "--ranker" not in arguments:
        arguments = (*arguments, "--ranker", "bm25")
    return invoke(ask, *arguments, input=input)


def test_plain_lines_without_a_terminal(guide: Path) -> None:
    result = call("How long are saws or ladders lent?", "--from", str(guide))
    assert result.exit_code == 0
    assert result.stdout == (
        "How long are saws or ladders lent?\n"
        "\n"
        "1  “Saws are lent for three weeks.” Late saws cost a pound.\n"
        "   guide.md:3 · Loans · 2 of 4 words: saws, lent\n"
        "\n"
        "2  Ladders go out for days.\n"
        "   guide.md:7 · Loans > Ladders\n"
        "\n"
        "   No gate is set, so nothing is promised about errors.\n"
        "\n"
    )


def test_an_abstention_is_no_failure(guide: Path) -> None:
    result = call("Do you sell violins?", "--from", str(guide))
    assert result.exit_code == 0
    assert "   No answer: none of its words – sell, violins – occurs in the 2 passages.\n" in result.stdout
    assert "promised" not in result.stdout


def test_json(guide: Path) -> None:
    result = call("saws?", "--from", str(guide), "--json")
    told = json.loads(result.stdout)
    assert (told["question"], told["abstained"], told["reason"]) == ("saws?", False, None)
    answer = told["answer"]
    assert {key: answer[key] for key in ("source", "line", "heading", "confidence", "certificate")} == {
        "source": "guide.md",
        "line": 3,
        "heading": "Loans",
        "confidence": None,
        "certificate": None,
    }
    assert answer["text"][answer["span"]["start"] : answer["span"]["end"]] == answer["span"]["text"]
    assert [entry["id"] for entry in told["ranking"]] == ["guide.md:3"]


def test_several_sources_and_folders(guide: Path) -> None:
    folder = Path("more")
    folder.mkdir()
    (folder / "faq.csv").write_text("question,answer\nAre saws sold?,Never.\n", encoding="utf-8")
    result = call("saws", "--from", str(guide), "--from", str(folder), "--json", "--top", "9")
    assert {entry["source"] for entry in json.loads(result.stdout)["ranking"]} == {"guide.md", "more/faq.csv"}


def test_questions_from_stdin_are_answered_line_by_line(guide: Path) -> None:
    result = call("-", "--from", str(guide), "--json", input="\nsaws?\n\n \t\nviolins?\n")
    told = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(one["question"], one["abstained"]) for one in told] == [
        ("saws?", False),
        ("violins?", True),
    ]
    plain = call("-", "--from", str(guide), input="saws?\nviolins?\n").stdout
    assert "“Saws are lent" in plain
    assert "No answer" in plain


def test_top_and_ranker(guide: Path) -> None:
    told = json.loads(
        call("saws ladders", "--from", str(guide), "--ranker", "length", "--top", "1", "--json").stdout
    )
    assert [entry["score"] for entry in told["ranking"]] == [
        len("Loans\nSaws are lent for three weeks. Late saws cost a pound.")
    ]
    with pytest.raises(UnknownName, match="bm26"):
        call("saws", "--from", str(guide), "--ranker", "bm26")


def test_the_example_answers_and_abstains() -> None:
    answer = json.loads(call("Should I wear gloves for turning wood?", "--example", "--json").stdout)[
        "answer"
    ]
    assert answer["span"]["text"].startswith("Gloves are forbidden")
    assert answer["source"] == "workshop.md"
    assert json.loads(call("What is the wifi password?", "--example", "--json").stdout)["abstained"]


def test_unreadable_files_of_a_folder_are_noted_on_stderr(guide: Path) -> None:
    Path("bad.txt").write_bytes(b"b\xe4d")
    done = call("saws?", "--from", ".", "--json")
    assert json.loads(done.stdout)["answer"]["source"] == "guide.md"
    assert done.stderr.splitlines() == [
        "passed over: bad.txt:1: byte 0xe4 is not UTF-8; save the file as UTF-8",
        ".: 1 of 2 files are passed over",
    ]


def test_misuse_is_one_clear_line(guide: Path) -> None:
    with pytest.raises(UsageError, match="--from"):
        call("saws?")
    with pytest.raises(UsageError, match="--from"):
        call("saws?", "--example", "--from", str(guide))
    with pytest.raises(DataError, match="no such file"):
        call("saws?", "--from", "nowhere.md")
    assert call("saws?", "--example", "--top", "0").exit_code == 2


def seen(result: Any, width: int = 80) -> str:
    file = io.StringIO()
    show(
        result, Console(file=file, width=width, force_terminal=True, highlight=False, color_system="standard")
    )
    return file.getvalue()


def without_colours(shown: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def test_a_terminal_shows_wrapped_text_with_marked_words() -> None:
    passage = Passage(
        "a.md:1", " ".join(["Before."] * 40 + ["Those saws are sharp saws."] + ["After."] * 50), "a.md", 1
    )
    shown = seen(demur.ask("saws?", [passage, "Saws " + "and more " * 60 + "at the end."], "bm25"))
    lines = without_colours(shown).splitlines()
    assert max(map(len, lines)) <= 80
    assert "\x1b[1;4msaws\x1b[0m" in shown  # bold, as quoted, and underlined, as matched
    assert "“Those saws are sharp saws.”" in re.sub(r"\s+", " ", without_colours(shown))
    assert sum("…" in line for line in lines) == 3  # before and after the quotation, and the second passage


def test_square_brackets_are_text_and_no_markup() -> None:
    assert "[bold]Saws[/bold] [x]" in seen(demur.ask("saws", ["[bold]Saws[/bold] [x]"], "bm25")).replace(
        "\x1b[1;4m", ""
    ).replace("\x1b[0m", "").replace("\x1b[1m", "")


class Refusing:
    certificate: dict[str, Any] = {}  # noqa: RUF012

    def check_ranker(self, ranker: object) -> None:
        pass

    def judge(self, ranking: object) -> Verdict:
        return Verdict(0.2, "the two best are too close")


def test_an_abstention_shows_what_came_nearest_as_such() -> None:
    lines = without_colours(seen(demur.ask("saws", ["Saws.", "More saws."], gate=Refusing()))).splitlines()
    assert lines[2:6] == [
        "   No answer: the two best are too close.",
        "",
        "   Nearest miss, which is not given as an answer:",
        "",
    ]
    assert [line for line in lines if line[:1].isdigit()] == ["1  Saws.", "2  More saws."]


def test_the_verb_imports_little() -> None:
    source = Path(ask.__code__.co_filename).read_text(encoding="utf-8")
    imports = re.findall(r"^(?:import|from) (\S+)", source, re.M)
    ours = {
        f"demur.cli.{name}" for name in ("console", "options.gates", "options.documents", "risk.promises")
    }
    assert set(imports) <= {"__future__", "typing", "typer"} | ours
