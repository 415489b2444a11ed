"""Equal to what sentence-transformers makes of the same texts, whoever runs the network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import located, quietly
from laws import toys

TEXTS = [
    "which ship sailed round the cape?",
    "What's up – 船 café cafe\u0301 🎉 हिन्दी سفينة?",
    "?!",
    "x",
    "the ship sailed " * 300,
    *("ship " * length for length in range(1, 12)),
]


@pytest.fixture(scope="module")
def library() -> Any:
    with quietly():
        import sentence_transformers

        return sentence_transformers


def theirs(library: Any, folder: str, **more: Any) -> Any:
    with quietly():
        model = library.SentenceTransformer(folder, device="cpu")
        return model.encode(TEXTS, show_progress_bar=False, **more)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("pooling", ["", "mean_tokens", "cls_token", "max_tokens", "weightedmean_tokens"])
def test_pooling(library: Any, pooling: str, normalize: bool) -> None:
    folder = toys.bert(pooling, normalize and bool(pooling))
    encoder = Encoder(folder)
    assert bool(encoder.how.pooling) == (pooling in ("", "mean_tokens", "cls_token")), "who runs it"
    assert np.allclose(encoder.embed(TEXTS), theirs(library, folder), rtol=0, atol=1e-5)


def test_minilm(library: Any) -> None:
    encoder = Encoder()
    assert encoder.how.pooling == "mean" and encoder.how.normalize and encoder.how.max_length == 256
    assert np.allclose(encoder.embed(TEXTS), theirs(library, str(located("minilm"))), rtol=0, atol=1e-5)


def test_a_model_with_more_than_pooling(library: Any, tmp_path: Path, capfd: Any) -> None:
    with quietly():
        network = library.SentenceTransformer(toys.bert("mean_tokens"), device="cpu")
        dense = library.sentence_transformer.modules.Dense(16, 5)
        prompts = {"query": "ship: ", "document": ""}
        model = library.SentenceTransformer(modules=[*network, dense], prompts=prompts, device="cpu")
        model.save(str(tmp_path / "dense"))
    folder = str(tmp_path / "dense")
    capfd.readouterr()
    plain = Encoder(folder)
    assert plain.how.pooling == "" and plain.width == 5
    assert np.allclose(plain.embed(TEXTS), theirs(library, folder), rtol=0, atol=1e-5)
    asked = Encoder(folder, prompt="ship: ")
    assert np.allclose(asked.embed(TEXTS), theirs(library, folder, prompt_name="query"), rtol=0, atol=1e-5)
    assert not plain.embed(["", " "]).any()
    assert plain.tokens(["ship sailed"]).vectors.shape == (2, 16), "words have the network's own width"
    short = Encoder(folder, max_length=5).embed(["the ship sailed round the cape", "the ship sailed"])
    assert short[0].tolist() == short[1].tolist()
    assert "read only" not in capfd.readouterr().out
