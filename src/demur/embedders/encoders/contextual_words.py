"""The words of texts with vectors that know their context: what a network makes of their pieces, averaged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from demur.embedders.base import Tokens, Vectors
from demur.embedders.encoders.network import Network
from demur.text import STOPWORDS, token_spans
from demur.types import IntArray

_TOGETHER = 2048  # texts held as tokens

Word = tuple[str, int, int]  # as it is compared, and where it stands in its text


def words_of(
    network: Network, texts: Sequence[str], length: int, keep_stopwords: bool, prompt: str
) -> tuple[Tokens, int]:
    """The words of texts that the network has seen, and how many texts were cut: what is behind has none.

    Words are demur's, whatever the network's own pieces of text are: a word's vector is the mean of the
    pieces that share a character with it.
    """
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    different = list(places)
    words: list[list[Word]] = []
    vectors: list[Vectors] = []
    cut = 0
    for start in range(0, len(different), _TOGETHER):
        for found, rows, whole in _words(network, different[start : start + _TOGETHER], length, prompt):
            cut += not whole
            kept = [n for n, (word, _, _) in enumerate(found) if keep_stopwords or word not in STOPWORDS]
            words.append([found[n] for n in kept])
            vectors.append(rows[kept])
    mine = [places[text] for text in texts]
    listed = [word for place in mine for word in words[place]]
    tokens = Tokens(
        vectors=np.concatenate([np.zeros((0, network.width), np.float32), *(vectors[p] for p in mine)]),
        counts=np.array([len(words[place]) for place in mine], np.int64),
        words=tuple(word for word, _, _ in listed),
        spans=np.array([(start, end) for _, start, end in listed], np.int64).reshape(-1, 2),
    )
    return tokens, cut


def _words(
    network: Network, texts: Sequence[str], length: int, prompt: str
) -> list[tuple[list[Word], Vectors, bool]]:
    """For each text its words that have a vector, the vectors, and whether the network saw all of it."""
    encodings = network.encodings([prompt + text for text in texts], length)
    nothing = np.zeros((0, network.width), np.float32)
    found: list[tuple[list[Word], Vectors, bool]] = [([], nothing, True)] * len(texts)
    for chosen, hidden, _ in network.outputs(encodings):
        pieces = hidden.cpu().numpy()
        for n, rows in zip(chosen, pieces, strict=True):
            mine, means = _pooled(list(token_spans(texts[n])), rows, encodings[n], len(prompt))
            found[n] = mine, means, not encodings[n].overflowing
    return found


def _pooled(words: list[Word], rows: Vectors, encoding: Any, shift: int) -> tuple[list[Word], Vectors]:
    """The words that have a piece, with the mean of their pieces."""
    places = np.array(encoding.offsets, np.int64).reshape(-1, 2) - shift
    own = (np.array(encoding.special_tokens_mask) == 0) & (places[:, 1] > places[:, 0])
    spans = np.array([(start, end) for _, start, end in words], np.int64).reshape(-1, 2)
    pieces, whose = _shared(places[own], spans)
    counts = np.bincount(whose, minlength=len(words))
    sums = np.zeros((len(words), rows.shape[1]))
    np.add.at(sums, whose, rows[: len(places)][own][pieces])
    seen = np.flatnonzero(counts)
    means = (sums[seen] / counts[seen, None]).astype(np.float32)
    return [words[place] for place in seen.tolist()], means


def _shared(pieces: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
    """The pairs of a piece and a word that share a character; words are in order and do not overlap."""
    first = np.searchsorted(words[:, 1], pieces[:, 0], side="right")
    behind = np.searchsorted(words[:, 0], pieces[:, 1], side="left")
    many = np.maximum(behind - first, 0)
    piece = np.repeat(np.arange(len(pieces)), many)
    start = np.repeat(np.cumsum(many) - many, many)
    return piece, first[piece] + np.arange(len(piece)) - start
