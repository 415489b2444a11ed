"""Training on texts at hand. Two worlds, sea and wood, whose words never stand together, must come apart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from demur import DemurError
from demur.embedders.word_vectors.counting import directions, information, near
from demur.embedders.word_vectors.skipgram import Training, train
from demur.errors import MissingExtra

SEA, WOOD = ["ship", "sail", "wave", "harbour", "anchor"], ["oak", "leaf", "forest", "branch", "root"]
DRAW = np.random.default_rng(3)
TEXTS = [" ".join(DRAW.choice(world, size=7)) + "." for world in (SEA, WOOD) for _ in range(150)]
SMALL: dict[str, Any] = {"width": 12, "window": 3, "min_count": 5}


@pytest.mark.parametrize("model", ["skipgram", "cbow", "ppmi"])
def test_words_of_one_world_come_near_each_other(model: str) -> None:
    table = train(TEXTS, Training(**SMALL, epochs=15, model=model))
    assert set(table.words) == {*SEA, *WOOD} and table.vectors.shape == (10, 12)
    assert table.vectors.dtype == np.float32 and np.isfinite(table.vectors).all()
    for word in SEA:
        assert {other for other, _ in table.nearest(word, 4)} < set(SEA)


@pytest.mark.parametrize("model", ["skipgram", "cbow", "ppmi"])
def test_the_same_twice_with_one_thread(model: str) -> None:
    how = Training(**SMALL, epochs=2, model=model)
    first, second = train(TEXTS, how), train(TEXTS, how)
    assert first.fingerprint == second.fingerprint
    if model != "ppmi":
        assert train(TEXTS, Training(**SMALL, epochs=2, model=model, seed=1)).fingerprint != first.fingerprint


def test_words_are_the_most_frequent_first_with_their_counts() -> None:
    table = train(["oak ship ship", "leaf ship oak"], Training(width=2, min_count=2, epochs=1))
    assert table.words == ["ship", "oak"]
    assert table.counts is not None and table.counts.tolist() == [3, 2]
    assert {"width": 2, "texts": 2, "words": 6, "model": "skipgram", "seed": 0}.items() <= table.made.items()


def test_each_different_text_is_read_once() -> None:
    twice = train([*TEXTS, *TEXTS], Training(**SMALL, epochs=1))
    assert twice.fingerprint == train(TEXTS, Training(**SMALL, epochs=1)).fingerprint


def test_long_texts_are_read_to_their_end() -> None:
    text = "ship " * 20_000 + "oak " * 20
    table = train([text], Training(width=2, min_count=1, epochs=1))
    assert table.counts is not None and table.counts.tolist() == [20_000, 20]
    counted = train([text], Training(width=2, min_count=1, model="ppmi"))
    assert counted.counts is not None and counted.counts.tolist() == [20_000, 20]


def test_stop_words_and_the_clean_up() -> None:
    texts = ["The café is on the quay"]
    assert set(train(texts, Training(width=2, min_count=1)).words) == {"cafe", "quay"}
    kept = train(texts, Training(width=2, min_count=1, stopwords="keep", clean="plain"))
    assert set(kept.words) == {"the", "café", "is", "on", "quay"}


@pytest.mark.parametrize("texts", [[], [""], ["ship"], ["the"] * 50])
def test_too_little_text_is_one_clear_line(texts: list[str]) -> None:
    with pytest.raises(DemurError, match=r"no word occurs 10 times in \d+ texts; give more text, or a lower"):
        train(texts)


def test_wrong_settings_are_one_clear_line() -> None:
    with pytest.raises(DemurError, match="width=0 of word vectors must be at least 1"):
        Training(width=0)
    with pytest.raises(DemurError, match="width=65537 of word vectors must be at most 65,536"):
        Training(width=65_537)
    wanted = "model=glove of word vectors must be one of skipgram, cbow, ppmi, encoder"
    with pytest.raises(DemurError, match=wanted):
        Training(model="glove")


def test_without_gensim_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("gensim.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(MissingExtra, match=r"demur\[vectors\]"):
        train(TEXTS, Training(**SMALL))
    assert len(train(TEXTS, Training(**SMALL, model="ppmi"))) == 10, "which needs none"


def test_it_tells_how_far_it_is() -> None:
    told: dict[str, list[int]] = {}

    @contextmanager
    def meter(label: str, unit: str, total: int | None) -> Iterator[object]:
        told[label] = [total or 0, 0]

        def advance(by: int) -> None:
            told[label][1] += by

        yield advance

    train(TEXTS, Training(**SMALL, epochs=3), meter=meter)  # type: ignore[arg-type]
    assert told["reading"] == [0, len(TEXTS)]
    total, done = told["training"]
    assert total == done == 3 * len(set(TEXTS))
    train(TEXTS, Training(**SMALL, model="ppmi"), meter=meter)  # type: ignore[arg-type]
    assert told["counting"] == [len(set(TEXTS)), len(set(TEXTS))]


def test_near_counts_by_hand() -> None:
    found = near([[0, 1, 2], [2, 0]], 3, window=2).toarray()
    assert found.tolist() == [[0, 1, 1.5], [1, 0, 1], [1.5, 1, 0]]
    assert near([[], [1]], 2, window=3).nnz == 0


def test_information_by_hand() -> None:
    pairs = near([[0, 1], [0, 1], [2, 3]], 4, window=1)
    counts = np.array([2, 2, 1, 1])
    found = information(pairs, counts).toarray()
    share = counts / 6
    seen = pairs.toarray() * np.outer(*[np.sqrt(1e-3 / share) + 1e-3 / share] * 2)
    smoothed = seen.sum(1) ** 0.75
    expected = seen / np.outer(seen.sum(1), smoothed / smoothed.sum())
    wanted = np.log(expected, out=np.zeros_like(expected), where=expected > 1)
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("words", [5, 80])
def test_directions_are_those_of_a_full_decomposition(words: int) -> None:
    from scipy.sparse import csr_array

    matrix = np.maximum(np.random.default_rng(0).normal(size=(words, words)), 0).astype(np.float32)
    found = directions(csr_array(matrix), 3)
    left, strength, _ = np.linalg.svd(matrix)
    assert np.abs(found) == pytest.approx(np.abs(left[:, :3] * strength[:3] ** 0.25), abs=1e-3)
    furthest = np.abs(found).argmax(0)
    assert (found[furthest, range(3)] > 0).all(), "which way a direction points is not the processor's choice"
    assert directions(csr_array(matrix[:2, :2]), 3)[:, 2].tolist() == [0, 0]
