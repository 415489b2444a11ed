"""What gates and answer sets promise, and how it is told: the same for `ask` and `rank`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

if TYPE_CHECKING:
    from demur.asking import Verdict
    from demur.cli.printed.answers import AnswerSet, Certificate
    from demur.cli.printed.answers import Verdict as PlainVerdict
    from demur.rankers import Ranker
    from demur.risk.gates.gate import Gate
    from demur.risk.sets import AnswerSets
    from demur.types import Candidate

_LEAST = -1e300  # a threshold below this lets everything pass

ExplainFlag = Annotated[
    bool, typer.Option("--explain", help="Show what the confidence is made of, and what the promise covers.")
]


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
        return demur.ranker(loaded.ranker if ranker is None else ranker), loaded
    built = demur.ranker("bm25" if ranker is None else ranker)
    if level is None or calibration is None:
        if sets != calibration:  # both None: there are to be no sets
            raise UsageError("sets need a rate and labelled pools: write --set 0.9 --calibration DATA")
        return built, None
    labelled = pools(calibration)
    built = built.prepare(labelled)
    return built, answer_sets(built, labelled, level)


def write_sets(ranker: str, data: str, level: float, output: str | None, json: bool) -> None:
    """Calibrate answer sets on labelled pools, write them, and tell their promise."""
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
    note(f"sets written to {output}" if output else "the sets are not saved; -o sets.json saves them")


def plain_verdict(gate: Gate, verdict: Verdict | None) -> PlainVerdict:
    """What a gate says of a ranking, ready for JSON; without a verdict there was nothing to judge."""
    from demur.asking.plain import finite

    refusal = verdict.refusal if verdict else "there are no candidates"
    return {
        "abstained": bool(refusal),
        "reason": refusal or None,
        "confidence": finite(verdict.confidence) if verdict else None,
        "certificate": cast("Certificate", dict(gate.certificate)),
        "promise": gate.promise,
    }


def plain_set(sets: AnswerSets, chosen: tuple[Candidate, ...]) -> AnswerSet:
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
        return [f"No answer: {verdict.refusal}.", "Nearest miss, which is not given as an answer:"]
    return [f"{confident(gate, verdict.confidence)} {gate.promise}"]


def elsewhere(gate: Gate, asked: str = "--from FILES") -> tuple[str, ...]:
    """That a gate was not made on one's files, where that is so; `asked` is how the command names them."""
    from demur import registry
    from demur.asking.gates.gate import is_for_any_files, is_for_files, second_ranker_of

    if is_for_files(gate) and not is_for_any_files(gate):
        return ()
    known = registry.names("dataset")
    parts = [part.strip() for part in gate.certificate.data.split("+")]
    homes = [home if (home := part.partition("/")[0]) in known or " " in home else part for part in parts]
    where = ", ".join(dict.fromkeys(homes)) or "given candidates"
    ranker = (second_ranker_of(gate) or "none").partition("(")[0]
    qualifier = gate.qualifier.partition("(")[0]
    how = "" if qualifier == "margin" or is_for_any_files(gate) else f" --qualifier {qualifier}"
    return (
        f"Those labelled questions were of {where}, not of your files: "
        f"`demur calibrate {ranker} LABELLED{how} {asked}` makes a promise about those.",
    )


def confident(gate: Gate, confidence: float) -> str:
    """How sure the gate is, beside what it asks for."""
    from demur.risk.gates.certificate import sure, told_apart

    if gate.threshold <= _LEAST:
        return f"Confidence {sure(confidence, 4)}, where any is enough."
    shown, least = told_apart(confidence, gate.threshold)
    return f"Confidence {shown}, where {least} is enough."


def notes(promise: Gate | AnswerSets) -> list[str]:
    """How far a promise goes, a line each below one that says so; nothing where nothing is promised."""
    return ["How far the promise goes:", *(f"– {line}" for line in promise.scope)] if promise.scope else []
