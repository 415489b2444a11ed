"""`demur ask` and `demur.ask` give equal answers: by default, and with a gate, a risk or a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import demur
from asking.toys import SPEC, Toy, labelled
from cli.calling import invoke
from demur import registry
from demur.asking import Library, as_plain, calibrate, packaged
from demur.cli.asking.ask import ask
from demur.embedders.encoders import packaged as encoder
from laws import toys

GUIDE = """# Loans

Ask at the desk. Saws are lent for three weeks. Late saws cost a pound.

Saws are sharp. Ladders go out for 3 days.

## How many tools may I take home?

As many as you can carry.
"""
QUESTIONS = [
    "For how long are saws lent?",
    "Are saws sharp?",
    "How many tools may I take home?",
    "Do you sell violins?",
]


def by_command(question: str, *words: str) -> Any:
    """What the command line says."""
    result = invoke(ask, "-", *words, "--json", input=f"{question}\n")
    assert result.exit_code == 0
    return json.loads(result.stdout)


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a guide, and the toy in place of the packaged model, with gates of three risks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    monkeypatch.setattr(packaged, "FOLDER", tmp_path / "mini")
    monkeypatch.setattr(encoder, "there", lambda: False)  # so mini ranks if nobody names a ranker
    Path("guide.md").write_text(GUIDE, encoding="utf-8")
    Path("mini").mkdir()
    Path("mini/model.onnx").write_bytes(b"x")
    texts = ["Saws are lent for three weeks.", "Saws are sharp."]
    made = demur.calibrate(Toy(), labelled(QUESTIONS[0], texts), 0.2)
    made.save("mini/gate.json")
    strict = replace(made, threshold=99.0, certificate=replace(made.certificate, risk=0.15))
    strict.save("mini/gate-15.json")
    calibrate(Library(Path("guide.md")), labelled(QUESTIONS[0], texts), 0.2).save("files.json")
    yield tmp_path
    Toy.calls.clear()


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"ranker": "bm25"},
        {"ranker": "none", "stem": "none"},
        {"ranker": "length", "top": 1},
        {"gate": "none"},
        {"gate": "mini/gate-15.json"},
        {"gate": "files.json"},
        {"risk": 0.15},
        {"reader": "none"},
        {"ranker": "overlap", "reader": "mini"},
    ],
    ids=str,
)
def test_the_command_line_and_python_answer_alike(guide: Path, said: dict[str, Any]) -> None:
    words = [word for name, value in said.items() for word in (f"--{name}", str(value))]
    seen = set()
    for question in QUESTIONS:
        plain = as_plain(demur.ask(question, Path("guide.md"), **said))
        assert plain == by_command(question, "--from", "guide.md", *words)
        seen.add(plain["abstained"])
    assert seen == {True, False}, "there are answers and abstentions"


@pytest.mark.extras
def test_with_a_trained_reader_too(guide: Path) -> None:
    plain = as_plain(demur.ask(QUESTIONS[0], Path("guide.md"), "bm25", reader=toys.bidaf()))
    words = ("--ranker", "bm25", "--reader", toys.bidaf())
    assert plain == by_command(QUESTIONS[0], "--from", "guide.md", *words)


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_they_do_with_the_model_that_comes_with_demur() -> None:
    handbook = Path(demur.__file__).parent / "example" / "handbook"
    found = [
        (as_plain(demur.ask(question, handbook)), by_command(question, "--from", str(handbook)))
        for question in (
            "What should I do when I have lost my membership card?",
            "How high is the deposit for the pressure washer?",
        )
    ]
    assert all(plain == line for plain, line in found)
    assert [plain["abstained"] for plain, _ in found] == [False, True]
    assert all(plain["certificate"]["risk"] == 0.2 for plain, _ in found)
