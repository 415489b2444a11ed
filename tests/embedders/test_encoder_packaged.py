"""The encoder that comes with demur: no torch, vectors of single texts, near to the network in floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import demur
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.packaged import FOLDER, packaged
from demur.errors import UsageError
from demur.store import open_folder

TEXTS = [
    "How long may I keep a drill?",
    "Powered tools are lent for one week.",
    "A lost card costs 3 pounds to replace.",
    "What's up – 船 café 🎉 [SEP]?",
    "",
    "word " * 900,
]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder("packaged")


def test_vectors_have_length_one_and_empty_texts_none(encoder: Encoder) -> None:
    vectors = encoder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.width) and vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.allclose(lengths, [1, 1, 1, 1, 0, 1], atol=1e-6)


def test_a_vector_hangs_on_its_text_alone(encoder: Encoder) -> None:
    together = encoder.embed(TEXTS)
    for row, text in enumerate(TEXTS):
        assert np.allclose(encoder.embed([text])[0], together[row], atol=1e-6)


def test_meaning_without_a_shared_word() -> None:
    ranking = demur.ranker("encoder").rank("Until when can one borrow a saw?", TEXTS[1:3])
    assert ranking.candidates[0].text == TEXTS[1]


def test_long_texts_are_cut_where_asked(encoder: Encoder) -> None:
    model = packaged()
    assert model.length(0) == model.limit
    vectors, cut = model.sentences(["one two three four", "one two"], 4)
    assert cut == 1 and np.allclose(vectors[0], vectors[1], atol=1e-6)
    with pytest.raises(UsageError, match="max_length=2"):
        Encoder("packaged", max_length=2).embed(["x"])


@pytest.mark.parametrize("more", [{"precision": "fp32"}, {"device": "cuda"}, {"revision": "v1"}])
def test_what_it_cannot_do_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Encoder("packaged", **more)
    with pytest.raises(UsageError, match="minilm"):
        Encoder("packaged").tokens(["x"])


@pytest.mark.extras
def test_near_to_what_it_was_made_of(encoder: Encoder) -> None:
    made = open_folder(FOLDER).made["agreement"]  # with its own network in floats, when it was made
    assert made["texts"] > 400 and made["least"] > 0.99
    began = Encoder("minilm", precision="fp32").embed(TEXTS[:3])
    assert 0.9 < (encoder.embed(TEXTS[:3]) * began).sum(axis=1).min() < 0.99  # it was taught, and is no other
