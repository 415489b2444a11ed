"""`demur kb` adds, tells, updates and removes, for people and for machines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from cli.calling import printed, run
from demur.asking.meaning.finding import maker
from demur.errors import UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.sources.reports import FileReport
from kb.base_toys import Hashing, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "docs", {"a.md": "# Loans\n\nA drill may be kept for one week.\n"})
    write(tmp_path, {"faq.csv": "question,text\nWhen are you open?,On Mondays.\n"})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("demur.asking.meaning.finding.maker", Hashing)


def test_a_base_is_made_updated_and_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs/", "faq.csv", "--json") == 0
    made = printed(capsys)
    assert [made[key] for key in ("generation", "sources", "passages", "embedded")] == [2, 2, 2, 2]
    assert [made[key] for key in ("added", "changed", "unchanged", "removed", "skipped")] == [2, 0, 0, 0, 0]
    assert made["files"][0] == {"source": "docs/a.md", "status": "added", "passages": 1, "reason": None}
    assert (
        run(monkeypatch, "ask", "how long may I keep a drill?", "--kb", "h.kb", "--ranker", "bm25", "--json")
        == 0
    )
    answer = printed(capsys)["answer"]
    assert (answer["source"], answer["line"], answer["heading"]) == ("docs/a.md", 3, "Loans")
    write(tmp_path / "docs", {"b.txt": "It rained."})
    assert run(monkeypatch, "kb", "update", "h.kb", "--words-only") == 0
    assert "added docs/b.txt (1 passage)" in capsys.readouterr().out
    assert run(monkeypatch, "kb", "status", "h.kb", "--json") == 0
    status = printed(capsys)
    assert (status["passages"], status["embedded"], len(status["listed"])) == (3, 2, 3)
    assert run(monkeypatch, "kb", "rebuild", "h.kb", "--json") == 0
    assert printed(capsys)["embedded"] == 3
    assert run(monkeypatch, "kb", "remove", "h.kb", "docs", "--json") == 0
    assert printed(capsys)["removed"] == 2
    assert run(monkeypatch, "kb", "status", "h.kb") == 0
    assert "1 source, 1 passage," in capsys.readouterr().out


def test_what_cannot_be_read_is_told_and_the_rest_goes_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "docs" / "bad.txt").write_bytes(b"\xff")
    assert run(monkeypatch, "kb", "add", "h.kb", "docs") == 0  # nobody named it
    assert "bad.txt" in capsys.readouterr().err
    assert run(monkeypatch, "kb", "add", "h.kb", "away.txt", "faq.csv", "--json") == 2
    shown = capsys.readouterr()
    files = json.loads(shown.out)["files"]
    assert [each["status"] for each in files] == ["skipped", "added"] and "no such file" in files[0]["reason"]
    assert shown.err == "skipped away.txt: no such file; check the spelling of the path\n"


def test_nothing_is_done_where_all_that_is_named_is_mistyped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "faq.csv", "--words-only") == 0
    capsys.readouterr()
    assert run(monkeypatch, "kb", "add", "h.kb", "away.txt", "--json") == 2
    assert printed(capsys)["embedded"] == 0, "hours, where many lack vectors"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "away.kb"], "there is no knowledge base"),
        (["update", "faq.csv"], "is a file"),
        (["remove", "away.kb", "docs"], "there is no knowledge base"),
        (["add", "docs", "faq.csv"], "a folder of other things"),
        (["add", "h.kb", ""], "the name of a file is empty"),
        (["remove", "docs", ""], "the name of a file is empty"),
        (["add", "h.kb", "faq.csv", "--stem", "klingon"], "unknown language to stem"),
        (["update", "h.kb", "--every", "3"], "add --watch"),
    ],
)
def test_misuse_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(monkeypatch, "kb", *words) == 2
    shown = capsys.readouterr()
    assert said in shown.err and len(shown.err.splitlines()) == 1 and not shown.out


def test_nothing_is_made_of_what_was_mistyped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "away.txt") == 2
    said, made = capsys.readouterr().err.splitlines()
    assert said == "skipped away.txt: no such file; check the spelling of the path"
    assert made == "h.kb is not made, as no file could be read"
    assert run(monkeypatch, "kb", "add", "h.kb", "away.txt", "--json") == 2
    made = printed(capsys)
    assert (made["generation"], made["passages"], made["skipped"]) == (0, 0, 1)
    assert not (tmp_path / "h.kb").exists()


def test_a_base_without_any_text_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "new.csv").write_text("question,answer\n", "utf-8")
    assert run(monkeypatch, "kb", "add", "h.kb", "new.csv") == 2
    said = "there is no text in it, so nothing can be asked yet; add files that have some"
    assert said in capsys.readouterr().err
    assert run(monkeypatch, "kb", "add", "h.kb", "new.csv", "faq.csv") == 0
    assert "2 sources" in capsys.readouterr().out


def test_a_file_is_one_source_however_its_path_is_spelt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs/../docs/a.md", "--words-only") == 0
    assert "added docs/a.md (1 passage)" in capsys.readouterr().out
    assert run(monkeypatch, "kb", "add", "h.kb", "docs/a.md", "docs/../docs", "./docs", "--json") == 0
    made = printed(capsys)
    assert made["sources"] == 1 and {each["source"] for each in made["files"]} == {"docs/a.md"}
    (tmp_path / "far" / "deep").mkdir(parents=True)
    write(tmp_path / "far", {"a.md": "# Other\n\nIt snowed.\n"})
    (tmp_path / "link").symlink_to(tmp_path / "far" / "deep")
    assert run(monkeypatch, "kb", "add", "h.kb", "link/../a.md", "--json") == 0  # beside deep, not here
    assert printed(capsys)["sources"] == 2
    assert run(monkeypatch, "kb", "remove", "h.kb", "docs/../docs/a.md", "--json") == 0
    assert printed(capsys)["removed"] == 1


def test_a_base_and_files_are_not_asked_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "ask", "who are you?", "--kb", "h.kb", "--from", "docs") == 2
    assert "not several" in capsys.readouterr().err


def checked_thrice(monkeypatch: pytest.MonkeyPatch, between: Callable[[], None]) -> list[float]:
    """The seconds slept between checks, of which the third is the last."""
    turns: list[float] = []

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        if len(turns) == 3:
            raise SystemExit(0)
        between()

    monkeypatch.setattr("time.sleep", sleep)
    return turns


def test_watching_takes_in_what_comes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs") == 0
    texts = {"new.txt": "A new text.", "bad.pdf": "no PDF"}
    turns = checked_thrice(monkeypatch, lambda: write(tmp_path / "docs", texts))
    assert run(monkeypatch, "kb", "update", "h.kb", "--watch", "--every", "3") == 0
    told = capsys.readouterr()
    assert "added docs/new.txt" in told.out and turns == [3.0, 3.0, 3.0]
    assert "watching h.kb: its files are checked every 3 s; Ctrl-C stops" in told.err
    assert told.err.count("bad.pdf") == 1  # what cannot be read is told once, not at every check


def test_watching_without_vectors_tells_only_what_changes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs", "--words-only") == 0
    turns = checked_thrice(monkeypatch, lambda: None)
    capsys.readouterr()
    assert run(monkeypatch, "kb", "update", "h.kb", "--watch", "--words-only", "--json") == 0
    assert capsys.readouterr().out == "" and len(turns) == 3


def test_an_empty_folder_is_named_whatever_it_is_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").mkdir()
    assert run(monkeypatch, "kb", "add", "h.kb", "docs", "file", "--words-only") == 2
    assert "skipped file: no file in it that demur reads" in capsys.readouterr().err


def test_watching_goes_on_after_trouble_that_may_pass(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs") == 0
    updating, turns = KnowledgeBase.updating, list[float]()

    def troubled(kb: KnowledgeBase, *given: Any) -> Iterator[FileReport]:
        if len(turns) < 2:
            raise UsageError("h.kb: another process writes to it")
        return updating(kb, *given)

    def sleep(seconds: float) -> None:
        turns.append(seconds)
        write(tmp_path / "docs", {"new.txt": "A new text."})
        if len(turns) == 3:
            shutil.rmtree(tmp_path / "h.kb")

    monkeypatch.setattr(KnowledgeBase, "updating", troubled)
    monkeypatch.setattr("time.sleep", sleep)
    assert run(monkeypatch, "kb", "update", "h.kb", "--watch") == 2
    told = capsys.readouterr()
    assert "added docs/new.txt" in told.out and len(turns) == 3
    assert told.err.count("another process writes to it; trying again") == 1
    assert "is gone" in told.err, "a base that is lost does not come back"


def test_vectors_that_are_broken_off_are_told_and_made_later(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("demur.asking.meaning.finding.maker", lambda: Hashing(breaks_after=0))
    assert run(monkeypatch, "kb", "add", "h.kb", "docs") == 130
    assert "0 of 1 passages have vectors; demur kb update makes the others" in capsys.readouterr().err
    monkeypatch.setattr("demur.asking.meaning.finding.maker", Hashing)
    assert run(monkeypatch, "kb", "update", "h.kb", "--json") == 0
    assert printed(capsys)["embedded"] == 1


def test_what_is_added_is_found_by_meaning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("demur.asking.meaning.finding.maker", maker)
    assert run(monkeypatch, "kb", "add", "h.kb", "docs", "faq.csv", "--words-only") == 0
    asking = "ask", "Can I borrow the powertool for a few days?", "--kb", "h.kb", "--ranker", "meaning"
    capsys.readouterr()
    KnowledgeBase("h.kb").embed(Hashing())  # of another make: as good as none
    assert run(monkeypatch, "kb", "status", "h.kb", "--json") == 0
    assert printed(capsys)["embedded"] == 0
    assert run(monkeypatch, *asking, "--json") == 0
    out = capsys.readouterr()
    assert "2 of 2 passages are found by words alone" in out.err
    assert run(monkeypatch, "kb", "update", "h.kb", "--json") == 0
    assert printed(capsys)["embedded"] == 2
    assert run(monkeypatch, *asking, "--json") == 0
    out = capsys.readouterr()
    assert json.loads(out.out)["ranking"][0]["source"] == "docs/a.md" and not out.err
    explained = "ask", "Opening days?", "--kb", "h.kb", "--ranker", "meaning", "--explain"
    assert run(monkeypatch, *explained) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "so the network does not read it: When are you open?" in shown
    assert "has not read it" not in shown and "0 of" not in shown
    assert "that the first passage lacks: days." in shown


def test_files_go_in_while_another_process_makes_vectors(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "kb", "add", "h.kb", "docs") == 0
    monkeypatch.setattr(KnowledgeBase.__init__, "__defaults__", (None, 0.0))  # does not wait
    with FileLock("h.kb/.embed.lock"):
        assert run(monkeypatch, "kb", "add", "h.kb", "faq.csv", "--json") == 0
    shown = capsys.readouterr()
    made = json.loads(shown.out[shown.out.index("{") :])
    assert (made["added"], made["passages"], made["embedded"]) == (1, 2, 1)
    assert "found by words alone for now" in shown.err


def test_a_folder_that_is_gone_while_one_is_in_it_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    KnowledgeBase(tmp_path / "x.kb").add(tmp_path / "docs")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    assert run(monkeypatch, "kb", "add", str(tmp_path / "x.kb"), "a.md") == 2
    assert capsys.readouterr().err == "demur: the folder you are in is gone; change to another\n"
