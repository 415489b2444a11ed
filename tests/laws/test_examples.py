"""The scripts of examples/ run as they are, and are short; what they read is as `example_files` makes it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

import example_files
from demur.advice import methods
from demur.advice.trials import measuring
from demur.asking import packaged
from demur.data import formats
from demur.types import Pool
from laws import toys

EXAMPLES = example_files.EXAMPLES
ANSWERS = ["the ship sailed", "nothing to see"]
needs_model = pytest.mark.skipif(packaged.usual() is None, reason="no model came with this copy")


def said(
    name: str, *words: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """The lines that a script prints."""
    monkeypatch.setattr(sys, "argv", [f"examples/{name}", *map(str, words)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_each_is_short_and_listed() -> None:
    scripts = sorted(EXAMPLES.glob("*.py"))
    page = (EXAMPLES / "README.md").read_text("utf-8")
    assert len(scripts) == 5
    for script in scripts:
        assert len(script.read_text("utf-8").splitlines()) < 40, script.name
        assert f"[{script.name}]({script.name})" in page


def test_their_files_are_made() -> None:
    assert (EXAMPLES / "handbook.pdf").read_bytes() == example_files.handbook()
    assert (EXAMPLES / "scores.csv").read_text("utf-8") == example_files.scores()


def test_scores_of_another_system(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    promise, others, without = said("gate_scores.py", monkeypatch=monkeypatch, capsys=capsys)
    assert "wrong at most 10 % of the time, with 95 % confidence" in promise
    assert others.startswith("Of 200 others it answers ") and without.startswith("Without a gate ")


@pytest.mark.extras
def test_a_reranker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ranking_model(tmp_path)
    pools = [Pool.of(f"which ship {n}?", ANSWERS, [1, 0], id=str(n)) for n in range(60)]
    formats.write_pools(tmp_path / "some.jsonl", pools)
    lines = said("gate_a_reranker.py", model, tmp_path / "some.jsonl", monkeypatch=monkeypatch, capsys=capsys)
    assert "at most 20 % of the time" in lines[0] and "which ship 57?" in lines
    formats.write_pools(tmp_path / "few.jsonl", pools[:12])
    lines = said("gate_a_reranker.py", model, tmp_path / "few.jsonl", monkeypatch=monkeypatch, capsys=capsys)
    assert len(lines) == 1 and lines[0].startswith("No gate: ") and "the lowest they can promise" in lines[0]


def ranking_model(folder: Path) -> Path:
    """The toy classifier of Hugging Face, after it has learnt to tell the ship from nothing."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from demur.embedders.encoders.loading import quietly

    with quietly(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = AutoModelForSequenceClassification.from_pretrained(toys.classifier())
        tokenizer = AutoTokenizer.from_pretrained(toys.classifier())
        texts = tokenizer(["which ship 5?"] * 2, ANSWERS, padding=True, return_tensors="pt")
        steps = torch.optim.Adam(network.parameters(), 0.01)
        for _ in range(30):
            steps.zero_grad()
            right, wrong = network(**texts).logits[:, 0]
            loss: Any = torch.nn.functional.softplus(wrong - right)
            loss.backward()
            steps.step()
        network.save_pretrained(folder / "model")
        tokenizer.save_pretrained(folder / "model")
    return folder / "model"


@needs_model
def test_a_pdf(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pypdfium2")
    lines = said("read_pdf.py", monkeypatch=monkeypatch, capsys=capsys)
    found = dict(zip(lines[1::3], lines[2::3], strict=False))
    assert "handbook.pdf, page 1" in found["For how long are hand tools lent?"]
    assert "no answer: " in found["What is the wifi password?"]


@needs_model
def test_a_generator_is_asked_only_if_there_is_an_answer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = said("guard_a_generator.py", monkeypatch=monkeypatch, capsys=capsys)
    assert any("54 pounds" in line for line in lines) and "(from membership.md, line 24)" in lines
    assert lines[-1].startswith("I do not know: ")


@needs_model
@pytest.mark.parametrize("data", [pytest.param(True, marks=[pytest.mark.data, pytest.mark.slow]), False])
def test_few_labels(data: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if not data:
        monkeypatch.delenv("DEMUR_DATA", raising=False)
        monkeypatch.setattr(methods, "METHODS", [one for one in methods.METHODS if one.name == "bm25"])
        monkeypatch.setattr(measuring, "cost", lambda *_: None)
    lines = said("few_labels.py", 0.3, monkeypatch=monkeypatch, capsys=capsys)
    assert lines[0].startswith("Take ") and lines[-1].startswith("The difference is ")
