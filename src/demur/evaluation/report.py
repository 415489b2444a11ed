"""What an evaluation found: means with intervals, values per pool, and the convention behind them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demur.errors import DataError
from demur.evaluation.intervals import Estimate
from demur.evaluation.selective.answered import Answered
from demur.files import read_json, replacing
from demur.types import FloatArray


@dataclass(frozen=True, eq=False)
class Report:
    """Measures of one ranker on one set of pools. A value is NaN where a measure leaves a pool out.

    Measures over answers, such as AURC, have no value per pool; what they come from is in `answered`.
    """

    measures: dict[str, Estimate]
    convention: str
    skipped: int
    """Pools that every measure leaves out."""
    ids: tuple[str, ...]
    values: dict[str, FloatArray]
    answered: Answered | None = None
    """How sure and how wrong the answers are, if a measure asked for it."""
    ranker: str = ""
    data: str = ""
    labels: tuple[str, ...] = ()
    """For each pool, a hash of what was judged; empty in reports that do not say."""
    scores: Sequence[Mapping[str, float]] = ()
    """For each pool, the scores of its first 100 candidates; empty in reports that do not say."""
    confidence: float = 0.95
    seed: int = 0

    @property
    def pools(self) -> int:
        """How many pools were evaluated."""
        return len(self.ids)

    @property
    def counted(self) -> dict[str, int]:
        """How many pools each measure counts."""
        answers = 0 if self.answered is None else int(self.answered.predicted.sum())
        counted = {name: int((~np.isnan(values)).sum()) for name, values in self.values.items()}
        return {name: counted.get(name, answers) for name in self.measures}

    @property
    def per_pool(self) -> dict[str, dict[str, float | None]]:
        """The values of each pool; None where a measure leaves it out."""
        columns = [[None if value != value else value for value in v.tolist()] for v in self.values.values()]
        names = list(self.values)
        rows = zip(*columns, strict=True) if columns else [()] * len(self.ids)
        return {name: dict(zip(names, row, strict=True)) for name, row in zip(self.ids, rows, strict=True)}

    def to_json(self) -> dict[str, Any]:
        """The report as plain values, ready for a JSON file."""
        return {
            "measures": {name: asdict(estimate) for name, estimate in self.measures.items()},
            "convention": self.convention,
            "pools": self.pools,
            "skipped": self.skipped,
            "counted": self.counted,
            "ranker": self.ranker,
            "data": self.data,
            "labels": dict(zip(self.ids, self.labels, strict=False)),
            "confidence": self.confidence,
            "seed": self.seed,
            **({} if self.answered is None else {"answers": self._answers(self.answered)}),
            "per_pool": self.per_pool,
            "scores": {name: dict(first) for name, first in zip(self.ids, self.scores, strict=False)},
        }

    def _answers(self, answered: Answered) -> dict[str, Any]:
        selective = [name for name in self.measures if name not in self.values]
        return {"measures": selective, **answered.to_json(self.ids)}

    @classmethod
    def from_json(cls, value: Any, path: str | Path | None = None) -> Report:
        """The report that `to_json` gave; the path is for error messages only."""
        try:
            if not isinstance(value, dict):
                raise TypeError("no JSON object")
            measures = {_name(name): Estimate(**numbers) for name, numbers in value["measures"].items()}
            per_pool = value["per_pool"]
            answers = value.get("answers")
            names = [name for name in measures if answers is None or name not in answers["measures"]]
            rows = [[row[name] for name in names] for row in per_pool.values()]
            table = np.array(rows, np.float64).reshape(len(rows), len(names))
            if (np.abs(table) > _LARGEST).any():
                raise ValueError("a value is larger than any measure")
            known = {key: value[key] for key in ("ranker", "data", "confidence", "seed") if key in value}
            hashes = value.get("labels") or {}  # one text in reports of version 0.1: it said too little
            held = value.get("scores") or {}
            return cls(
                measures=measures,
                convention=_name(str(value["convention"])),
                skipped=int(value["skipped"]),
                ids=tuple(per_pool),
                values=dict(zip(names, table.T, strict=True)),
                answered=None if answers is None else Answered.from_json(answers, tuple(per_pool)),
                labels=() if isinstance(hashes, str) else tuple(str(hashes[id]) for id in per_pool if hashes),
                scores=tuple(_numbers(held[id]) for id in per_pool if held),
                **known,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            missing = f"no {error}" if isinstance(error, KeyError) else str(error)
            fix = "write one with demur evaluate … -o FILE"
            raise DataError(f"not a report of an evaluation ({missing})", path=path, fix=fix) from None

    @classmethod
    def read(cls, path: str | Path) -> Report:
        """The report in a JSON file."""
        return cls.from_json(read_json(path, "write one with demur evaluate … -o FILE"), path)

    def write(self, path: str | Path) -> None:
        """Write the report to a JSON file, all of it or nothing."""
        with replacing(path) as file:
            json.dump(self.to_json(), file, ensure_ascii=False, indent=1, allow_nan=False)
            file.write("\n")


_LARGEST = 1e100  # sums of such values are still numbers
_LONGEST = 200  # characters of a name


def _name(said: str) -> str:
    """What a report calls something, if a line can have it."""
    if not said.isprintable() or len(said) > _LONGEST:
        raise ValueError(f"{said[:40]!r} is no name")
    return said


def _numbers(scores: Mapping[str, Any]) -> dict[str, float]:
    found = {str(name): float(score) for name, score in scores.items()}
    if not all(map(math.isfinite, found.values())):
        raise ValueError("a score is not a finite number")
    return found
