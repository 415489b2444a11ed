"""Word vectors of texts at hand: word2vec's skip-gram or CBOW, by gensim; by counting; or an encoder's.

The defaults are the scarce-annotations paper's: skip-gram, 300 wide, a window of 8 words, words that occur
ten times or more. With one thread the same texts give the same vectors; with more, training is faster and its
result differs a little each time.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from demur.embedders.base import Vectors
from demur.embedders.word_vectors.embedder import words_of
from demur.embedders.word_vectors.tables import Table
from demur.embedders.word_vectors.word2vec import WIDEST
from demur.errors import DataError, UsageError, require

Meter = Callable[[str, str, int | None], AbstractContextManager[Callable[[int], None]]]

_CHOICES = {
    "model": ("skipgram", "cbow", "ppmi", "encoder"),
    "clean": ("paper", "plain"),
    "stopwords": ("drop", "keep"),
}
_LONGEST = 1000  # words: gensim would silently drop what a text has beyond 10,000


def no_meter(label: str, unit: str, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    """A meter that shows nothing."""
    return nullcontext(lambda advance: None)


@dataclass(frozen=True)
class Training:
    """How word vectors are trained; `clean` and `stopwords` say what is a word, as where they are used."""

    width: int = 300
    window: int = 8
    min_count: int = 10
    epochs: int = 10
    seed: int = 0
    model: str = "skipgram"
    clean: str = "paper"
    stopwords: str = "drop"

    def __post_init__(self) -> None:
        for name in ("width", "window", "min_count", "epochs"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name}={getattr(self, name)} of word vectors must be at least 1")
        if self.width > WIDEST:
            raise UsageError(f"width={self.width} of word vectors must be at most {WIDEST:,}")
        for name, known in _CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise UsageError(f"{name}={value} of word vectors must be one of {', '.join(known)}")


def train(
    texts: Iterable[str],
    how: Training | None = None,
    *,
    threads: int = 1,
    made: dict[str, Any] | None = None,
    meter: Meter = no_meter,
) -> Table:
    """The vectors that these texts teach, each different text once; the most frequent word comes first."""
    how = how or Training()
    learn = {"ppmi": _count, "encoder": _encode}.get(how.model, _word2vec)
    if learn is _word2vec:
        require("gensim", extra="vectors")  # told before the texts are read, which can take long
    with meter("reading", "texts", None) as advance:
        lists, facts = _read(texts, how, advance)
    occurring = Counter(word for words in lists for word in words)
    if not any(count >= how.min_count for count in occurring.values()):
        fix = "give more text, or a lower minimum count"
        raise DataError(f"no word occurs {how.min_count} times in {facts['texts']:,} texts", fix=fix)
    kept = [(word, count) for word, count in occurring.most_common() if count >= how.min_count]
    words = [word for word, _ in kept]
    vectors = learn(lists, dict(kept), how, threads, meter)
    all_facts = {**dataclasses.asdict(how), "threads": threads, **facts, **(made or {})}
    return Table(words, vectors, np.array([count for _, count in kept], np.int64), all_facts)


def _word2vec(
    lists: Sequence[list[str]], counts: Mapping[str, int], how: Training, threads: int, meter: Meter
) -> Vectors:
    word2vec = require("gensim.models.word2vec", extra="vectors")
    settings = {"vector_size": how.width, "window": how.window, "min_count": how.min_count, "seed": how.seed}
    with _quiet(), meter("training", "texts", len(lists) * how.epochs) as advance:
        model = word2vec.Word2Vec(**settings, sg=how.model == "skipgram", workers=threads)
        model.build_vocab_from_freq(dict(counts), corpus_count=len(lists))
        model.train(
            _Told(lists, advance),
            total_examples=len(lists),
            total_words=sum(map(len, lists)),
            epochs=how.epochs,
        )
    vectors: Vectors = model.wv.vectors[[model.wv.key_to_index[word] for word in counts]]
    return vectors


def _count(
    lists: Sequence[list[str]], counts: Mapping[str, int], how: Training, threads: int, meter: Meter
) -> Vectors:
    from demur.embedders.word_vectors.counting import vectors_by_counting

    rows = {word: row for row, word in enumerate(counts)}
    numbered = [[rows[word] for word in words if word in rows] for words in lists]
    with meter("counting", "texts", len(lists)) as advance:
        return vectors_by_counting(numbered, np.array([*counts.values()]), how.width, how.window, advance)


def _encode(
    lists: Sequence[list[str]], counts: Mapping[str, int], how: Training, threads: int, meter: Meter
) -> Vectors:
    from demur.embedders.word_vectors.by_encoder import vectors_by_encoder

    with meter("encoding", "words", len(counts)) as advance:
        return vectors_by_encoder(list(counts), how.width, advance)


def _read(
    texts: Iterable[str], how: Training, advance: Callable[[int], None]
) -> tuple[list[list[str]], dict[str, int]]:
    """The words of the different texts, long ones in parts; and how many texts and words there are."""
    lists: list[list[str]] = []
    different: set[bytes] = set()
    for text in texts:
        advance(1)
        known_by = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if known_by in different:
            continue
        different.add(known_by)
        words = [sys.intern(word) for word in words_of(text, how.clean, how.stopwords)]  # each held once
        lists += [words[at : at + _LONGEST] for at in range(0, len(words), _LONGEST)]
    return lists, {"texts": len(different), "words": sum(map(len, lists))}


class _Told:
    """Lists of words that tell how far they have been read."""

    def __init__(self, lists: Sequence[list[str]], advance: Callable[[int], None]) -> None:
        self._lists, self._advance = lists, advance

    def __iter__(self) -> Iterator[list[str]]:
        for words in self._lists:
            yield words
            self._advance(1)


@contextmanager
def _quiet() -> Iterator[None]:
    """A block in which gensim does not warn of small data."""
    logger = logging.getLogger("gensim")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
