from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.embedders.encoders.loading import together
from demur.errors import DataError, UsageError
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Pool
from laws import toys


def test_scores_equal_the_network_by_itself() -> None:
    import torch
    from transformers import AutoTokenizer

    ranker = CrossEncoder(model=toys.classifier())
    answers = ["the cape", "ship sailed", "may"]
    network, _ = ranker.fresh()
    tokenizer = AutoTokenizer.from_pretrained(toys.classifier())
    batch = tokenizer(["ship?"] * 3, answers, padding=True, return_tensors="pt")
    with torch.inference_mode():
        expected = network.eval()(**batch).logits[:, 0].numpy()
    assert np.allclose(ranker.score("ship?", answers), expected, atol=1e-5)
    assert len(set(expected.tolist())) == 3


def test_long_pairs_are_cut_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "demur"):
        scores = CrossEncoder(model=toys.classifier(), max_length=16).score("ship", ["may " * 5000, "cape"])
    assert np.isfinite(scores).all()
    assert "1 of 2 pairs were cut at 16 tokens" in caplog.text


def test_a_processor_gets_as_many_tokens_at_once_as_its_cache_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    from demur.nets.transformers import cross_encoder

    sizes: list[int] = []
    score = cross_encoder.score

    def seen(network: Any, batch: Any) -> Any:
        sizes.append(batch["input_ids"].numel())
        return score(network, batch)

    monkeypatch.setattr(cross_encoder, "score", seen)
    answers = [f"the cape {'may ' * (number % 7)}{number}" for number in range(300)]
    CrossEncoder(model=toys.classifier(), device="cpu").score("ship sailed", answers)
    assert len(sizes) > 2 and 512 < max(sizes) <= 1024
    assert together("cpu") == 1024 < together("cuda")


def test_half_precision_is_near() -> None:
    exact = CrossEncoder(model=toys.classifier()).score("ship", ["the cape", "may"])
    half = CrossEncoder(model=toys.classifier(), precision="bf16").score("ship", ["the cape", "may"])
    assert 0 < np.abs(exact - half).max() < 0.1


def test_the_fingerprint_is_of_the_weights(tmp_path: Path) -> None:
    import shutil

    moved = shutil.copytree(toys.classifier(), tmp_path / "moved")
    assert CrossEncoder(model=str(moved)).fingerprint == CrossEncoder(model=toys.classifier()).fingerprint


@pytest.mark.parametrize(
    "settings, complaint",
    [
        ({}, "needs weights"),
        ({"model": "x", "precision": "int8"}, "use precision=auto, bf16 or fp32"),
        ({"model": "x", "max_length": 3}, "use 16 or more"),
    ],
)
def test_settings_that_mean_nothing_are_one_line(settings: dict[str, object], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        CrossEncoder(**settings)  # type: ignore[arg-type]


def test_a_folder_without_a_model_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no cross-encoder can be made of it"):
        CrossEncoder(model=str(tmp_path)).score("a", ["b"])


def test_it_is_a_ranker_like_any_other() -> None:
    ranker = demur.ranker("cross-encoder", model=toys.classifier())
    pool = Pool.of("ship", ["cape", "may"])
    assert len(ranker.rank(pool.question, pool.answers)) == 2
