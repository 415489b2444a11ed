"""Scores and labels of many pools, side by side in flat arrays, from pools or from a run and its qrels."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from demur.errors import DataError, UsageError
from demur.types import FloatArray, IntArray, Pool

log = logging.getLogger(__name__)

Run = Mapping[str, Mapping[str, float]]
Qrels = Mapping[str, Mapping[str, int]]


class Ideal(NamedTuple):
    """The positive labels of all pools as a perfect ranker would order them."""

    pool: IntArray
    label: IntArray
    rank: IntArray


@dataclass(frozen=True, eq=False)
class Judged:
    """Pool `p` holds the items from `bounds[p]` to `bounds[p + 1]`, in the order in which they came.

    A judged document that nobody retrieved is `unranked`: it counts as an answer that could have been
    found, and earns nothing. An unjudged candidate has label 0.
    """

    ids: tuple[str, ...]
    bounds: IntArray
    scores: FloatArray
    labels: IntArray
    documents: list[str]
    unranked_pool: IntArray
    unranked_label: IntArray
    absent: NDArray[np.bool_]
    """Pools of the qrels that the run does not know."""
    unjudged: int = 0
    """Pools left out because not one of their candidates has a label."""

    @classmethod
    def of_pools(cls, pools: Iterable[Pool], scores: Iterable[Any]) -> Judged:
        """Pools with one array of scores each."""
        flat = _Flat()
        unjudged = 0
        seen: set[str] = set()
        remaining = iter(scores)
        for pool in pools:
            if (got := next(remaining, None)) is None:
                raise UsageError(f"no scores for pool {pool.id!r} and after; give one array for each pool")
            if pool.id in seen:
                raise DataError(f"two pools have the id {pool.id!r}; give each its own")
            seen.add(pool.id)
            got = _one_array(got, pool)
            labels = [candidate.label for candidate in pool.candidates]
            if labels and all(label is None for label in labels):
                unjudged += 1
                continue
            flat.ids.append(pool.id)
            flat.sizes.append(len(labels))
            flat.scores.append(got)
            flat.labels.extend([label or 0 for label in labels])
            flat.documents.extend([candidate.id for candidate in pool.candidates])
        if next(remaining, None) is not None:
            raise UsageError(f"more arrays of scores than the {len(seen)} pools; give one array for each")
        if not flat.ids:
            what = "the data have no pools" if not seen else "no candidate has a label"
            raise DataError(f"{what}, so nothing can be measured; evaluate on labelled pools")
        return flat.judged(unjudged)

    @classmethod
    def of_run(cls, run: Run, qrels: Qrels) -> Judged:
        """What a run found for the judged queries; queries without judgements are left out."""
        flat = _Flat()
        for query, grades in qrels.items():
            if not grades:
                continue
            found = run.get(query)
            flat.absent.append(found is None)
            pool = len(flat.ids)
            flat.ids.append(query)
            found = found or {}
            flat.sizes.append(len(found))
            flat.scores.append(np.fromiter(found.values(), np.float64, len(found)))
            flat.labels.extend([grades.get(document, 0) for document in found])
            flat.documents.extend(found)
            missed = [grade for document, grade in grades.items() if document not in found]
            flat.unranked_pool.extend([pool] * len(missed))
            flat.unranked_label.extend(missed)
        if not flat.ids:
            raise DataError("no query is judged, so nothing can be measured; check the file of qrels")
        if all(flat.absent):
            raise DataError(
                f"none of the run's {len(run)} queries is among the {len(flat.ids)} judged ones; "
                "check that run and qrels belong together"
            )
        if foreign := sum(1 for query in run if not qrels.get(query)):
            log.warning("%d queries of the run have no judgements and are left out", foreign)
        return flat.judged(sum(1 for grades in qrels.values() if not grades))

    @cached_property
    def pool(self) -> IntArray:
        """For each item, the number of its pool."""
        return np.repeat(np.arange(len(self.ids)), np.diff(self.bounds))

    @cached_property
    def ideal(self) -> Ideal:
        """The positive labels of each pool, highest first; one sort of numbers that hold pool and label."""
        pool = np.concatenate((self.pool, self.unranked_pool))
        label = np.concatenate((self.labels, self.unranked_label))
        pool, label = pool[label > 0], label[label > 0]
        base = int(label.max(initial=0)) + 1
        pool, below = np.divmod(np.sort(pool * base + (base - 1 - label)), base)
        first = np.searchsorted(pool, np.arange(len(self.ids)))
        return Ideal(pool, base - 1 - below, np.arange(len(pool)) - first[pool])

    @cached_property
    def fingerprint(self) -> str:
        """A hash of pool ids and positive labels: equal exactly if reports can be joined pool by pool."""
        labels = self.ideal.label.tolist()
        ends = np.searchsorted(self.ideal.pool, np.arange(len(self.ids) + 1)).tolist()
        lines = sorted(f"{name}\t{labels[ends[p] : ends[p + 1]]}" for p, name in enumerate(self.ids))
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass
class _Flat:
    """What grows while pools are read."""

    ids: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    scores: list[FloatArray] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    unranked_pool: list[int] = field(default_factory=list)
    unranked_label: list[int] = field(default_factory=list)
    absent: list[bool] = field(default_factory=list)

    def judged(self, unjudged: int) -> Judged:
        bounds = np.concatenate(([0], np.cumsum(self.sizes, dtype=np.int64)))
        scores = np.concatenate(self.scores) if self.scores else np.empty(0)
        if (bad := np.isnan(scores)).any():
            place = int(np.argmax(bad))
            name = self.ids[int(np.searchsorted(bounds, place, side="right")) - 1]
            raise UsageError(
                f"the score of candidate {self.documents[place]!r} in pool {name!r} is not a number (NaN), "
                "so it has no rank; mend the ranker or the file of scores"
            )
        return Judged(
            ids=tuple(self.ids),
            bounds=bounds,
            scores=scores,
            labels=np.array(self.labels, np.int64),
            documents=self.documents,
            unranked_pool=np.array(self.unranked_pool, np.int64),
            unranked_label=np.array(self.unranked_label, np.int64),
            absent=np.array(self.absent or [False] * len(self.ids), np.bool_),
            unjudged=unjudged,
        )


def _one_array(scores: Any, pool: Pool) -> FloatArray:
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise UsageError(f"the scores of pool {pool.id!r} are not numbers") from None
    if array.shape != (len(pool),):
        shape = f"{len(array)} scores" if array.ndim == 1 else f"scores of shape {array.shape}"
        raise UsageError(f"pool {pool.id!r} has {len(pool)} candidates but {shape}; give one score for each")
    return array
