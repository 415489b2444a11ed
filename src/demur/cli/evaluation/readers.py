"""What `demur evaluate` does for readers, and for answers in a file: EM, F1 and AURC of what is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.cli.console import meter, stdout
from demur.cli.evaluation.reports import deliver, show

if TYPE_CHECKING:
    from collections.abc import Sequence

    from demur.evaluation.readers import Quoted
    from demur.types import Pool


def measure_reader(
    pools: Sequence[Pool],
    data: str,
    reader: str | None,
    answers: str | None,
    measures: str,
    qualifier: str | None,
    confidence: float,
    seed: int,
    output: str | None,
    json: bool,
) -> None:
    """Measure a reader, or the answers in a file, and show or write what was found."""
    from demur.errors import UsageError
    from demur.evaluation.readers import Quoted, evaluate_answers, gain_over_silence
    from demur.reading import published

    if (reader is None) == (answers is None):
        raise UsageError("name a --reader, or --answers FILE; one of the two")
    how: dict[str, Any] = {"confidence": confidence, "seed": seed}
    more: dict[str, Any] = {"measures": measures, "data": data, **how}
    if reader is not None:
        found = _measured(reader, pools, qualifier, more)
    elif qualifier is not None:
        raise UsageError("answers in a file have no confidence; leave --qualifier out")
    else:
        given = published.answers(answers or "", pools)
        report = evaluate_answers(given, pools, name=answers or "", **more)
        found = Quoted(report, gain=gain_over_silence(given, pools, **how))
    deliver(found, found.report, output, json, _show)


def _measured(reader: str, pools: Sequence[Pool], qualifier: str | None, more: dict[str, Any]) -> Quoted:
    """What a reader comes to, as sure as it says itself, as the span is probable, or as its kept doubt is."""
    from demur.errors import UsageError
    from demur.evaluation.readers import PROBABILITY, evaluate_reader, measures_of
    from demur.reading import reader as resolve_reader

    if qualifier not in (None, PROBABILITY, "kept"):
        what = f"a reader has its own confidence, and {qualifier} is for rankers"
        raise UsageError(f"{what}; leave --qualifier out, or write {PROBABILITY} or kept")
    found = resolve_reader(reader)
    selective = any(not isinstance(each, str) for each in measures_of(more["measures"]))
    if qualifier is not None and not selective:
        raise UsageError("--qualifier is for measures such as AURC; name one, as in -m EM,F1,AURC")
    with meter("reading", "questions") as advance:
        if qualifier == "kept":
            from demur.doubt.doubt_folder import open_doubt

            more["confidences"] = open_doubt(found).confidence(found, pools)
        return evaluate_reader(found, pools, qualifier=qualifier or "", on_batch=advance, **more)


def refuse_labels(qualifier: str, pools: Sequence[Pool], instead: str) -> None:
    """Raise an error if a reader gives the confidence and a passage's label says what is right.

    `instead` is the command to write, with ``{reader}`` in it.

    That is so where each question has one passage and its answers, as in SQuAD: the label says that there
    is an answer in the passage, which even the best reader may miss.
    """
    from demur.errors import UsageError
    from demur.specs import parse

    asked = parse(qualifier)
    if asked.name in ("reading", "mini") and all(len(p) == 1 and "answers" in p.extra for p in pools):
        reader = asked.settings.get("reader") or asked.settings.get("folder") or "mini"
        what = "this would evaluate the labels of the passages, not the quotes"
        raise UsageError(f"{what}; write {instead.format(reader=reader)}")


def _show(found: Quoted) -> None:
    show(found.report, "quotes")
    if found.gain is not None:
        gain = found.gain
        doubt = "" if gain.low > 0 else ": not significantly better"
        said = f"{gain.mean:+.4f} ({gain.low:+.4f} – {gain.high:+.4f})"
        stdout().print(f"EM less that of giving no answer at all: {said}{doubt}", markup=False)
    for name, best in found.best.items():
        where = (
            "giving no answer at all"
            if best.threshold == float("-inf")
            else f"threshold={best.threshold:.4g}"
        )
        stdout().print(f"in hindsight, {name} is {best.mean:.4f} with {where}", markup=False)
