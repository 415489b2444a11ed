"""Scores and labels of many pools, side by side in flat arrays, from pools or from a run and its qrels."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from demur.errors import DataError, UsageError, count_of
from demur.types import FloatArray, IntArray, Pool

log = logging.getLogger(__name__)

HIGHEST = 2**31 - 1  # labels: pools times labels must fit into 64 bits
FIRSTS = 100  # candidates of a pool whose scores a report holds, and all that are as high as the first

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
    judgements: Sequence[Mapping[str, int | None]] = ()
    """For each pool, the label of each candidate; None where nobody has judged it."""

    @classmethod
    def of_pools(cls, pools: Iterable[Pool], scores: Iterable[Any], source: str | None = None) -> Judged:
        """Pools with one array of scores each; the source is where they come from, for error messages."""
        flat = _Flat()
        unjudged = 0
        seen: set[str] = set()
        remaining = iter(scores)
        for pool in pools:
            if (got := next(remaining, None)) is None:
                raise UsageError(f"no scores for pool {pool.id!r} and after; give one array for each pool")
            if pool.id in seen:
                raise DataError(
                    f"two pools have the id {pool.id!r}", path=source or None, fix="give each its own"
                )
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
            documents = [candidate.id for candidate in pool.candidates]
            flat.documents.extend(documents)
            flat.judgements.append(dict(zip(documents, labels, strict=True)))
        if next(remaining, None) is not None:
            raise UsageError(
                f"more arrays of scores than the {count_of(len(seen), 'pool')}; give one array for each"
            )
        if not flat.ids:
            what = "the data have no pools" if not seen else "no candidate has a label"
            fix = "evaluate on labelled pools"
            raise DataError(f"{what}, so nothing can be measured", path=source or None, fix=fix)
        return flat.as_judged(unjudged, source)

    @classmethod
    def of_run(cls, run: Run, qrels: Qrels, source: str | None = None) -> Judged:
        """What a run found for the judged queries; those without judgements, from `source`, are left out."""
        flat = _Flat()
        for query, grades in qrels.items():
            if not grades:
                continue
            found = run.get(query)
            flat.absent.append(found is None)
            pool = len(flat.ids)
            flat.ids.append(query)
            flat.judgements.append(grades)
            found = found or {}
            flat.sizes.append(len(found))
            flat.scores.append(np.fromiter(found.values(), np.float64, len(found)))
            flat.labels.extend([grades.get(document, 0) for document in found])
            flat.documents.extend(found)
            missed = [grade for document, grade in grades.items() if document not in found]
            flat.unranked_pool.extend([pool] * len(missed))
            flat.unranked_label.extend(missed)
        if not flat.ids:
            fix = "check the file of qrels"
            raise DataError("no query is judged, so nothing can be measured", path=source or None, fix=fix)
        if all(flat.absent):
            raise DataError(
                f"none of the run's {len(run)} queries is among the {len(flat.ids)} judged ones; "
                "check that run and qrels belong together"
            )
        if foreign := sum(1 for query in run if not qrels.get(query)):
            which = "1 query of the run has" if foreign == 1 else f"{foreign:,} queries of the run have"
            log.warning("%s no judgements; left out", which)
        return flat.as_judged(sum(1 for grades in qrels.values() if not grades), source)

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
    def fingerprints(self) -> tuple[str, ...]:
        """For each pool a hash of what was judged, ids and labels: reports are comparable where it is equal.

        What nobody has judged is no part of it, so that pools and runs over them have the same.
        """
        return tuple(
            _hash(sorted((id, int(mark)) for id, mark in pool.items() if mark is not None))
            for pool in self.judgements
        )


@dataclass(frozen=True, eq=False)
class Firsts(Sequence[Mapping[str, float]]):
    """For each of some pools the scores of its first candidates, best first, made when they are asked for."""

    judged: Judged
    places: IntArray

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, at: int) -> dict[str, float]: ...
    @overload
    def __getitem__(self, at: slice) -> list[dict[str, float]]: ...
    def __getitem__(self, at: int | slice) -> dict[str, float] | list[dict[str, float]]:
        if isinstance(at, slice):
            return [self[n] for n in range(len(self))[at]]
        start, end = self.judged.bounds[self.places[at] :][:2].tolist()
        scores = np.nan_to_num(self.judged.scores[start:end])  # JSON has no infinity
        many = max(FIRSTS, int((scores == scores.max(initial=-np.inf)).sum()))
        order = np.argsort(-scores, kind="stable")[:many].tolist()
        return {self.judged.documents[start + n]: float(scores[n]) for n in order}


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
    judgements: list[Mapping[str, int | None]] = field(default_factory=list)

    def as_judged(self, unjudged: int, source: str | None) -> Judged:
        bounds = np.concatenate(([0], np.cumsum(self.sizes, dtype=np.int64)))
        scores = np.concatenate(self.scores) if self.scores else np.empty(0)
        if (bad := np.isnan(scores)).any():
            place = int(np.argmax(bad))
            name = self.ids[int(np.searchsorted(bounds, place, side="right")) - 1]
            what = f"the score of candidate {self.documents[place]!r} in pool {name!r} is not a number (NaN)"
            fix = "correct the ranker or the file of scores"
            raise DataError(f"{what}, so it has no rank", path=source or None, fix=fix)
        given: tuple[list[Any], ...] = self.labels, self.unranked_label
        for marks in given:
            if marks and np.array(marks).dtype.kind not in "iubO":
                odd = next(each for each in marks if not isinstance(each, int | np.integer))
                fix = "write 1 for right, 0 for wrong, or grades"
                raise DataError(f"a label is {odd!r}, not a whole number", path=source or None, fix=fix)
            if marks and max(-min(marks), max(marks)) > HIGHEST:
                extreme = max(marks, key=abs)
                what = f"a label is {str(extreme)[:30]}, beyond {HIGHEST:,}"
                raise DataError(what, path=source or None, fix="use small whole numbers, such as 0 to 4")
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
            judgements=self.judgements,
        )


def _hash(value: object) -> str:
    """Short, as there is one to a pool; `ascii` writes a value alike in all versions of Python."""
    return hashlib.blake2b(ascii(value).encode(), digest_size=4).hexdigest()


def _one_array(scores: Any, pool: Pool) -> FloatArray:
    try:
        array = np.asarray(scores)
        if array.dtype.kind not in "fiub" and any(isinstance(one, str | None) for one in array.flat):
            raise TypeError("a text or None, of which numpy would make numbers")
        array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise UsageError(
            f"the scores of pool {pool.id!r} are not numbers; give one number per candidate"
        ) from None
    if array.shape != (len(pool),):
        shape = f"{len(array)} scores" if array.ndim == 1 else f"scores of shape {array.shape}"
        raise UsageError(f"pool {pool.id!r} has {len(pool)} candidates but {shape}; give one score for each")
    return array
