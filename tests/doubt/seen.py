"""Observations made up for tests."""

from __future__ import annotations

import numpy as np

from demur.doubt.observed import Observed
from demur.types import FloatArray


def log_softmax(values: FloatArray) -> FloatArray:
    return np.asarray(values - np.log(np.exp(values).sum(axis=0)))


def made(count: int, layers: int = 3, seed: int = 0) -> tuple[Observed, np.ndarray]:
    """Questions with one clear span in every layer, which are right, and with two that change: wrong."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(3, 25, count)
    right = generator.uniform(size=count) < 0.6
    says = generator.uniform(size=count) < 0.9
    starts, ends, pictures, first, last = [], [], [], [], []
    for size, good in zip(sizes.tolist(), right.tolist(), strict=True):
        start = int(generator.integers(1, size))
        end = int(generator.integers(start, min(size, start + 3)))
        scores = generator.normal(size=(size, 2, layers)) * 0.3
        for layer in range(layers):
            moved = 0 if good or layer == layers - 1 else int(generator.integers(size))
            scores[(start + moved) % size, 0, layer] += 4.0 if good else 2.0
            scores[(end + moved) % size, 1, layer] += 4.0 if good else 2.0
        probable = np.exp(log_softmax(scores))
        noise = generator.normal(size=(size, 2))
        logs = log_softmax(noise + 2.0 * (np.arange(size)[:, None] == [start, end]))
        starts.append(logs[:, 0])
        ends.append(logs[:, 1])
        pictures.append(probable)
        first.append(start)
        last.append(end)
    bounds = np.append(0, np.cumsum(sizes))
    return (
        Observed(
            ids=tuple(f"q{n}" for n in range(count)),
            texts=tuple("ape" if each else "bee" for each in right),
            says=says,
            window=np.zeros(count, np.int64),
            first=np.array(first),
            last=np.array(last),
            odds=np.where(says, -1.0, 1.0),
            null=generator.uniform(size=count) / 2,
            second=generator.uniform(size=count) / 10,
            wording=generator.uniform(size=count),
            longest=np.full(count, 4),
            bounds=bounds,
            starts=np.concatenate(starts).astype(np.float32),
            ends=np.concatenate(ends).astype(np.float32),
            fair=np.ones(bounds[-1], np.bool_),
            pictures=np.concatenate(pictures).astype(np.float16),
        ),
        right,
    )
