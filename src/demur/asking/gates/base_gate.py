"""A gate that was calibrated on a knowledge base, and what its promise is worth as the base changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.asking.gates.gate import NONE, Gate, different_settings
from demur.asking.reading import check_quotes
from demur.asking.searching import Search
from demur.errors import UsageError
from demur.kb.read import ReadBase
from demur.rankers import Ranker
from demur.types import Ranking

if TYPE_CHECKING:
    from demur.risk.gates.gate import Gate as SavedGate
    from demur.types import Verdict

LAPSE = 0.2
"""The share of passages that may change before a promise no longer holds."""
_FIX = "ask a knowledge base by its own gate, or leave the lapse out"
_MADE = re.compile(r"of (.+), generation (\d+) \(([0-9a-f]*)\), searched by ([0-9a-f]+)$")


def lapse_of(lapse: float | None, of_base: bool, gate: str | Path | Gate | None = None) -> float:
    """The share of passages that may change; an error for one that is not a share, or has no effect here."""
    if lapse is None:
        return LAPSE
    if not 0 <= lapse <= 1:
        raise UsageError(f"lapse={lapse:g} is not a share of passages; use a number from 0 to 1")
    if not of_base:
        raise UsageError(f"a lapse is of a promise on a knowledge base, and none is asked; {_FIX}")
    if gate == NONE or not (gate is None or isinstance(gate, str | Path) or BaseGate.of(gate)):
        raise UsageError(f"a lapse is of a promise on a knowledge base, and this gate makes none; {_FIX}")
    return lapse


def made_on(search: Search, what: str = "labels") -> str:
    """What a certificate says of its data: of which state of which base they are, and who searched."""
    base = search.library
    assert isinstance(base, ReadBase)
    now = base.state()
    of = f"{what} of {base.path.name}, generation {now.number} ({now.mark})"
    return f"{of}, searched by {searcher(search)}"


def searcher(search: Search) -> str:
    """A hash of all that decides how passages are ranked, whatever passages there are."""
    return search.anywhere.fingerprint


@dataclass(frozen=True)
class BaseGate:
    """A gate, the generation of the base it was calibrated on, and how much has changed since."""

    gate: SavedGate
    name: str
    """What the base was called."""
    generation: int
    mark: str
    searched: str
    changed: float = 0.0
    """The share of passages that are others than then."""
    lapse: float = LAPSE

    @classmethod
    def of(cls, gate: Gate, lapse: float = LAPSE) -> BaseGate | None:
        """The gate of a base; None where it was not calibrated on one."""
        from demur.risk.gates.gate import Gate as SavedGate

        if not isinstance(gate, SavedGate):
            return None
        found = _MADE.search(gate.certificate.data)
        return None if found is None else cls(gate, found[1], int(found[2]), found[3], found[4], 0.0, lapse)

    @classmethod
    def opened(cls, gate: Gate, search: Search, reader: object | None, lapse: float = LAPSE) -> BaseGate:
        """The gate of a base for what searches it and quotes now; an error where it was made for another."""
        found, base = cls.of(gate, lapse), search.library
        if found is None:
            raise UsageError("the gate was not calibrated on labels of a base; calibrate again")
        if not isinstance(base, ReadBase) or not base.was_at(found.generation, found.mark):
            what = f"this gate was calibrated on another knowledge base ({found.name})"
            raise UsageError(f"{what}; calibrate one on this base: demur calibrate … --kb BASE")
        found.check_ranker(search)
        check_quotes(found, reader)
        return found.as_of(base)

    def as_of(self, base: ReadBase) -> BaseGate:
        """The same, with what has changed in the base up to now."""
        return replace(self, changed=base.share_changed_since(self.generation))

    @property
    def lapsed(self) -> bool:
        """Whether so much has changed that nothing is promised any more."""
        return self.changed > self.lapse

    @property
    def certificate(self) -> Mapping[str, Any]:
        """What is promised, on which generation, and what has changed since."""
        since = {
            "generation": self.generation,
            "changed_since": round(self.changed, 6),
            "lapsed": self.lapsed,
        }
        return {**self.gate.certificate, **since}

    @property
    def promise(self) -> str:
        """The promise in plain words, with what became of it."""
        from demur.risk.gates.certificate import percent

        since = f"certified on generation {self.generation}"
        if not self.changed:
            return f"{self.gate.promise[:-1]}; {since}."
        shown = percent(float(f"{self.changed:.2g}"))
        changed = f"{since}; {shown} of passages have changed since"
        if self.lapsed:
            most = percent(self.lapse)
            return (
                f"The promise has lapsed: {changed}, more than {most}. Label questions and calibrate again."
            )
        return f"{self.gate.promise[:-1]}; {changed}."

    def check_ranker(self, ranker: Ranker) -> None:
        """Raise an error if the gate was calibrated for another search; the passages may have changed."""
        if not isinstance(ranker, Search) or searcher(ranker) != self.searched:
            what = different_settings(self.gate, ranker) if isinstance(ranker, Search) else ""
            what = what or "this gate was calibrated with models of another version"
            raise UsageError(f"{what}; it promises nothing here; calibrate it again")

    def judge(self, ranking: Ranking) -> Verdict:
        """How sure the ranker may be of its best passage, and why the gate refuses it, if it does."""
        return self.gate.judge(ranking)
