"""Vectors of texts and of words in context by an encoder."""

from __future__ import annotations

import json
import logging
import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.embedders import embedder
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.network import Network
from demur.errors import UsageError
from laws import toys

TEXTS = ["ship sailed round the cape", "nothing", "", "船 café 🎉?", "  \n", "ship", "\u200b", "ship", "?!"]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder(toys.bert("mean_tokens", normalize=True))


def test_one_row_per_text_in_order_and_zeros_for_nothing(encoder: Encoder) -> None:
    found = encoder.embed(TEXTS)
    assert found.shape == (len(TEXTS), 16) and found.dtype == np.float32 and encoder.width == 16
    assert (~found.any(axis=1)).tolist() == [text in ("", "  \n", "\u200b") for text in TEXTS]
    assert np.allclose(np.linalg.norm(found[found.any(axis=1)], axis=1), 1, atol=1e-6)
    assert found[5].tolist() == found[7].tolist()
    for text, row in zip(TEXTS, found, strict=True):
        assert np.allclose(encoder.embed([text])[0], row, rtol=0, atol=1e-5)
    assert encoder.embed([]).shape == (0, 16)


@settings(deadline=None, max_examples=15)
@given(order=st.permutations(range(len(TEXTS))))
def test_the_order_of_texts_changes_no_bit(encoder: Encoder, order: list[int]) -> None:
    found = encoder.embed([TEXTS[place] for place in order])
    assert (found == encoder.embed(TEXTS)[order]).all()


