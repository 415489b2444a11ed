"""A text as the mean of the vectors of its words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import ClassVar

import numpy as np

from demur import text
from demur.embedders.base import Embedder, Tokens, Vectors
from demur.embedders.word_vectors import cleaning
from demur.embedders.word_vectors.tables import Table, table
from demur.errors import MissingData, UsageError
from demur.specs import Spec
from demur.types import FloatArray

NAMED = {
    "google-news": "vectors/google-news-8000x300.npz",
    "glove": "vectors/glove-6B-50d-8453.txt.gz",
}
"""Vectors that have a name: files below the data folder."""

CHOICES = {"weights": ("none", "idf", "sif"), "clean": ("paper", "plain"), "stopwords": ("drop", "keep")}
_SIF = 1e-3  # the constant of Arora and others (2017)


@dataclass(frozen=True)
class WordVectors(Embedder):
    """The mean of the vectors of a text's words, each as often as it occurs; unknown words are ignored.

    `vectors` names a file, or is a name such as glove. `weights`: ``none``; ``idf``, minus the logarithm of a
    word's frequency; ``sif``, 0.001 / (0.001 + frequency). Frequencies are those of the text that the vectors
    were trained on, or, if the file has none, follow Zipf's law in the order of its words. `clean`:
    ``paper``, the cleaning of the scarce-annotations paper, or ``plain``, `text.tokenize`.
    """

    name: ClassVar[str] = "words"
    vectors: str = ""
    weights: str = "none"
    clean: str = "paper"
    stopwords: str = "drop"

    def __post_init__(self) -> None:
        for setting, known in CHOICES.items():
            if (value := getattr(self, setting)) not in known:
                raise UsageError(f"{setting}={value} of word vectors must be one of {', '.join(known)}")
        if not self.vectors:
            raise UsageError(
                "word vectors need a file: train one with demur vectors train FILES -o OUT.safetensors and "
                f"give it as vectors=OUT.safetensors, or name one of {', '.join(NAMED)}"
            )

    @property
    def table(self) -> Table:
        """The vectors: read when first needed."""
        return table(located(self.vectors))

    @property
    def width(self) -> int:
        """How many numbers a vector has."""
        return self.table.width

    @property
    def fingerprint(self) -> str:
        """A hash of the settings and of the vectors, wherever they lie."""
        settings = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "vectors"}
        known_by = f"{Spec(self.name, settings)} {self.table.fingerprint}"
        return hashlib.sha256(known_by.encode()).hexdigest()[:16]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, zeros where no word is known."""
        from scipy.sparse import csr_array

        places = {text_: place for place, text_ in enumerate(dict.fromkeys(texts))}
        lists = [words_of(text_, self.clean, self.stopwords) for text_ in places]
        rows = self.table.find([word for words in lists for word in words])
        known = rows >= 0
        texts_of = np.repeat(np.arange(len(lists)), [len(words) for words in lists])[known]
        used, columns = np.unique(rows[known], return_inverse=True)
        # As a sparse matrix, so that words of equal texts are added in one order, whatever else is embedded.
        shape = (len(lists), len(used))
        matrix = csr_array((self._weights()[rows[known]], (texts_of, columns)), shape=shape)
        matrix.sum_duplicates()
        sums = matrix @ self.table.vectors[used].astype(np.float64)
        weights = np.asarray(matrix.sum(axis=1), np.float64).reshape(-1, 1)
        sums /= np.where(weights > 0, weights, 1)
        return sums.astype(np.float32)[[places[text_] for text_ in texts]]

    def _weights(self) -> FloatArray:
        """The weight of each word of the table."""
        frequencies = self.table.frequencies
        if self.weights == "idf":
            return -np.log(frequencies)
        if self.weights == "sif":
            return _SIF / (_SIF + frequencies)
        return np.ones(len(frequencies))

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        """The words of each text that have a vector; ``content`` leaves out stop words, ``all`` does not."""
        if words not in ("content", "all"):
            raise UsageError(f"words={words} must be content or all")
        lists = {text_: self._spans(text_, words == "all") for text_ in dict.fromkeys(texts)}
        found = [one for text_ in texts for one in lists[text_]]
        rows = self.table.find([word for word, _, _ in found])
        known = np.flatnonzero(rows >= 0)
        texts_of = np.repeat(np.arange(len(texts)), [len(lists[text_]) for text_ in texts])
        spans = np.array([place for _, *place in found], np.int64).reshape(-1, 2)
        return Tokens(
            vectors=self.table.vectors[rows[known]],
            counts=np.bincount(texts_of[known], minlength=len(texts)),
            words=tuple(found[place][0] for place in known.tolist()),
            spans=spans[known],
        )

    def _spans(self, text_: str, keep: bool) -> list[tuple[str, int, int]]:
        if self.clean == "paper":
            return list(cleaning.clean_spans(text_, keep))
        return [found for found in text.token_spans(text_) if keep or found[0] not in text.STOPWORDS]


def words_of(text_: str, clean: str, stopwords: str) -> list[str]:
    """The words of a text, known or not, as the settings of these names say."""
    keep = stopwords == "keep"
    if clean == "paper":
        return cleaning.clean(text_, keep)
    found = text.tokenize(text_)
    return found if keep else text.content(found)


def located(vectors: str) -> Path:
    """Where the file of these vectors lies: named by its path, one of NAMED, or made for a dataset."""
    from demur.data import sources

    kind, _, name = vectors.partition(":")
    made = bool(name) and kind in ("specific", "encoder")
    if Path(vectors).exists() or not (made or vectors in NAMED):
        return Path(vectors)
    if made:
        from demur.embedders.word_vectors import dataset_vectors

        return dataset_vectors.vectors_named(name, kind)
    found = sources.find_file(NAMED[vectors])
    if found is None:
        where = "DEMUR_DATA is not set" if sources.root() is None else f"DEMUR_DATA is {sources.root()}"
        fix = "train vectors of your own with demur vectors train, or name a file of vectors"
        what = f"the vectors {vectors!r} need {NAMED[vectors]}, which is not here ({where})"
        raise MissingData(what, fix=fix)
    return found
