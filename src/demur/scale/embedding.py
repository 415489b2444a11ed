"""Vectors of a knowledge base made by many workers of Ray: the same that one process makes of the parts."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from demur import processor
from demur.asking.meaning.finding import maker
from demur.embedders.base import Vectors
from demur.errors import DemurError
from demur.scale.cluster import STARTS, Cluster
from demur.scale.work import why

_AHEAD = 2  # parts that wait for each worker


class EmbedsOnRay:
    """The encoder that comes with demur, in each worker; workers see texts, and no files."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.fingerprint = cluster, maker().fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return next(self.embed_many(iter([texts])))

    def embed_many(self, parts: Iterator[Sequence[str]]) -> Iterator[Vectors]:
        """The vectors of each part, in the order of the parts; some are read ahead."""
        workers = self.cluster.begin()
        kind = self.cluster.ray.remote(num_cpus=1, max_restarts=STARTS, max_task_retries=STARTS)(Maker)
        makers = [kind.remote(self.fingerprint) for _ in range(workers)]
        waiting: deque[Any] = deque()
        for number, texts in enumerate(parts):
            waiting.append(makers[number % workers].embed.remote(list(texts)))
            if len(waiting) >= _AHEAD * workers:
                yield self._got(waiting.popleft())
        while waiting:
            yield self._got(waiting.popleft())

    def _got(self, vectors: Any) -> Vectors:
        try:
            found: Vectors = self.cluster.ray.get(vectors)
        except Exception as error:  # Ray has many, and they tell whole stacks
            cause = getattr(error, "cause", None)
            said = str(cause) if isinstance(cause, DemurError) else why(error)
            raise DemurError(f"Ray stopped making vectors ({said}); run the same again to resume") from None
        return found


class Maker:
    """An actor that loads the encoder once."""

    def __init__(self, fingerprint: str) -> None:
        os.environ[processor.THREADS] = "1"  # there is a worker for each core
        self.fingerprint, self.encoder = fingerprint, maker()

    def embed(self, texts: list[str]) -> Vectors:
        """One row per text."""
        if self.encoder.fingerprint != self.fingerprint:
            what = "a machine of the cluster has another encoder, or another version of demur"
            raise DemurError(f"{what}; install the same version on all of them")
        return self.encoder.embed(texts)