def test_each_different_text_goes_through_once(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    tokenise = Network.encodings

    def noting(self: Network, texts: Sequence[str], length: int) -> list[Any]:
        seen.extend(texts)
        return tokenise(self, texts, length)

    monkeypatch.setattr(Network, "encodings", noting)
    encoder.embed(TEXTS * 3)
    assert sorted(seen) == sorted({*TEXTS} - {"", "  \n"})
    seen.clear()
    encoder.tokens(TEXTS * 2)
    assert sorted(seen) == sorted({*TEXTS})


def test_long_texts_and_halves_of_characters(encoder: Encoder, caplog: pytest.LogCaptureFixture) -> None:
    found = encoder.embed(["ship " * 40_000, "half \ud83c of one", "half \ufffd of one"])
    assert np.isfinite(found).all() and found[1].tolist() == found[2].tolist()
    words = encoder.tokens(["ship " * 40_000, "half \ud83c ship"], "all")
    assert words.counts.tolist() == [46, 2]  # of 48 tokens two are the model's own
    assert words.spans[-1].tolist() == [7, 11]


def test_cut_texts_are_counted_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = shutil.copytree(toys.bert(), tmp_path / "model")
    with caplog.at_level(logging.WARNING, "demur"):
        for _ in range(2):
            Encoder(str(folder), max_length=4).embed(["the ship sailed round", "the ship", "the the the"])
    assert [record.getMessage() for record in caplog.records] == [
        f"the encoder {folder} read only the first 4 tokens of 2 of 3 texts; max_length=48 reads more"
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING, "demur"):  # words in context say so, too
        Encoder(str(folder), max_length=3).tokens(["the ship sailed round", "ship", "ship"], words="all")
    assert [record.getMessage() for record in caplog.records] == [
        f"the encoder {folder} read only the first 3 tokens of 1 of 3 texts; "
        "split longer texts to have all read"
    ]
    same = Encoder(str(folder), max_length=4).embed(["the ship sailed round", "the ship"])
    assert same[0].tolist() == same[1].tolist()


def test_a_cut_text_that_comes_alone_is_told_without_its_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    encoder = Encoder(str(shutil.copytree(toys.bert(), tmp_path / "model")), max_length=4)
    with caplog.at_level(logging.WARNING, "demur"):
        encoder.embed(["the ship  sailed round"])
        encoder.embed(["the ship the ship"])
        encoder.embed(["the ship  sailed round"])
    told = [record.getMessage().partition(" tokens of ")[2].partition(";")[0] for record in caplog.records]
    assert told == ["a text of 22 characters", "a text of 17 characters"]
    assert "ship" not in caplog.text.replace(str(encoder.model), "")


@pytest.mark.parametrize("length", [1, 2, 49])
def test_lengths_that_no_text_fits_are_one_line(length: int) -> None:
    with pytest.raises(UsageError, match=f"max_length={length} does not suit .* takes 3 to 48 tokens"):
        Encoder(toys.bert(), max_length=length).embed(["ship"])


def test_words_are_the_mean_of_their_pieces() -> None:
    encoder = Encoder(toys.bert())
    text = "The SHIP, quested round!"
    found = encoder.tokens([text, "", text], "all")
    assert found.words == ("the", "ship", "quested", "round") * 2
    assert found.counts.tolist() == [4, 0, 4]
    assert [text[start:end] for start, end in found.spans[:4]] == ["The", "SHIP", "quested", "round"]
    network = encoder._network()
    (encoding,) = network.encodings([text], 48)
    assert encoding.tokens == ["[CLS]", "the", "ship", ",", "quest", "##ed", "round", "!", "[SEP]"]
    with torch.inference_mode():
        hidden = network.network(input_ids=torch.tensor([encoding.ids])).last_hidden_state[0].numpy()
    expected = [hidden[1], hidden[2], (hidden[4] + hidden[5]) / 2, hidden[6]]
    assert np.allclose(found.vectors[:4], expected, atol=1e-5)
    content = encoder.tokens([text])
    assert content.words == ("ship", "quested", "round")
    assert np.allclose(content.vectors, found.vectors[1:4], atol=0)
    assert encoder.tokens([]).vectors.shape == (0, 16)
    with pytest.raises(UsageError, match="must be content or all"):
        encoder.tokens([text], "some")


def test_words_where_a_piece_holds_several_of_them() -> None:
    """A tokeniser that splits at spaces alone: what stands within one piece shares its vector."""
    from demur.embedders.encoders.contextual_words import _shared

    pieces, words = np.array([[0, 8], [9, 12], [12, 15]]), np.array([[0, 3], [4, 8], [9, 15], [20, 22]])
    piece, word = _shared(pieces, words)
    assert list(zip(piece.tolist(), word.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 2), (2, 2)]
    none = np.empty((0, 2), np.int64)
    assert _shared(pieces, none)[0].tolist() == [] and _shared(none, words)[1].tolist() == []


def test_prompts_stand_before_every_text(model: Path) -> None:
    plain = Encoder(str(model))
    asked = Encoder(str(model), prompt="the: ")
    assert np.allclose(asked.embed(["ship"]), plain.embed(["the: ship"]), atol=1e-6)
    assert not asked.embed([" "]).any(), "a text of nothing stays one"
    found = asked.tokens(["a ship"])
    assert found.words == ("ship",) and found.spans.tolist() == [[2, 6]]
    whole = plain.tokens(["the: a ship"])
    assert np.allclose(found.vectors, whole.vectors, atol=1e-5)
    said = {"prompts": {"query": "round: ", "document": ""}, "default_prompt_name": "query"}
    shutil.copytree(toys.bert("mean_tokens"), model, dirs_exist_ok=True)
    (model / "config_sentence_transformers.json").write_text(json.dumps(said), "utf-8")
    assert plain.how.prompt_for("passage", "query") == "round: "
    assert np.allclose(plain.embed(["ship"]), Encoder(toys.bert()).embed(["round: ship"]), atol=1e-6)


def test_it_travels_and_is_spelled(encoder: Encoder) -> None:
    other = pickle.loads(pickle.dumps(encoder))
    assert other == encoder == embedder(encoder.spec)
    assert (other.embed(TEXTS) == encoder.embed(TEXTS)).all()


def test_half_precision_is_near() -> None:
    exact, half = (Encoder(toys.bert(), precision=name).embed(TEXTS) for name in ("fp32", "bf16"))
    assert half.dtype == np.float32
    assert 0 < np.abs(exact - half).max() < 0.1
