"""Word vectors by counting which words stand near which: no epochs, no chance, a minute in place of ten.

How much more often than by chance two words stand near each other (positive pointwise mutual information)
makes a large sparse matrix; its strongest directions are the vectors. Levy and Goldberg (2014) show that
skip-gram approximates the same; with Dagan (2015) they find counts no worse where there is little text, and
advise to smooth the chance of the nearby word by the power 3/4, as here. Near words weigh more than far ones,
and very frequent ones less, as in word2vec.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from demur.embedders.base import Vectors
from demur.types import FloatArray, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_FREQUENT = 1e-3  # words more frequent than this count less, as in word2vec
_SMOOTHING = 0.75
_STRENGTH = 0.25  # power of the singular values; chosen on development sets
_AT_ONCE = 1 << 21  # words


def vectors_by_counting(
    lists: Sequence[Sequence[int]],
    counts: IntArray,
    width: int,
    window: int,
    advance: Callable[[int], None] = lambda lists: None,
) -> Vectors:
    """A vector for each word, given the texts as lists of the words' numbers, and how often each occurs."""
    return directions(information(near(lists, len(counts), window, advance), counts), width)


def near(
    lists: Sequence[Sequence[int]],
    words: int,
    window: int,
    advance: Callable[[int], None] = lambda lists: None,
) -> csr_array:
    """How often each word stands within the window of each other one, near ones counting more."""
    from scipy.sparse import csr_array

    total = csr_array((words, words))
    start = 0
    while start < len(lists):
        end, size = start, 0
        while end < len(lists) and size < _AT_ONCE:
            size += len(lists[end])
            end += 1
        lengths = [len(one) for one in lists[start:end]]
        rows = np.fromiter((row for one in lists[start:end] for row in one), np.int64, size)
        text = np.repeat(np.arange(len(lengths)), lengths)
        for away in range(1, min(window, size - 1) + 1):
            together = text[:-away] == text[away:]
            pair = rows[:-away][together], rows[away:][together]
            weights = np.full(len(pair[0]), (window + 1 - away) / window)
            total = total + csr_array((weights, pair), shape=(words, words))
        advance(end - start)
        start = end
    return csr_array(total + total.T)


def information(pairs: csr_array, counts: IntArray) -> csr_array:
    """The positive pointwise mutual information of words that stand near each other."""
    from scipy.sparse import coo_array, csr_array

    cells = coo_array(pairs)
    row, column = cells.coords
    share = counts / counts.sum()
    kept = np.minimum(1, np.sqrt(_FREQUENT / share) + _FREQUENT / share)
    seen: FloatArray = cells.data * kept[row] * kept[column]
    of_word = np.bincount(row, seen, minlength=len(counts))
    smoothed = of_word**_SMOOTHING
    bits = np.log(seen * smoothed.sum() / (of_word[row] * smoothed[column]))
    positive = bits > 0
    where = row[positive], column[positive]
    return csr_array((bits[positive].astype(np.float32), where), shape=pairs.shape)


def directions(matrix: csr_array, width: int) -> Vectors:
    """The strongest directions of a matrix, the strongest first; zeros where it has fewer.

    A direction may point either way, and which is left to the processor. A net that learns from the vectors
    is another net then, so each points to where it reaches furthest. In double precision the numbers of all
    processors round to the same vectors, but for a last digit here and there.
    """
    from scipy.sparse.linalg import svds

    words = matrix.shape[0]
    exact = matrix.astype(np.float64)
    if words <= 2 * width:
        left, strength, _ = np.linalg.svd(exact.toarray(), full_matrices=False)
    else:
        left, strength, _ = svds(exact, k=width, v0=np.ones(words), return_singular_vectors="u")
    best = np.argsort(-strength, kind="stable")[:width]
    furthest = left[np.abs(left).argmax(0), np.arange(left.shape[1])]
    vectors = np.zeros((words, width), np.float32)
    vectors[:, : len(best)] = (left * np.sign(furthest))[:, best] * strength[best] ** _STRENGTH
    return vectors
