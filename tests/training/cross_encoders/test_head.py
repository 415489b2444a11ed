"""A cross-encoder whose head reads the first token itself, as SCAN's paper has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import demur
from demur.errors import UsageError
from demur.export.export import export
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder as Ranker
from demur.rankers.cross_encoders.pairs import tokenised
from demur.rankers.opening import save
from demur.training import trainer
from demur.training.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Pool
from export.test_export import classifier
from training.cross_encoders.test_cross_encoder import POOLS, quick
from training.cross_encoders.test_scan import small

ANSWERS = ["the ship sailed", "cape", "nothing but the cape in may", ""]


def test_it_is_a_line_over_the_first_tokens_last_state() -> None:
    ranker = quick(head="first").train(POOLS[:4])
    network, tokenizer = ranker.fresh()
    batch = tokenised(tokenizer, [Pool.of("which ship?", ANSWERS)], 24).batch([0, 1, 2, 3])
    with torch.inference_mode():
        first = network.eval().base_model(**batch).last_hidden_state[:, 0]  # type: ignore[operator]
        known = network.classifier(first)[:, 0]  # type: ignore[operator]
    assert np.allclose(ranker.score("which ship?", ANSWERS), known.numpy(), atol=1e-5)
    assert ranker.fingerprint != quick().train(POOLS[:4]).fingerprint


@pytest.mark.parametrize("kind", ["cross-encoder", "scan"])
def test_it_stays_so_where_it_is_saved_gone_on_with_and_exported(kind: str, tmp_path: Path) -> None:
    made = (quick if kind == "cross-encoder" else small)(head="first")
    ranker = made.train(POOLS[:4])
    known = ranker.score("which ship?", ANSWERS)
    save(ranker, tmp_path / "model", {})
    opened = demur.open(tmp_path / "model")
    assert isinstance(opened, Ranker)
    assert np.allclose(opened.score("which ship?", ANSWERS), known, atol=1e-6)
    out = export(opened, tmp_path / "out", "fp32")
    assert np.abs(out.ranker.score("which ship?", ANSWERS) - known).max() < 1e-4
    further = made.train(POOLS[:4], start=opened)
    before, after = (getattr(net.fresh()[0], "classifier").weight for net in (opened, further))  # noqa: B009
    assert not torch.equal(before, after)
    assert torch.allclose(before, after, atol=0.3), "it goes on from the head that it has"


def test_what_has_no_pooler_and_what_is_not_known_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a head of its own.*leave out head"):
        quick(base=classifier("roberta", tmp_path / "net"), head="first").train(POOLS[:4])
    with pytest.raises(UsageError, match="head='cls' is not known"):
        trainer("cross-encoder(head=cls)")
    assert "head" not in CrossEncoder().known_by, "models that were learnt before stay known"
