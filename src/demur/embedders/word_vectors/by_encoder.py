"""Word vectors by a sentence encoder, which reads each word as a text: what it has learnt, in a table.

Such tables are known as static embeddings; the words' vectors are centred and turned to their strongest
directions, as model2vec does. The texts say only which words are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from demur.embedders.base import Vectors
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import PACKAGED
from demur.errors import UsageError

_SPREAD = 0.4  # the deviation of a vector's numbers, about that of GloVe's, which nets are used to
_TOGETHER = 2048  # words


def vectors_by_encoder(
    words: Sequence[str], width: int, advance: Callable[[int], None] = lambda words: None
) -> Vectors:
    """A vector for each word, by the encoder that comes with demur."""
    encoder = Encoder(PACKAGED)
    if width > encoder.width:
        raise UsageError(
            f"width={width} is more than the {encoder.width} numbers that the encoder gives; choose fewer"
        )
    found = np.empty((len(words), encoder.width))
    for at in range(0, len(words), _TOGETHER):
        some = words[at : at + _TOGETHER]
        found[at : at + len(some)] = encoder.embed(some)
        advance(len(some))
    found -= found.mean(0)
    axes = np.linalg.eigh(found.T @ found)[1][:, ::-1][:, :width]  # strongest first
    most = axes[np.abs(axes).argmax(0), np.arange(width)]
    turned = found @ (axes * np.sign(most))
    vectors: Vectors = (turned * (_SPREAD / max(turned.std(), 1e-12))).astype(np.float32)
    return vectors
