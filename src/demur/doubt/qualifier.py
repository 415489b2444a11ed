"""Confidence in a ranker's top candidate from a reader that looks for the answer in it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from demur import store
from demur.doubt.base import Averaged, doubt
from demur.doubt.doubt_folder import PLACE, TrainedDoubt, open_doubt
from demur.doubt.observing import observe
from demur.errors import UsageError
from demur.reading.base import Reader
from demur.reading.opening import reader as resolve_reader
from demur.risk.qualifiers.base import Qualifier
from demur.risk.qualifiers.scored import Scored
from demur.specs import Setting, Spec, listed
from demur.types import FloatArray, Pool


@dataclass(frozen=True)
class Reading(Qualifier):
    """The confidence of a reader in its quote from the top candidate; for any ranker.

    `reader` is a folder or a Hugging Face id. `by` is a doubt without training, such as ``proba``, or
    ``kept``: the one in the reader's folder. A candidate with nothing to quote has the lowest; with `quoting`
    also one in which the reader itself finds no answer.

    By ``averaged``, the scores of `others` for the same words are averaged in: folders of snapshots of the
    reader (AES) or of others like it (ENS), separated by semicolons; and so many `passes` of the reader with
    dropout.
    """

    name: ClassVar[str] = "reading"
    tolerance: ClassVar[float] = 1e-5
    """By how much a number may change with what else is read at the same time."""
    reader: str = ""
    by: str = "proba"
    of: str = ""
    """A hash of the reader and its doubt, which a gate keeps: when they change, it must be made anew."""
    quoting: bool = False
    others: str = ""
    passes: int = 0

    def __post_init__(self) -> None:
        averages = self.by != "kept" and isinstance(doubt(self.by), Averaged)
        if self.passes < 0 or averages != bool(self.others or self.passes):
            what = 'by=averaged goes with others, such as others="folder-1; folder-2", or with passes=10'
            raise UsageError(f"{what}, and these with it; set both, or neither")
        if self.by != "kept" and doubt(self.by).needs_fitting:
            raise UsageError(
                f"by={self.by} must be trained first; save it in the reader's folder, and write by=kept"
            )

    @property
    def spec(self) -> str:
        """The spelling that builds this again, with the hash of what it asks."""
        of = self.of or (self._asked if self.reader else "")
        said: dict[str, Setting] = {"reader": self.reader, "by": self.by, "of": of}
        more: dict[str, Setting] = {"quoting": self.quoting, "others": self.others, "passes": self.passes}
        return str(Spec(self.name, said | {name: value for name, value in more.items() if value}))

    @property
    def _asked(self) -> str:
        reader, kept = opened_by(self.reader, self.by)
        asked = " ".join([reader.fingerprint, kept.fingerprint, *(each.fingerprint for each in self._others)])
        return hashlib.sha256(asked.encode()).hexdigest()[:16]

    @property
    def _others(self) -> list[Reader]:
        return [opened_by(spec, "proba")[0] for spec in listed(self.others)]

    def confidence_of(self, pools: Sequence[Pool], scored: Scored) -> FloatArray:
        """What the doubt says of each top candidate; of equally good ones, the least."""
        if not self.reader:
            raise UsageError("reading needs a reader; write reading(reader=FOLDER)")
        if self.of not in ("", self._asked):
            raise UsageError(f"the reader {self.reader} or its doubt has changed; calibrate the gate again")
        reader, kept = opened_by(self.reader, self.by)
        firsts = [
            (pool, int(at) - int(start))
            for pool, start, size in zip(pools, scored.first, scored.sizes, strict=True)
            for at in scored.order[start : start + size][scored.below[start : start + size] == 0]
        ]
        read = [Pool(pool.id, pool.question, (pool.candidates[at],)) for pool, at in firsts]
        found = np.full(len(scored.scores), -np.inf)
        places = scored.order[scored.below == 0]
        seen = observe(reader, read, kept.probes)
        others = [observe(each, read, fixed=seen) for each in self._others]
        others += [observe(reader, read, fixed=seen, dropout=number) for number in range(self.passes)]
        confidences = kept.doubt.confidence_of(seen, others)
        confidences = np.where(seen.first > 0, confidences, kept.doubt.lowest)
        found[places] = np.where(seen.says, confidences, -np.inf) if self.quoting else confidences
        return scored.of_top(found)


def opened_by(spec: str, by: str) -> tuple[Reader, TrainedDoubt]:
    """The reader and its doubt; opened again only when what lies in their folders has changed."""
    folders = Path(spec), Path(spec) / PLACE
    files = [folder / store.FACTS for folder in folders]
    return _opened(spec, by, tuple(file.stat().st_mtime_ns if file.is_file() else 0 for file in files))


@lru_cache(maxsize=8)
def _opened(spec: str, by: str, written: tuple[int, ...]) -> tuple[Reader, TrainedDoubt]:
    reader = resolve_reader(spec)
    return reader, open_doubt(reader) if by == "kept" else TrainedDoubt(doubt(by))
