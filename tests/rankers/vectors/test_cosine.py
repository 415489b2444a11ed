"""Cosine of averaged word vectors; the sentence encoder has a file of its own."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

import demur
from demur import DemurError, Pool, data
from demur.embedders.word_vectors import table_formats
from demur.embedders.word_vectors.tables import Table
from demur.rankers.vectors.cosine import pairwise

WORDS = ["ship", "boat", "sails", "tree", "oak"]
VECTORS = np.array([[1, 0.1], [0.9, 0.2], [0.7, 0.3], [0, 1], [0.1, 1]], np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("vectors") / "v.safetensors"
    table_formats.write_table(file, Table(WORDS, VECTORS))
    return str(file)


def test_pairwise_is_the_cosine_and_0_for_zeros() -> None:
    left, right = (
        np.array([[1, 0], [1, 1], [0, 0], [3e30, 0]]),
        np.array([[2, 0], [1, 0], [1, 1], [1e30, 1e30]]),
    )
    assert pairwise(left, right) == pytest.approx([1, np.sqrt(0.5), 0, np.sqrt(0.5)])
    assert pairwise(np.empty((0, 3)), np.empty((0, 3))).shape == (0,)


def test_near_words_make_near_texts(path: str) -> None:
    ranker = demur.ranker("average", vectors=path)
    scores = ranker.score("Which ship sails?", ["An oak is a tree.", "The boat!", "Nothing known here", ""])
    mean = (VECTORS[0] + VECTORS[2]).astype(np.float64)
    boat = VECTORS[1].astype(np.float64)
    assert scores[1] == pytest.approx(mean @ boat / np.linalg.norm(mean) / np.linalg.norm(boat), abs=1e-6)
    assert scores[1] > scores[0] > 0
    assert scores[2:].tolist() == [0, 0]


def test_an_unknown_question_scores_0_not_nan(path: str) -> None:
    assert demur.ranker("average", vectors=path).score("Why?", ["ship", ""]).tolist() == [0, 0]


def test_pools_of_all_sizes(path: str) -> None:
    ranker = demur.ranker("average", vectors=path)
    pools = [
        Pool.of("ship", []),
        Pool.of("ship", ["boat"]),
        Pool.of("", []),
        Pool.of("tree", ["oak", "ship"]),
    ]
    assert [len(scores) for scores in ranker.score_pools(pools)] == [0, 1, 0, 2]
    assert ranker.score_pools([]) == []
    assert ranker.score_pools(pools[:1])[0].dtype == np.float64


def test_many_pairs_score_as_they_do_alone(path: str) -> None:
    ranker = demur.ranker("average", vectors=path, weights="idf")
    draw = np.random.default_rng(0)
    answers = [" ".join(draw.choice(WORDS, size=draw.integers(0, 6))) for _ in range(5000)]
    scores = ranker.score("ship sails", answers)
    assert scores[4321] == ranker.score("ship sails", answers[4321:4322])[0]
    assert scores.tolist() == ranker.score("ship sails", answers[::-1])[::-1].tolist()


def test_spec_fingerprint_and_travel(path: str, tmp_path: Path) -> None:
    ranker = demur.ranker("average", vectors=path, stopwords="keep", clean="plain", weights="sif")
    assert demur.ranker(ranker.spec) == ranker
    assert pickle.loads(pickle.dumps(ranker)).score("ship", ["boat"]) == ranker.score("ship", ["boat"])
    table_formats.write_table(tmp_path / "same.txt", Table(WORDS, VECTORS))
    moved = demur.ranker(
        "average", vectors=str(tmp_path / "same.txt"), stopwords="keep", clean="plain", weights="sif"
    )
    assert moved.fingerprint == ranker.fingerprint
    assert demur.ranker("average", vectors=path).fingerprint != ranker.fingerprint


def test_without_vectors_it_says_how_to_get_some() -> None:
    with pytest.raises(DemurError, match="demur vectors train"):
        demur.ranker("average")


@pytest.mark.data
def test_on_wikiqa_generic_vectors_do_as_published() -> None:
    pools = data.pools("wikiqa/test/answerable")
    report = demur.evaluate("average(vectors=google-news)", pools, ["MAP"], "semeval10")
    assert report.measures["MAP"].mean == pytest.approx(
        0.6022, abs=0.03
    )  # the paper, with all of Google News
