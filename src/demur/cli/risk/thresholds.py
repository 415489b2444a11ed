"""How `demur calibrate` shows and saves the threshold that it has found, or says that there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from demur.cli.console import emit, note, stdout

if TYPE_CHECKING:
    from demur.errors import NoThreshold
    from demur.risk.gates.checking import Check
    from demur.risk.gates.gate import Gate
    from demur.risk.gates.planning import Plan

FAILED = 1
_NOTHING: Mapping[str, Any] = {}
_NAMES = {"ltt": "learn then test", "bonferroni": "Bonferroni"}
_CONFIDENCES = {"top": "top, the score of the best", "margin": "margin, the best score minus the second"}


def refuse(error: NoThreshold, json: bool, also: Mapping[str, Any] = _NOTHING) -> NoReturn:
    """Exit with 1, as there is no gate; 2 would be a mistake in the command."""
    if json:
        reached = {"lowest_risk": error.lowest, "more_labels": error.more}
        emit({**also, "threshold": None, "reason": str(error), **reached})
    note(f"demur: {error}")
    raise typer.Exit(FAILED)


def check_wanted(risk: float, confidence: float, method: str) -> None:
    """Raise an error for what no gate can be made of; the gate would do so too, but after all the work."""
    from demur.errors import UnknownName
    from demur.risk.thresholds.bounds import check_promise
    from demur.risk.thresholds.control import METHODS

    check_promise(risk, confidence)
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)


def place_for(ranker: str, output: str | None) -> str | None:
    """The file for the gate, or a base's address: as asked, or beside the ranker if that is a folder."""
    from demur.kb.store.place import address_of
    from demur.rankers.opening import folder_of

    if output is not None and address_of(output):
        return output
    folder = None if ranker == "none" else folder_of(ranker)
    chosen = output or (None if folder is None else str(folder))
    return (
        str(Path(chosen) / "gate.json")
        if chosen not in (None, "-") and Path(chosen or "").is_dir()
        else chosen
    )


def check_place(ranker: str, output: str | None) -> None:
    """Raise an error before the work if the gate could not be written after it."""
    from demur.files import check_writable
    from demur.kb.folder import KnowledgeBase
    from demur.kb.store.place import address_of

    if (place := place_for(ranker, output)) is not None:
        if address_of(place):
            base = KnowledgeBase(place)
            base.refresh()  # or it says that there is none
            base.check_writable()
        else:
            check_writable(place)


def save(gate: Gate, place: str) -> None:
    """Write the gate to a file, or keep it in the base that has this address."""
    from demur.kb.folder import KnowledgeBase
    from demur.kb.store.place import address_of

    KnowledgeBase(place).keep_gate(gate.save) if address_of(place) else gate.save(place)


def replaced(place: str) -> str:
    """What is lost with the gate made from labels that lies where another goes; nothing if none does."""
    from demur.errors import DemurError
    from demur.files import is_pipe
    from demur.kb.folder import KnowledgeBase
    from demur.kb.store.place import address_of
    from demur.risk.gates.certificate import ANSWERS, percent
    from demur.risk.gates.gate import Gate

    if is_pipe(place):
        return ""
    try:
        made = Gate.load(KnowledgeBase(place).gate_file() if address_of(place) else place).certificate
    except DemurError:  # there is none, or one that nobody can use
        return ""
    if made.about != ANSWERS:
        return ""
    lost = f"it replaces the gate of {made.questions:,} labelled questions for a risk of {percent(made.risk)}"
    return f"{lost}; calibrate without --without-labels to make that again"


def say_where(place: str | None) -> None:
    """Say where the gate is, without a password that its address may have."""
    from demur.kb.store.place import address_of

    if place is None:
        note("the gate is not saved; -o gate.json saves it")
    else:
        note(f"gate written to {address_of(place) or place}")


def written(gate: Gate, place: str | None, json: bool, also: Mapping[str, Any] = _NOTHING) -> None:
    """Write the gate, and tell its promise; `also` stands in the JSON too."""
    from demur.risk.gates.certificate import percent

    if place is not None:
        save(gate, place)
    if json:
        emit(
            {
                **also,
                "threshold": gate.plain_threshold,
                "promise": gate.promise,
                "certificate": dict(gate.certificate),
            }
        )
    elif place != "-":
        found, console = gate.certificate, stdout()
        passing = "none, all pass" if gate.plain_threshold is None else f"{gate.threshold:.6g}"
        share, method = (
            percent(round(found.accepted / found.questions, 3)),
            _NAMES.get(found.method, found.method),
        )
        bound = percent(round(found.bound, 4))
        lines = [
            gate.promise,
            "",
            f"threshold  {passing}, by {_CONFIDENCES.get(found.qualifier, found.qualifier)}",
            f"answered   {found.accepted:,} of {found.questions:,} ({share}), {found.errors:,} of them wrong",
            f"bound      at most {bound} wrong at this threshold alone (method: {method})",
            f"ranker     {found.ranker}",
        ]
        for line in lines:
            console.print(line, markup=False)
    say_where(place)


def planned(plan: Plan, json: bool, also: Mapping[str, Any] = _NOTHING) -> None:
    """Tell what the labels could promise, risk by risk; `also` stands in the JSON too."""
    from dataclasses import asdict

    from rich.table import Table

    from demur.errors import labels_needed
    from demur.risk.gates.certificate import percent

    if json:
        emit({**also, **asdict(plan)})
        return
    table = Table(box=None, pad_edge=False)
    for name, justify in (
        ("risk", "right"),
        ("answered", "right"),
        ("threshold", "right"),
        ("labels", "left"),
    ):
        table.add_column(name, justify="right" if justify == "right" else "left")
    for level in plan.levels:
        if level.coverage is not None:
            threshold = "all pass" if level.threshold is None else f"{level.threshold:.4g}"
            table.add_row(percent(level.risk), percent(round(level.coverage, 3)), threshold, "enough")
        else:
            table.add_row(
                percent(level.risk), "–", "–", labels_needed(level.more, level.fewest, plan.questions)
            )
    console = stdout()
    console.print(table)
    if any(level.coverage is None for level in plan.levels):
        lowest = "no risk below 99 %" if plan.lowest is None else f"{percent(plan.lowest)} wrong"
        console.print(f"\nThe lowest risk that these labels can promise: {lowest}.", markup=False)
    told = f"{plan.questions:,} labelled questions, {plan.tested:,} of them tested on"
    console.print(f"\n{plan.ranker}, {plan.qualifier}: {told}", markup=False)
    console.print(f"Each risk by itself, with {percent(plan.confidence)} confidence.", markup=False)


def checked(check: Check, json: bool, also: Mapping[str, Any] = _NOTHING) -> None:
    """Tell what new data say of a gate; exit with 1 if they contradict it."""
    from dataclasses import asdict

    if json:
        emit({**also, **asdict(check), "contradicted": check.contradicted, "shifted": check.shifted})
    else:
        for sentence in check.sentences:
            stdout().print(sentence, markup=False)
    if check.contradicted or check.shifted:
        raise typer.Exit(FAILED)
