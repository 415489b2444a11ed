"""Everything demur can complain about, in one small tree.

DemurError               one clear line: what is wrong, why, and what to do
├── UsageError           the call or the command is wrong
│   └── UnknownName      a name that no registry knows; says which names there are
├── DataError            a file holds something that cannot be read; names file and line
│   ├── MissingData      a dataset is not here; says how to obtain it
│   └── UnusableBase     a knowledge base is broken, or its disk is full; `said` leaves its path out
│       ├── LostBase     it is gone from its folder since it was opened, or another one is there
│       ├── ReadOnlyBase it may not be written
│       └── DamagedVectors its vectors were damaged, and are made again
├── NoThreshold          the labels carry no promise; says what they would carry, and how many more are needed
└── MissingExtra         a part of demur that is not installed; says how to install it

The command line prints the message and exits with 2, and with 1 for NoThreshold: nothing was misused, there
is no gate all the same. Anything that is not a DemurError is a bug of ours.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

_LONGEST = 2000


class DemurError(Exception):
    """An error whose message is meant for the user: what, why, and what to do.

    What a broken file holds may be long; of a long message the middle is left out.
    """

    def __str__(self) -> str:
        said = super().__str__()
        half = _LONGEST // 2
        return said if len(said) <= _LONGEST else f"{said[:half]} … {said[-half:]}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _revived, (type(self), str(self), dict(self.__dict__))  # errors travel between processes


def _revived(kind: type[DemurError], message: str, facts: dict[str, Any]) -> DemurError:
    error = kind.__new__(kind, message)
    error.__dict__.update(facts)
    return error


class UsageError(DemurError, ValueError):
    """A call or command that cannot mean anything."""


class Astray(UsageError):
    """Training that ended in numbers that are none: other settings may do."""


class UnknownName(UsageError, LookupError):
    """A name that is not registered."""

    def __init__(self, kind: str, name: str, known: Iterable[str], also: str = "") -> None:
        names = sorted(known)
        lowered = {known_name.lower(): known_name for known_name in names}
        close = difflib.get_close_matches(name.lower(), lowered, n=1)
        hint = f"did you mean {lowered[close[0]]!r}? " if close else ""
        super().__init__(f"unknown {kind} {name!r}; {hint}known: {', '.join(names)}{also}")
        self.kind, self.name, self.known, self.also = kind, name, names, also


class DataError(DemurError, ValueError):
    """A file that cannot be read as what it should be."""

    def __init__(
        self, what: str, *, path: str | Path | None = None, line: int | None = None, fix: str = ""
    ) -> None:
        place = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(f"{place}{what}{'; ' + fix if fix else ''}")


class MissingData(DataError):
    """A dataset that is not on this machine."""


class UnusableBase(DataError):
    """A knowledge base that cannot be read or written as it is now."""

    def __init__(self, what: str, *, path: str | Path, fix: str) -> None:
        super().__init__(what, path=path, fix=fix)
        self.said = f"the knowledge base {what}; {fix}"
        """The same without the path, for those who should not learn it, as over HTTP."""


class LostBase(UnusableBase):
    """A knowledge base that is gone from its folder since it was opened, or another one is there now."""


class ReadOnlyBase(UnusableBase):
    """A knowledge base that may not be written."""


class DamagedVectors(UnusableBase):
    """The vectors of a knowledge base are damaged; they can be made again."""


class NoThreshold(DemurError):
    """An honest outcome of calibration: no threshold is known to keep the risk that was asked for."""

    def __init__(
        self,
        risk: float,
        confidence: float,
        questions: int,
        lowest: float | None,
        more: int | None,
        said: str = "",
        fewest: int | None = None,
    ) -> None:
        self.risk, self.confidence, self.questions = risk, confidence, questions
        self.lowest, self.more = lowest, more  # a risk that could be promised; labelled questions to add
        self.fewest = fewest  # answers needed even without an error, where few labels leave `more` open
        asked = f"{100 * risk:.4g} %"
        reach = (
            "not even 99 % can be promised"
            if lowest is None
            else f"the lowest they can promise is {100 * lowest:.4g} %, a risk of {lowest:.4g}"
        )
        help = ""
        if more is None and fewest is None:
            help = "; improve the ranker or its confidence"
        elif more is None and fewest is not None and _too_often_wrong(fewest, questions):
            larger = "" if lowest is None else ", or name a larger risk"
            help = f"{larger}; more labels help only where the surest answers are right"
        needed = f"for {asked} {labels_needed(more, fewest, questions)}{help}"
        super().__init__(
            said
            or f"{questions:,} labelled questions cannot promise that at most {asked} of the answers are "
            f"wrong, with {100 * confidence:.4g} % confidence; {reach}; {needed}"
        )


def labels_needed(more: int | None, fewest: int | None, answers: int = 0) -> str:
    """What to do where labels of so many answers carry no promise: the forecast, the least, or neither."""
    if more is not None:
        return f"label about {float(f'{more:.2g}'):,.0f} more, at this rate of errors"
    if fewest is not None and _too_often_wrong(fewest, answers):
        return "no threshold is strict enough at this rate of errors; check the labels"
    if fewest is not None:
        return f"label more: it takes {fewest:,} answers if none is wrong"
    return "more labels would not help: too many are wrong at every threshold"


def _too_often_wrong(fewest: int, answers: int) -> bool:
    """Whether there are answers enough, so that it is how often they are wrong that is amiss."""
    return answers >= max(fewest, 20)  # fewer than 20 do not tell how often


class MissingExtra(DemurError, ImportError):
    """A dependency that only an extra installs."""


def refuse_newer(said: object, known: str, path: str | Path) -> None:
    """Raise an error if a file's format, such as ``demur gate 2``, is ours but newer than the one known."""
    kind, _, number = known.rpartition(" ")
    of, _, later = said.rpartition(" ") if isinstance(said, str) else ("", "", "")
    if of == kind and later.isascii() and later.isdigit() and int(later) > int(number):
        what = f"was written by a newer demur (format {said!r}; this one knows {known!r})"
        raise DataError(what, path=path, fix="upgrade demur")


def require(module: str, *, extra: str) -> ModuleType:
    """The imported module, or one line naming the extra that brings it."""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
            what = f"this needs {module}, which is not installed"
        else:
            why = " ".join(str(error).split())[:160]
            what = f"this needs {module}, which is installed but cannot be imported ({why})"
        raise MissingExtra(f"{what}; pip install 'demur[{extra}]'") from None
    if module == "torch":  # whatever needs torch gets it here first
        from demur import processor

        processor.restrict_torch(found)
    return found


def count_of(number: int, what: str) -> str:
    """A number of things in words: ``1 pool``, ``2,341 pools``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
