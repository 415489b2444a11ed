"""Which gate is meant, and which ranker a gate is for: the same for `ask`, `rank` and `plot`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from demur.risk.gate import Gate

GateOption = Annotated[
    str | None,
    typer.Option(
        "--gate",
        metavar="GATE.json",
        help="Answer only what this gate lets pass; none leaves out that of the ranker's folder.",
    ),
]
RiskOption = Annotated[
    float | None,
    typer.Option(help="Where there are gates for several risks, the share of answers that may be wrong."),
]


def gate_at(path: str, risk: float | None = None, name: str | None = None) -> Gate:
    """The gate that a file holds; of those in a folder the first, or the one for a risk.

    A complaint names the place as the user does.
    """
    from demur.risk.gates import gates

    return replace(gates(path), place=name or path).of(risk)


def gate_for(
    gate: str | None, ranker: str | None, files: bool = False, risk: float | None = None
) -> Gate | None:
    """The gate that is named; or the one in the ranker's folder, if it is for such questions; or none.

    `files` says that questions are asked of files, not of given candidates. The gate of the model that
    comes with demur is for both: it is made for whoever has no labels.
    """
    from demur.asking import packaged
    from demur.cli.console import note
    from demur.errors import UsageError
    from demur.rankers.opening import folder_of

    if gate is not None and gate != "none":
        return gate_at(gate, risk)
    ours = None if ranker is None else packaged.folder_named(ranker)
    folder = ours or (None if ranker is None else folder_of(ranker))
    if gate == "none" or folder is None or not (folder / "gate.json").is_file():
        if risk is not None:
            fix = "name a --gate, or a ranker whose folder holds one"
            raise UsageError(f"--risk {risk:g} chooses among gates, and there is none; {fix}")
        return None
    found = gate_at(str(folder), risk, ranker)
    if ours is not None or of_files(found) == files:
        return found
    kinds = "questions to files", "given candidates"
    made, asked = kinds if of_files(found) else kinds[::-1]
    note(f"no gate is set: the one in {folder} is for {made}, and promises nothing for {asked}")
    return None


def of_files(gate: Gate) -> bool:
    """Whether a gate was calibrated for questions to files, not for given candidates."""
    return gate.ranker.startswith("library(")


def ranker_of(gate: Gate, path: str | None = None) -> str:
    """The ranker that a gate was calibrated with, where it ranks given candidates."""
    from demur.errors import UsageError

    if of_files(gate):
        raise UsageError("this gate was calibrated for questions to a library; use it with demur ask --from")
    return _beside(path) or str(gate.ranker)


def second_ranker_of(gate: Gate, path: str | None = None) -> str | None:
    """The ranker that scores again what a library finds, where a gate was calibrated for that."""
    from demur.specs import parse

    again = parse(gate.ranker).settings.get("ranker") if of_files(gate) else None
    return None if again is None else _beside(path) or str(again)


def _beside(path: str | None) -> str | None:
    """The folder of the model that a gate lies with, wherever that model was when the gate was made."""
    from demur.store import is_model

    folder = None if path is None else Path(path) if Path(path).is_dir() else Path(path).absolute().parent
    return str(folder) if folder is not None and is_model(folder) else None
