from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur import DemurError
from demur.embedders import embedder
from demur.embedders.word_vectors import table_formats
from demur.embedders.word_vectors.embedder import WordVectors
from demur.embedders.word_vectors.tables import Table
from demur.errors import MissingData

WORDS = ["the", "ship", "sails", "café", "cafe", "Bonn", "north"]
VECTORS = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32)
COUNTS = np.array([1000, 50, 20, 10, 10, 5, 5])


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("vectors") / "v.safetensors"
    table_formats.write_table(file, Table(WORDS, VECTORS, COUNTS))
    return str(file)


def test_the_mean_of_known_words_as_often_as_they_occur(path: str) -> None:
    words = WordVectors(path)
    found = words.embed(["The ship sails, the ship!", "Unknown ship", "north north north"])
    assert found.dtype == np.float32 and words.width == 4
    assert found[0] == pytest.approx((2 * VECTORS[1] + VECTORS[2]) / 3)
    assert found[1] == pytest.approx(VECTORS[1])
    assert found[2] == pytest.approx(VECTORS[6])


@pytest.mark.parametrize("text", ["", " ", "the", "?!", "xyzzy 🎉", "☃" * 5])
def test_no_known_word_is_zeros(path: str, text: str) -> None:
    assert WordVectors(path).embed([text]).tolist() == [[0, 0, 0, 0]]
    assert WordVectors(path).embed([]).shape == (0, 4)


def test_stop_words_may_be_kept(path: str) -> None:
    found = WordVectors(path, stopwords="keep").embed(["the ship"])
    assert found[0] == pytest.approx((VECTORS[0] + VECTORS[1]) / 2)


def test_clean_up_of_the_paper_or_plain(path: str) -> None:
    assert WordVectors(path).embed(["Café"])[0] == pytest.approx(VECTORS[4])
    assert WordVectors(path, clean="plain").embed(["Cafe\u0301"])[0] == pytest.approx(VECTORS[3])


def test_a_word_with_a_capital_only_is_found(path: str) -> None:
    assert WordVectors(path).embed(["Bonn"])[0] == pytest.approx(VECTORS[5])


def test_weights(path: str) -> None:
    frequency = COUNTS / COUNTS.sum()
    for weights, weight in (("idf", -np.log(frequency)), ("sif", 1e-3 / (1e-3 + frequency))):
        found = WordVectors(path, weights).embed(["ship north"])[0]
        wanted = weight[1] * VECTORS[1] + weight[6] * VECTORS[6]
        assert found == pytest.approx(wanted / (weight[1] + weight[6]), rel=1e-5)


def test_a_single_word_that_is_all_there_is_has_no_idf(tmp_path: Path) -> None:
    table_formats.write_table(tmp_path / "one.txt", Table(["ship"], VECTORS[:1]))
    assert np.isfinite(WordVectors(str(tmp_path / "one.txt"), "idf").embed(["ship"])).all()


texts = st.lists(
    st.sampled_from(["the", "ship", "sails!", "Bonn", "north", "zzz", ",", "🎉"]), max_size=9
).map(" ".join)


@settings(deadline=None, max_examples=50)
@given(st.lists(texts, max_size=6), st.sampled_from(["none", "idf", "sif"]))
def test_a_text_has_one_vector_whatever_stands_beside_it(path: str, many: list[str], weights: str) -> None:
    words = WordVectors(path, weights)
    together = words.embed([*many, *many[::-1]])
    assert together[: len(many)].tolist() == together[len(many) :][::-1].tolist()
    for text, vector in zip(many, together, strict=False):
        assert words.embed([text])[0].tolist() == vector.tolist()
        assert words.embed([" ".join(text.split()[::-1])])[0].tolist() == vector.tolist(), "a bag of words"


def test_tokens_are_known_words_with_their_places(path: str) -> None:
    written = ["The Ship, in Bonn: café!", "", "zzz", "ship ship"]
    found = WordVectors(path).tokens(written)
    assert found.counts.tolist() == [3, 0, 0, 2]
    assert found.words == ("ship", "bonn", "cafe", "ship", "ship")
    assert found.vectors.tolist() == VECTORS[[1, 5, 4, 1, 1]].tolist()
    shown = [written[0][start:end] for start, end in found.spans[:3].tolist()]
    assert shown == ["Ship", "Bonn", "café"]
    assert found.spans[3:].tolist() == [[0, 4], [5, 9]]


def test_tokens_with_stop_words_and_plain(path: str) -> None:
    assert WordVectors(path).tokens(["the ship"], "all").words == ("the", "ship")
    plain = WordVectors(path, clean="plain")
    assert plain.tokens(["the café"]).words == ("café",)
    assert plain.tokens(["the café"], "all").words == ("the", "café")
    empty = plain.tokens([])
    assert empty.vectors.shape == (0, 4) and empty.spans.shape == (0, 2) and empty.words == ()
    with pytest.raises(DemurError, match="words=some must be content or all"):
        plain.tokens(["a"], "some")


def test_the_spec_builds_it_again_and_it_travels(path: str) -> None:
    words = embedder("words", vectors=path, weights="sif")
    assert embedder(words.spec) == words
    other = pickle.loads(pickle.dumps(words))
    assert other.embed(["ship"]).tolist() == words.embed(["ship"]).tolist()
    assert len(pickle.dumps(words)) < 1000, "the table stays behind"


def test_the_fingerprint_is_of_settings_and_vectors_not_of_the_path(path: str, tmp_path: Path) -> None:
    table_formats.write_table(tmp_path / "same.npz", Table(WORDS, VECTORS, COUNTS))
    table_formats.write_table(tmp_path / "other.npz", Table(WORDS, VECTORS + 1, COUNTS))
    here = WordVectors(path).fingerprint
    assert WordVectors(str(tmp_path / "same.npz")).fingerprint == here
    assert WordVectors(str(tmp_path / "other.npz")).fingerprint != here
    assert WordVectors(path, "sif").fingerprint != here


def test_wrong_settings_are_one_clear_line(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        DemurError, match=r"need a file: train one with demur vectors train .* google-news, glove"
    ):
        embedder("words")
    for wrong in ({"weights": "tf"}, {"clean": "no"}, {"stopwords": "some"}):
        with pytest.raises(DemurError, match="must be one of"):
            WordVectors(path, **wrong)
    with pytest.raises(DemurError, match="no such file of word vectors"):
        WordVectors("nowhere.bin").embed(["a"])
    monkeypatch.delenv("DEMUR_DATA", raising=False)
    with pytest.raises(MissingData, match=r"'glove' need vectors/glove.*DEMUR_DATA is not set"):
        WordVectors("glove").embed(["a"])
