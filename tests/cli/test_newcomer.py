"""What a newcomer mistypes, or has in the wrong form, is said in one line that says what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from demur.cli.main import main

SEMICOLONS = "question;answer\nHow long?;A week\n"
FILES = {
    "answers.txt": "It rained.\n",
    "empty.txt": "",
    "semicolons.csv": SEMICOLONS,
    "no-header.csv": "How long?,A week\n",
    "guide.md": "Saws are lent for a week.\n",
    "a.json": "{}",
    "labelled.jsonl": json.dumps(
        {"question": "How long?", "candidates": [{"text": "Ladders go out for days.", "label": 1}]}
    )
    + "\n",
}

RANK = "rank", "--candidates", "answers.txt"
MISTAKES = [
    ((*RANK, ""), "the question is empty; write one in quotes"),
    (("ask", " ", "--from", "guide.md"), "the question is empty; write one in quotes"),
    (("ask", "who?", "--top", "0"), "--top 0 is not a whole number of 1 or more; write one, such as 5"),
    (("ask", "who?", "--lapse", "nan"), "--lapse nan is not a number from 0 to 1; write one"),
    (("kb", "update", "a.kb", "--every", "x"), "--every x is not a number from 0.1 to 86400; write one"),
    (("calibrate", "bm25", "labelled.jsonl", "--seed", "-1"), "--seed -1 is not a whole number of 0 or more"),
    (("serve", "--port", "70000"), "--port 70000 is not a whole number from 0 to 65535; write one, such as"),
    (("serve", "--max-body", "inf"), "--max-body inf is not a number from 0.001 to 100000; write one"),
    (("ask", "who?", "--risk", "some"), "--risk some is not a number; write one"),
    (("rank", "who?", "--candidates", "empty.txt"), "empty.txt: no candidates; write one to a line"),
    ((*RANK, "who?", "--ranker", "modle/"), "modle/: no such folder; name the folder of a model"),
    (("ask", "who?", "--from", "guide.md", "--ranker", "meanin"), "did you mean 'meaning'? known: acnn, "),
    (("calibrate", "meanin", "labelled.jsonl", "--from", "guide.md"), "match-pyramid, meaning, mini, "),
    (("ask", "who?", "--from", "guide.md", "--ranker", "fusion(rankers=[none])"), "known: acnn, "),
    (("ask", "who?", "--from", "guide.md", "--risk", "10"), "a risk of 10 is not a share of wrong answers"),
    (("ask", "who?", "--from", "no-header.csv"), "or answer, as the first row names the columns"),
    (("evaluate", "semicolons.csv", "--ranker", "bm25"), "no candidate has a label"),
    (("calibrate", "none", "labelled.jsonl", "--from", "guide.md"), "1 question was found in the files"),
    (("evaluate", "labelled.jsonl", "--ranker", "bm25", "--qrels", "x"), "--qrels holds the labels of a"),
    (("calibrate", "bm25", "labelled.jsonl", "--risk", "1e-300"), "takes more labelled questions than"),
    (("calibrate", "bm25", "no-file", "--risk", "2"), "a risk of 2 is not a share of wrong answers; choose"),
    (("calibrate", "bm25", "no-file", "--confidence", "1"), "a confidence of 1 is not a probability; choose"),
    (("calibrate", "bm25", "no-file", "--method", "lt"), "unknown method 'lt'; did you mean 'ltt'? "),
    (("ask", "who?", "--fro", "guide.md"), "no such option: --fro (Possible options: --from"),
    (("ask", "who?", "too"), "got unexpected extra argument(s) (too); see demur ask --help"),
    (("rank",), "missing argument 'question'; see demur rank --help"),
    (("evaluate", "x", "--measures"), "option '--measures' requires an argument; see demur evaluate --help"),
    (("--fro",), "no such option: --fro; see demur --help"),
    (("sing",), "no such command 'sing'; see demur --help"),
    (("evaluate", "no-file", "--ranker", "bm25", "-o", "no/a.json"), "no/a.json: the folder to write into"),
    (("evaluate", "no-file", "--confidence", "nan"), "--confidence nan is not between 0 and 1; write one"),
    (("advise", "labelled.jsonl", "--minutes", "nan"), "minutes must be a number above 0"),
    (("calibrate", "bm25", "no-file", "--plan", "--risk", "0.2"), "leave out --risk and -o, or --plan"),
    (("calibrate", "bm25", "no-file", "--plan", "-o", "a.json"), "leave out --risk and -o, or --plan"),
    (("calibrate", "bm25", "no-file", "--set", "0.9", "--risk", "0.1"), "leave out files and the options of"),
    (("train", "no.toml", "-o", "x"), "no.toml: no such file; check the spelling of the path"),
    (("reproduce", "scarce", "table1", "--cached", "--dirty"), "--cached runs nothing; leave out --dirty"),
    (("reproduce", "scarce", "table1", "--cached", "--verify", "2"), "leave out --cached, --picture and"),
    (("reproduce", "scarce", "table1", "--draw", "2"), "--draw chooses the cells that --verify runs; say"),
    (("evaluate", "labelled.jsonl", "--cases", "a.json", "./a.json"), "is named twice; name two rankers"),
    (("evaluate", "labelled.jsonl", "--ranker", "bm25", "-m", "EM"), "EM is a measure of quoted answers"),
    (("evaluate", "labelled.jsonl", "--reader", "mini", "-m", "F2"), "known: AURC, EM, F1, HasAns-EM, "),
    (("export", "bm25", "-o", "fast"), "only those can be exported; demur train --base minilm makes one"),
]  # fmt: skip


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: 4 bytes")],
)
def test_too_little_memory_is_said_in_one_line(
    error: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full() -> None:
        raise error

    monkeypatch.setattr("demur.cli.main.app", full)
    with pytest.raises(SystemExit) as left:
        main()
    err = capsys.readouterr().err
    assert left.value.code == 1 and err.count("\n") == 1 and "there is not enough memory for this" in err
    monkeypatch.setattr("demur.cli.main.app", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main()


@pytest.mark.parametrize(("words", "said"), MISTAKES)
def test_a_mistake_is_said_in_one_line(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, "utf-8")
    monkeypatch.setattr(sys, "argv", ["demur", *words])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert (left.value.code, out) == (2, "")
    assert said in err and err.startswith("demur: ") and err.count("\n") == 1


def test_a_wrong_number_of_threads_is_said_whatever_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DEMUR_THREADS", "many")
    monkeypatch.setattr(sys, "argv", ["demur", "data", "list"])
    with pytest.raises(SystemExit) as left:
        main()
    said = "demur: DEMUR_THREADS=many means nothing; use 1 or more, or 0 for all that may be used\n"
    assert (left.value.code, *capsys.readouterr()) == (2, "", said)
