"""`demur rank`: one question and its candidates, best first; or a set of them; or none if a gate refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.cli.console import JsonFlag, emit, say, warnings_noted
from demur.cli.options.gates import GateOption

if TYPE_CHECKING:
    from demur.cli.printed.answers import Rank, Ranked, Verdict


def rank(
    question: Annotated[str, typer.Argument(help="The question.")],
    candidates: Annotated[
        str,
        typer.Option(
            help="A file with a candidate per line, or .jsonl or .csv with a text or answer; - is stdin."
        ),
    ],
    ranker: Annotated[
        str | None,
        typer.Option(
            help="The ranker: a name or a folder. Default: that of the gate or of the answer sets, else bm25."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(min=0, help="Number of candidates to print; 0 is all. With --set only for --json.")
    ] = 0,
    gate: GateOption = None,
    sets: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="RATE|SETS.json",
            help="Print as many candidates as are needed for one to be right at this rate, such as 0.9.",
        ),
    ] = None,
    calibration: Annotated[
        str | None, typer.Option(metavar="DATA", help="The labelled pools to calibrate --set RATE on.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the words behind each score, and what a promise covers.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Rank given candidates for one question, one line for each."""
    from demur.asking.gates.gate import find_gate, ranker_of
    from demur.cli.ranking import explanations
    from demur.cli.risk import promises
    from demur.data.candidates import read_candidates
    from demur.errors import DataError, UsageError
    from demur.types import Pool

    if not question.strip():
        raise UsageError("the question is empty; write one in quotes")
    if top and sets is not None and not json:
        what = "--set prints a whole set, as its promise is for all of it, and --top would cut it"
        raise UsageError(f"{what}; leave one of them out, or take --json, where --top cuts the ranking alone")
    if ranker == "meaning":
        what = "meaning finds passages in files, and has no candidates to rank"
        raise UsageError(f"{what}; use demur ask --from FILES --ranker meaning, or rank with encoder here")
    with warnings_noted():
        opened = find_gate(gate, ranker)
    chosen_ranker = ranker_of(opened) if ranker is None and opened else ranker
    built, rule = promises.ranker_and_sets(chosen_ranker, sets, calibration)
    given = list(read_candidates(candidates))
    if not given and candidates != "-":
        raise DataError(f"{candidates}: no candidates; write one to a line")
    built = built.prepare([Pool("q", question, tuple(given))])
    for promise in (opened, rule):
        if promise is not None:
            promise.check_ranker(built)
    ranking = built.rank(question, given)
    verdict = opened.judge(ranking) if opened and given else None
    chosen = rule.of(ranking) if rule else ranking.candidates[: top or None]
    why = explanations.explanations(built, question, given) if explain and given else {}
    if json:
        rows: list[Ranked] = []
        for place, (candidate, score) in enumerate(list(ranking)[: top or None], 1):
            rows.append({"rank": place, "id": candidate.id, "text": candidate.text, "score": score})
            if why:
                rows[-1]["pairs"] = explanations.plain_pairs(why[candidate.text])
        judged: Verdict = promises.plain_verdict(opened, verdict) if opened else {}
        start: Rank = {"question": question, "ranker": built.spec, "ranking": rows}
        told: Rank = {**start, **judged}
        if rule:
            told["set"] = promises.plain_set(rule, chosen)
        emit(told)
        return
    for line in promises.verdict_lines(opened, verdict) if opened else ():
        say(line)
    shown = list(ranking)[: len(chosen)]
    if why:
        explanations.show(shown, why)
    lines = []
    for number, (candidate, score) in enumerate(() if why else shown, 1):
        text = " ".join(candidate.text.splitlines())
        lines.append(f"{number:>3}  {score:8.4f}  {text}")
    if rule:
        lines += ["", f"{len(chosen)} of {len(given)} candidates. {rule.promise}"]
    for promise in (opened, rule) if explain else ():
        lines += ["", *promises.notes(promise)] if promise else []
    for line in lines:
        say(line)
