"""Gates: what is expected of one, which one is meant, and for which ranker it was calibrated."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from demur import store
from demur.asking import packaged
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers.opening import folder_of
from demur.specs import parse
from demur.types import Ranking

if TYPE_CHECKING:
    from demur.asking.searching import Search
    from demur.risk.gates.gate import Gate as SavedGate
    from demur.types import Verdict

NONE = "none"
"""In place of a gate: not even that of the ranker's folder."""
_BASE = re.compile(r" of (.+), generation \d+ \(")  # of what a certificate says of its data
_LIBRARY = "library"  # what a search of files is called as a ranker
_log = logging.getLogger(__name__)


class Gate(Protocol):
    """What a session expects of a gate."""

    @property
    def certificate(self) -> Mapping[str, Any]:
        """What is promised about the answers that pass, as plain values; it comes with each of them."""
        ...

    def check_ranker(self, ranker: Ranker) -> None:
        """Raise an error that says why if the gate was calibrated for another ranker."""
        ...

    def judge(self, ranking: Ranking) -> Verdict:
        """The verdict on a ranking of at least one passage, all that the ranker scored."""
        ...


def open_gate(path: str | Path, risk: float | None = None, name: str | None = None) -> SavedGate:
    """The gate in a file; of those in a folder the first, or the one for a risk.

    An error calls the place by its `name`, if it has one.
    """
    from demur.risk.gates.several import open_gates as gates

    return replace(gates(path), place=name or str(path)).of(risk)


def find_gate(
    gate: str | Path | None, ranker: str | Path | None, files: bool = False, risk: float | None = None
) -> SavedGate | None:
    """The gate that is named; or the one in the ranker's folder, if it is for such questions; or none.

    `files` says that questions are asked of files, not of given candidates. The gate of the model that
    comes with demur is for both: it is made for whoever has no labels.
    """
    if gate is not None and gate != NONE:
        return open_gate(gate, risk)
    ours = None if ranker is None else packaged.folder_named(str(ranker))
    folder = ours or (None if ranker is None else folder_of(ranker))
    if gate == NONE or folder is None or not (folder / "gate.json").is_file():
        if risk is not None:
            fix = "name a gate, or a ranker whose folder holds one"
            raise UsageError(f"a risk of {risk:g} chooses among gates, and there is none; {fix}")
        return None
    found = open_gate(folder, risk, str(ranker))
    if ours is not None or is_for_files(found) == files:
        return found
    kinds = "questions to files", "given candidates"
    made, asked = kinds if is_for_files(found) else kinds[::-1]
    _log.warning("no gate is set: the one in %s is for %s, and promises nothing for %s", folder, made, asked)
    return None


def gate_of_rows(gate: Gate) -> SavedGate | None:
    """For the gate that comes with demur for any files, that of the same risk for rows of an FAQ, if any."""
    if not is_for_any_files(gate) or not (packaged.ROW_GATES / "gate.json").is_file():
        return None
    risk = float(gate.certificate["risk"])
    try:
        return open_gate(packaged.ROW_GATES, risk, packaged.MEANING)
    except UsageError:  # there is none of this risk
        return None


def is_for_files(gate: Gate) -> bool:
    """Whether a gate was calibrated for questions to files, not for given candidates."""
    return _calibrated_for(gate).startswith(f"{_LIBRARY}(")


def is_for_any_files(gate: Gate) -> bool:
    """Whether a gate was calibrated for questions to files, whatever files they are."""
    return is_for_files(gate) and "passages" not in parse(_calibrated_for(gate)).settings


def check_search(gate: Gate, search: Search) -> None:
    """Raise an error that says what was another when the gate was calibrated: the search, or the files."""
    try:
        gate.check_ranker(search.known_to(gate))
    except UsageError:
        different = different_settings(gate, search) if is_for_files(gate) else ""
        if not is_for_files(gate) or (is_for_any_files(gate) and not different):
            raise
        if different:
            what, fix = different, "ask with the same ones, or calibrate a gate for these"
            if "stem=" in different:
                fix += "; the models that come with demur learnt from English, so try --ranker bm25, too"
        elif base := _BASE.search(str(gate.certificate.get("data", ""))):
            what = f"this gate was calibrated on the knowledge base {base[1]}, not on these files"
            fix = "ask that base with --kb, or calibrate a gate on these: demur calibrate … --from FILES"
        else:
            what = "this gate was calibrated on other files, or on these as they were before"
            fix = "calibrate one on these: demur calibrate … with --from FILES, or with --kb BASE"
        raise UsageError(f"{what}; it promises nothing here; {fix}") from None


def different_settings(gate: Gate, search: Search) -> str:
    """Which settings of a search a gate was not calibrated with; nothing where all are the same."""
    from demur.asking.meaning.ranker import READ

    made, now = (parse(spec).settings for spec in (_calibrated_for(gate), search.spec))
    usual = {"ranker": "bm25", "read": READ}  # where a search does not say
    names = [name for name in sorted({*made, *now} - {"passages"}) if made.get(name) != now.get(name)]
    if not names:
        return ""
    then, here = (
        ", ".join(f"{name}={some.get(name, usual.get(name))}" for name in names) for some in (made, now)
    )
    return f"this gate was calibrated with {then}, not with {here}"


def least_of(gate: Gate) -> float:
    """The chance of being right that a gate for questions to files asks for; of other gates 0."""
    from demur.risk.gates.gate import Gate as SavedGate

    if isinstance(gate, SavedGate) and is_for_files(gate) and gate.qualifier == "top":
        return gate.threshold
    return 0.0


def is_for_candidates(gate: Gate) -> bool:
    """Whether a gate says that it was calibrated for given candidates."""
    return bool(_calibrated_for(gate)) and not is_for_files(gate)


def ranker_of(gate: Gate) -> str:
    """The ranker that a gate was calibrated with, where it ranks given candidates."""
    if is_for_files(gate):
        raise UsageError("this gate was calibrated for questions to a library; use it with demur ask --from")
    return _beside(gate) or _calibrated_for(gate)


def second_ranker_of(gate: Gate) -> str | None:
    """The ranker that scores again what is found in files, if the gate was calibrated with one."""
    if not is_for_files(gate):
        return ranker_of(gate) or None
    ranker = parse(_calibrated_for(gate)).settings.get("ranker")
    return None if ranker is None else _beside(gate) or str(ranker)


def _calibrated_for(gate: Gate) -> str:
    return str(gate.certificate.get("ranker", ""))


def _beside(gate: Gate) -> str | None:
    """The folder of the model that a gate lies with, wherever that model was when the gate was made."""
    from demur.risk.gates.gate import Gate as SavedGate

    folder = gate.place if isinstance(gate, SavedGate) else None
    return str(folder) if folder is not None and store.is_model(folder) else None
