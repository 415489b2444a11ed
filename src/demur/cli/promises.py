"""How gates and answer sets are opened, and how what they promise is told: the same for `ask` and `rank`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from demur.asking import Verdict
    from demur.rankers import Ranker
    from demur.risk.gate import Gate
    from demur.risk.sets import AnswerSets
    from demur.types import Candidate

_LEAST = -1e300  # a threshold below this lets everything pass

GateOption = Annotated[
    str | None,
    typer.Option(
        "--gate",
        metavar="GATE.json",
        help="Answer only what this gate lets pass; none leaves out that of the ranker's folder.",
    ),
]
ExplainFlag = Annotated[bool, typer.Option("--explain", help="Say how far the promise goes.")]


def gate_at(path: str) -> Gate:
    """The gate that a file holds."""
    from demur.risk.gate import Gate

    return Gate.load(path)


def gate_for(gate: str | None, ranker: str | None, of_files: bool = False) -> Gate | None:
    """The gate that is named; or the one in the ranker's folder, if it is for such questions; or none.

    `of_files` says that questions are asked of files, not of given candidates.
    """
    from demur.cli.console import note
    from demur.rankers.opening import folder_of

    if gate is not None:
        return None if gate == "none" else gate_at(gate)
    folder = None if ranker is None else folder_of(ranker)
    if folder is None or not (folder / "gate.json").is_file():
        return None
    found = gate_at(str(folder))
    if _of_files(found) == of_files:
        return found
    kinds = "questions to files", "given candidates"
    made, asked = kinds if _of_files(found) else kinds[::-1]
    note(f"no gate is set: the one in {folder} is for {made}, and promises nothing for {asked}")
    return None


def _of_files(gate: Gate) -> bool:
    return gate.ranker.startswith("library(")


def ranker_of(gate: Gate, path: str | None = None) -> str:
    """The ranker that a gate was calibrated with, where it ranks given candidates."""
    from demur.errors import UsageError

    if _of_files(gate):
        raise UsageError("this gate was calibrated for questions to a library; use it with demur ask --from")
    return _beside(path) or str(gate.ranker)


def second_ranker_of(gate: Gate, path: str | None = None) -> str | None:
    """The ranker that scores again what a library finds, where a gate was calibrated for that."""
    from demur.specs import parse

    again = parse(gate.ranker).settings.get("ranker") if _of_files(gate) else None
    return None if again is None else _beside(path) or str(again)


def _beside(path: str | None) -> str | None:
    """The folder of the model that a gate lies with, wherever that model was when the gate was made."""
    from demur.store import is_model

    folder = None if path is None else Path(path) if Path(path).is_dir() else Path(path).absolute().parent
    return str(folder) if folder is not None and is_model(folder) else None


def ranker_and_sets(
    ranker: str | None, sets: str | None, calibration: str | None
) -> tuple[Ranker, AnswerSets | None]:
    """The ranker of a name (or of the sets, or bm25), and sets from a file or calibrated at a rate."""
    import demur
    from demur.data import pools
    from demur.errors import UsageError
    from demur.risk.sets import AnswerSets, answer_sets

    try:
        level = None if sets is None else float(sets)
    except ValueError:
        if calibration is not None:
            raise UsageError(f"{sets} is calibrated already; give a rate, --set 0.9, or no data") from None
        loaded = AnswerSets.load(sets or "")
        return demur.ranker(ranker or loaded.ranker), loaded
    built = demur.ranker(ranker or "bm25")
    if level is None or calibration is None:
        if sets != calibration:  # both None: there are to be no sets
            raise UsageError("sets need a rate and labelled pools: write --set 0.9 --calibration DATA")
        return built, None
    labelled = pools(calibration)
    built = built.prepare(labelled)
    return built, answer_sets(built, labelled, level)


def write_sets(ranker: str, data: str, level: float, output: str | None, json: bool) -> None:
    """Answer sets calibrated on labelled pools and written, with their promise said."""
    from demur.cli.console import emit, note, stdout
    from demur.data import pools
    from demur.risk.sets import answer_sets

    sets = answer_sets(ranker, pools(data), level)
    if output is not None:
        sets.save(output)
    if json:
        emit(sets.to_json())
    elif output != "-":
        size = f"{sets.mean_size:.3g} of {sets.mean_pool:.3g} candidates on average"
        stdout().print(f"{sets.promise}\n\nThere the sets had {size}.", markup=False)
    note(f"sets written to {output}" if output else "the sets are not kept; -o sets.json writes them")


def plain_verdict(gate: Gate, verdict: Verdict | None) -> dict[str, Any]:
    """What a gate says of a ranking, ready for JSON; without a verdict there was nothing to judge."""
    from demur.asking.plain import finite

    refusal = verdict.refusal if verdict else "there are no candidates"
    return {
        "abstained": bool(refusal),
        "reason": refusal or None,
        "confidence": finite(verdict.confidence) if verdict else None,
        "certificate": dict(gate.certificate),
        "promise": gate.promise,
    }


def plain_set(sets: AnswerSets, chosen: tuple[Candidate, ...]) -> dict[str, Any]:
    """A set and its promise, ready for JSON; the threshold is null where the set is the whole pool."""
    from demur.asking.plain import finite

    return {
        "ids": [candidate.id for candidate in chosen],
        "level": sets.level,
        "threshold": finite(sets.threshold),
        "calibrated_on": sets.n,
        "promise": sets.promise,
    }


def verdict_lines(gate: Gate, verdict: Verdict | None) -> list[str]:
    """The confidence and the promise; or why there is no answer, and that what follows is none."""
    if verdict is None:
        return ["No answer: there are no candidates."]
    if verdict.refusal:
        return [f"No answer: {verdict.refusal}.", "What came nearest, but is not given as an answer:"]
    return [f"{confident(gate, verdict.confidence)} {gate.promise}"]


def confident(gate: Gate, confidence: float) -> str:
    """How sure the gate is, beside what it asks for."""
    enough = "any" if gate.threshold <= _LEAST else f"{gate.threshold:.4g}"
    return f"Confidence {confidence:.4g}, where {enough} is enough."


def notes(gate: Gate | None, sets: AnswerSets | None = None) -> list[str]:
    """How far the promises go, a line each."""
    return [f"– {line}" for promise in (gate, sets) if promise for line in promise.scope]
