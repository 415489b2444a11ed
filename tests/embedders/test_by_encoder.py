"""Word vectors of the encoder that comes with demur: each word alone, turned to the strongest directions."""

from __future__ import annotations

import numpy as np
import pytest

from demur import DemurError
from demur.embedders import embedder
from demur.embedders.word_vectors.by_encoder import vectors_by_encoder
from demur.embedders.word_vectors.skipgram import Training, train

WORDS = ["ship", "boat", "vessel", "oak", "tree", "forest", "tuesday", "friday", "seven", "nine"]


def test_words_that_mean_alike_come_near_though_no_text_has_them_together() -> None:
    table = train(WORDS, Training(width=5, min_count=1, model="encoder"))
    assert {other for other, _ in table.nearest("ship", 2)} == {"boat", "vessel"}
    assert table.nearest("tuesday", 1)[0][0] == "friday" and table.nearest("seven", 1)[0][0] == "nine"


def test_all_directions_keep_every_cosine_of_centred_vectors() -> None:
    given = embedder("encoder", model="packaged").embed(WORDS).astype(np.float64)
    given -= given.mean(0)
    made = vectors_by_encoder(WORDS, given.shape[1]).astype(np.float64)
    lengths = np.linalg.norm(given, axis=1), np.linalg.norm(made, axis=1)
    assert np.allclose(
        given @ given.T / np.outer(lengths[0], lengths[0]),
        made @ made.T / np.outer(lengths[1], lengths[1]),
        atol=1e-5,
    )
    assert made.std() == pytest.approx(0.4, rel=1e-3)


def test_fewer_directions_are_the_strongest_and_come_first() -> None:
    made = vectors_by_encoder(WORDS, 6)
    strength = (made**2).sum(0)
    assert made.shape == (10, 6) and (np.diff(strength) <= 1e-4).all()
    more = vectors_by_encoder(WORDS, 8)[:, :6]
    assert np.allclose(made / np.linalg.norm(made), more / np.linalg.norm(more), atol=1e-4)


def test_it_tells_how_many_words_are_done_and_refuses_more_numbers_than_there_are() -> None:
    done: list[int] = []
    vectors_by_encoder(WORDS, 2, done.append)
    assert sum(done) == len(WORDS)
    with pytest.raises(
        DemurError, match="width=500 is more than the 384 numbers that the encoder gives; choose fewer"
    ):
        train(WORDS, Training(width=500, min_count=1, model="encoder"))
