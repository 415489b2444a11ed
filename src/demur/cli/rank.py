"""`demur rank`: one question and its candidates, best first."""

from __future__ import annotations

from typing import Annotated

import typer

from demur.cli.console import JsonFlag, emit, stdout


def rank(
    question: Annotated[str, typer.Argument(help="The question.")],
    candidates: Annotated[
        str, typer.Option(help="A file of candidates, one to a line, or .jsonl with a text key; - is stdin.")
    ],
    ranker: Annotated[str, typer.Option(help="A ranker, such as bm25.")] = "bm25",
    top: Annotated[int, typer.Option(min=0, help="How many to print; 0 is all.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Rank given candidates for one question."""
    import demur
    from demur.data.candidates import read_candidates
    from demur.types import Pool

    built = demur.ranker(ranker)
    given = list(read_candidates(candidates))
    built = built.prepare([Pool("q", question, tuple(given))])
    ranking = built.rank(question, given)
    shown = list(ranking)[: top or None]
    if json:
        rows = [{"rank": n, "id": c.id, "text": c.text, "score": s} for n, (c, s) in enumerate(shown, 1)]
        emit({"question": question, "ranker": built.spec, "ranking": rows})
        return
    console = stdout()
    for number, (candidate, score) in enumerate(shown, 1):
        console.print(f"{number:>3}  {score:8.4f}  {candidate.text}", markup=False)
