"""`demur calibrate --without-labels`: a threshold from an FAQ alone, and what it promises and what not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from demur.cli.console import emit, meter, note, stdout, warnings_noted
from demur.cli.risk import thresholds

if TYPE_CHECKING:
    from demur.asking.gates.withheld import Missed, Withheld
    from demur.cli.printed.answers import Certificate
    from demur.cli.printed.promises import Alike, GateWithoutLabels
    from demur.risk.gates.gate import Gate

_SHOWN = 10
_FEW = 0.05  # a share that is answered


def write_gate(
    base: str | None,
    sources: list[Path] | None,
    example: bool,
    stem: str,
    *,
    risk: float,
    confidence: float,
    share: float,
    seed: int,
    output: str | None,
    json: bool,
) -> None:
    """Remove entries of the FAQ, ask their questions, and write the gate; exit with 1 if there is none."""
    from demur.asking import Library
    from demur.asking.gates.withheld import withheld
    from demur.cli.options.documents import asked_of
    from demur.errors import NoThreshold
    from demur.kb.folder import KnowledgeBase

    with warnings_noted():
        asked = asked_of(base, sources, example)
        library = asked if isinstance(asked, KnowledgeBase) else Library(asked, stem)
        data = ", ".join(map(str, sources or ())) or "the handbook"
        with meter("asking", "entries") as advance:
            found = withheld(library, share=share, seed=seed, data=data, on_entry=advance)
    try:
        gate = found.gate(risk, confidence)
    except NoThreshold as error:
        if not json:
            _alike(found.alike())
        thresholds.refuse(error, json, {"entries": found.entries, "alike": _plain(found.alike())})
    lost = ""
    if output is not None:
        place = thresholds.place_for("none", output) or output
        lost = thresholds.replaced(place)
        thresholds.save(gate, place)
    _tell(found, gate, json)
    thresholds.say_where(output)
    if lost:
        note(lost)


def _tell(found: Withheld, gate: Gate, json: bool) -> None:
    from demur.cli.risk.promises import notes
    from demur.risk.gates.certificate import percent

    alike, certificate = found.alike(gate.threshold), gate.certificate
    left_out, answered = found.left_one_out(gate.threshold), found.answered(gate.threshold)
    if json:
        told: GateWithoutLabels = {
            "threshold": gate.plain_threshold,
            "promise": gate.promise,
            "certificate": cast("Certificate", dict(certificate)),
            "scope": list(gate.scope),
            "entries": found.entries,
            "removed": found.removed,
            "estimates": {
                "left_out_alone": len(found.alone),
                "left_out_and_answered": left_out,
                "worded_otherwise_and_answered": answered,
            },
            "alike": _plain(alike),
        }
        emit(told)
        return
    few = certificate.questions < found.removed
    asked = f", {certificate.questions:,} of them asked about" if few else ""
    lines = [
        gate.promise,
        "",
        f"threshold  {gate.threshold:.6g}, by the chance that an answer is right",
        f"removed    {found.removed:,} of {found.entries:,} entries{asked}; {certificate.errors:,} answered",
        f"bound      {percent(round(certificate.bound, 4))} of such questions answered",
        f"estimate   {percent(round(left_out, 4))} answered where one entry at a time is left out, of "
        f"{len(found.alone):,}; this is not a promise",
        f"estimate   {percent(round(answered, 4))} answered rightly where the entry is there and its "
        "question has typos or is bare words; people word things more freely",
        "",
        *notes(gate),
    ]
    console = stdout()
    for line in lines:
        console.print(line, markup=False)
    _alike(alike)
    if answered < _FEW:
        what = "this gate answers next to nothing"
        note(f"{what}: near-twins hold the threshold up; make such entries one, or ask for a higher --risk")


def _alike(some: list[Missed]) -> None:
    """List entries that say nearly the same as others, to be joined by whoever wrote them."""
    from demur.cli.console import harmless
    from demur.risk.gates.certificate import sure

    if not some:
        return
    console = stdout()
    many = "1 entry is" if len(some) == 1 else f"{len(some):,} entries are"
    console.print(f"\n{many} nearly the same as another, or answered by it:", markup=False)
    for each in some[:_SHOWN]:
        console.print(harmless(f"  {each.question}  ~  {each.other}  ({sure(each.chance)})"), markup=False)
    if len(some) > _SHOWN:
        console.print(f"  and {len(some) - _SHOWN:,} more; --json has them all", markup=False)


def _plain(some: list[Missed]) -> list[Alike]:
    return [
        {"question": each.question, "other": each.other, "cosine": each.cosine, "chance": each.chance}
        for each in some
    ]
