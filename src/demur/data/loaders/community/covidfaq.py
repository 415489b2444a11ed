"""COVID-FAQ: users' queries, each over the same 67 answers of one FAQ. Nothing is trained on it here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from demur.data.loaders import Loader, Split, rows
from demur.types import Candidate, Pool


def read_pools(answers: Path, queries: Path, questions: Path | None = None) -> Iterator[Pool]:
    """One pool per query over all answers, each under the FAQ's own questions, as `ask` ranks an FAQ."""
    asked: dict[str, str] = {}
    for _, (number, question) in rows(questions, 2) if questions else ():
        asked[number] = f"{asked.get(number, '')}{question}\n"
    texts = {number: asked.get(number, "") + answer for _, (number, answer) in rows(answers, 2)}
    for place, (query, right, question) in rows(queries, 3):
        marked = set(right.split(","))
        if missing := marked - texts.keys():
            raise place.error(f"there is no answer {min(missing)!r}", "obtain the files again")
        candidates = tuple(Candidate(id, text, int(id in marked)) for id, text in texts.items())
        yield Pool(query, question, candidates)


_FILES = ("covidfaq/answers.tsv.gz", "covidfaq/queries.tsv.gz")
LOADER = Loader(
    {
        "test": Split(read_pools, (*_FILES, "covidfaq/questions.tsv.gz")),
        "test/answers-only": Split(read_pools, _FILES),
    }
)
