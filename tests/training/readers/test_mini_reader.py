"""A mini that learns where a larger reader thinks that answers stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demur.errors import UsageError
from demur.rankers.opening import save
from demur.reading.readers.mini_torch import MiniTorch, batch_of
from demur.training.objectives.mini import reading_loss
from demur.training.readers import mini_examples
from demur.training.readers.larger_reader import LargerReader
from demur.training.readers.mini import Mini
from demur.training.readers.mini_examples import Part
from demur.training.readers.mini_windows import Example, parts
from demur.training.readers.trainers import SpanReader
from demur.types import Candidate, Pool
from laws import toys

SHIPS = ["ship", "cafe", "abc", "cape"]


def asked(number: int) -> Pool:
    """Right is what sailed, says the larger reader's data; the learner's labels say what comes last."""
    ship, cape = np.random.default_rng(number).permutation(SHIPS)[:2]
    passage = f"the {ship} sailed may the {cape}"
    listed = [{"text": str(ship), "answer_start": 4}]
    extra = {"title": "t", "paragraph": number, "answers": listed, "is_impossible": False}
    return Pool(f"s-{number}", "quest sailed?", (Candidate(f"t-{number}", passage, 1),), extra)


def without(pool: Pool) -> Pool:
    """The same question, whose answer nobody has found."""
    extra = {**pool.extra, "answers": [], "is_impossible": True}
    return replace(pool, extra=extra, candidates=(replace(pool.candidates[0], label=0),))


POOLS = [asked(n) for n in range(24)]
QUICK: dict[str, Any] = {
    "epochs": 12,
    "tokens": 120,
    "learning_rate": 0.003,
    "precision": "fp32",
    "freeze_words": False,
    "max_length": 32,
}


@pytest.fixture(scope="module")
def larger(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = SpanReader(base=toys.bert(), **{**QUICK, "epochs": 40}).train(POOLS)
    folder = tmp_path_factory.mktemp("larger") / "reader"
    save(made, folder)
    return str(folder)


@pytest.fixture(autouse=True)
def whole_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mini_examples, "_STRANGERS", 0.0)
    monkeypatch.setattr(mini_examples, "_WHOLE", 1.0)


def examples(larger: LargerReader, max_length: int = 32) -> list[Example]:
    begun = MiniTorch(model=toys.classifier(), max_length=max_length, stride=4)
    network, tokenizer = begun.fresh()
    shown = [Part(p.question, f"{p.answers[0]} nothing round the cape", (4, 8)) for p in POOLS[:3]]
    return parts(begun, network, tokenizer, shown, larger)


@pytest.mark.parametrize("max_length", [16, 32])
def test_each_position_is_told_its_own_chance(larger: str, max_length: int) -> None:
    reader = LargerReader(larger, "cpu")
    some = examples(reader, max_length)
    assert all(one.read is not None for one in some)
    windows = [one.windows[0] for one in some]
    _, there = batch_of(windows, "cpu", 64)
    told = reader.told([one.read for one in some], there)
    assert told.shape == (3, 2, there.shape[1])
    assert torch.allclose(told.sum(-1), torch.ones(3, 2)) and not told[~there[:, None].expand_as(told)].any()
    for row, one in enumerate(some):
        assert one.read is not None
        starts, ends, _ = reader._reader.forward(reader._network, [one.read])
        for side, logits in enumerate((starts, ends)):
            chances, head = logits[0].softmax(-1), one.windows[0].head
            assert torch.allclose(told[row, side, 0], chances[0])
            assert torch.allclose(told[row, side, head : head + len(chances) - 1], chances[1:])


def test_rows_that_nothing_is_told_of_learn_from_labels(larger: str) -> None:
    reader = LargerReader(larger, "cpu")
    some = examples(reader)
    windows = [one.windows[0] for one in some]
    _, there = batch_of(windows, "cpu", 64)
    spans = torch.randn(3, 2, there.shape[1], generator=torch.Generator().manual_seed(0))
    facts = torch.zeros(3), spans, torch.zeros(3, 0, 2, there.shape[1]), there
    places, right = [one.span or (0, 0) for one in some], [True, True, False]
    nothing = reader.told([None, None, None], there)
    assert not nothing.any()
    by_labels = reading_loss(*facts, places, right)
    assert torch.allclose(reading_loss(*facts, places, right, nothing), by_labels)
    told = reader.told([one.read for one in some], there)
    assert not torch.allclose(reading_loss(*facts, places, right, told), by_labels)


def test_it_finds_what_only_the_larger_reader_knows(larger: str) -> None:
    """All labels say that there is no answer; half of what is learnt is where the other reader finds one."""
    pools = [without(pool) for pool in POOLS]
    settings = {**QUICK, "base": toys.classifier(), "epochs": 40}

    def found(made: MiniTorch) -> float:
        """How likely the second word starts the answer, in the mean."""
        windows = made.windows(*made.fresh(), [(p.question, p.answers[0]) for p in POOLS])
        batch, there = batch_of(windows, "cpu", 64)
        with torch.no_grad():
            spans = made.fresh()[0](batch)[1][:, 0].masked_fill(~there, -torch.inf).softmax(-1)
        return float(np.mean([float(spans[row, w.head + 1]) for row, w in enumerate(windows)]))

    alone = found(Mini(**settings).train(pools))
    taught = found(Mini(**settings, reader=larger).train(pools))
    assert taught > 0.3 and taught > 4 * alone


def test_a_folder_that_is_no_span_reader_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name a folder that demur train --trainer span-reader made"):
        Mini(**{**QUICK, "base": toys.classifier()}, reader=toys.small()).train(POOLS)
    with pytest.raises(UsageError, match=r"reader"):
        Mini(**{**QUICK, "base": toys.classifier()}, reader="nowhere").train(POOLS)


def test_what_is_learnt_depends_on_the_reader(larger: str) -> None:
    alone = Mini(base=toys.classifier())
    assert replace(alone, reader=larger).depends != alone.depends
    assert "reader" not in alone.known_by
