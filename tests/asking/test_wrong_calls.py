"""What cannot be meant is one clear line in Python too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import demur
from demur.asking import Session
from demur.cli.main import main
from demur.errors import UsageError

THREE: Any = 3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda kb: demur.kb(THREE), "int is not a folder"),
        (lambda kb: kb.add(3), "int is not a path"),
        (lambda kb: kb.add(["a.md", None]), "NoneType is not a path"),
        (lambda kb: kb.remove(b"a.md"), "not a path"),
        (lambda kb: kb.label(None, None, 0), "a label needs a question"),
        (lambda kb: kb.label("Why?", "first", 1), "place='first' is not a place"),
        (lambda kb: kb.ask(None, ranker="bm25"), "a question is a text, not NoneType"),
        (lambda kb: kb.ask("Why?", top="5", ranker="bm25"), "top='5'"),
        (lambda kb: demur.ask("Why?", THREE, ranker="bm25"), "int is not a document"),
        (lambda kb: Session.open([THREE], "bm25"), "int is not a document"),
    ],
)
def test_wrong_calls(call: Any, said: str, tmp_path: Path) -> None:
    kb = demur.kb(tmp_path / "a.kb")
    kb.put("a", [])
    with pytest.raises(UsageError) as error:
        call(kb)
    assert said in str(error.value) and "\n" not in str(error.value)


def test_rank_says_what_meaning_is_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("One.\n", "utf-8")
    words = "rank", "Why?", "--candidates", str(tmp_path / "a.txt"), "--ranker", "meaning"
    monkeypatch.setattr("sys.argv", ["demur", *words])
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr().err
    assert end.value.code == 2 and "use demur ask --from FILES --ranker meaning" in shown
