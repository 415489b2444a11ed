"""ANTIQUE: non-factoid questions with graded answers, as the SCAN paper used them and in full.

Grades run from 1 to 4; 3 and 4 are positive. The grade stays in ``candidate.extra["grade"]``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from demur import files
from demur.data.formats.shared.checks import Place
from demur.data.loaders import Loader, Split, csv_rows, relabelled, rows
from demur.errors import DataError
from demur.types import Candidate, Pool

RELEVANT = 3

log = logging.getLogger(__name__)


def read_scan(pairs: Path, queries: Path, qrels: Path) -> Iterator[Pool]:
    """The pools of the SCAN paper's file; ids come from the collection's own queries and judgements.

    Its rows stand in the order of the judgements, so a question's n-th answer has the n-th document's id;
    a file whose grades disagree with that is refused.
    """
    ids = {question: id for id, question in _queries(queries).items()}
    judged = _judged(qrels)
    for question, group in groupby(csv_rows(pairs, 4, "\t"), key=lambda row: row[1][0]):
        members = list(group)
        place = members[0][0]
        if question not in ids:
            raise place.error(f"question {question!r} is not in {queries.name}", "obtain the files again")
        documents = judged.get(ids[question], [])
        if [grade for _, grade in documents] != [_grade(cells[3], at) for at, cells in members]:
            raise place.error(f"other grades than {qrels.name} for {ids[question]}", "obtain the files again")
        answers = zip(documents, members, strict=True)
        candidates = (_candidate(id, cells[1], grade) for (id, grade), (_, cells) in answers)
        yield Pool(ids[question], question, tuple(candidates))


def read_full(collection: Path, queries: Path, qrels: Path) -> Iterator[Pool]:
    """The judged answers of every query, with their texts from the whole collection."""
    judged = _judged(qrels)
    wanted = {document for documents in judged.values() for document, _ in documents}
    texts: dict[str, str] = {}
    for number, line in files.lines(collection):
        document, tab, text = line.partition("\t")
        if not tab:
            raise Place(collection, number).error("no tab between id and text", "obtain the file again")
        if document in wanted:
            texts[document] = text
    if missing := len(wanted) - len(texts):
        log.warning(
            "%s: %d of %d judged answers have no text here and are left out", collection, missing, len(wanted)
        )
    for id, question in _queries(queries).items():
        found = [(document, grade) for document, grade in judged.get(id, ()) if document in texts]
        yield Pool(
            id, question, tuple(_candidate(document, texts[document], grade) for document, grade in found)
        )


def graded(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The same pools labelled by grade − 1, from 0 to 3: relevant from 2 on, and the gain of nDCG."""
    for pool in pools:
        yield relabelled(pool, [candidate.extra["grade"] - 1 for candidate in pool.candidates])


def _candidate(id: str, text: str, grade: int) -> Candidate:
    return Candidate(id, text, int(grade >= RELEVANT), {"grade": grade})


def _grade(text: str, place: Place) -> int:
    if text not in ("1", "2", "3", "4"):
        raise place.error(f"grade {text!r} is not one of 1, 2, 3, 4", "obtain the file again")
    return int(text)


def _queries(path: Path) -> dict[str, str]:
    return {id: question for _, (id, question) in rows(path, 2)}


def _judged(path: Path) -> dict[str, list[tuple[str, int]]]:
    judged: dict[str, list[tuple[str, int]]] = {}
    for number, line in files.lines(path):
        if cells := line.split():  # tabs or spaces: both occur in one file
            if len(cells) != 4:
                raise DataError("not a line of qrels", path=path, line=number, fix="obtain the file again")
            judged.setdefault(cells[0], []).append((cells[2], _grade(cells[3], Place(path, number))))
    return judged


def _beside(pairs: str, name: str) -> tuple[str, str, str]:
    return (f"antique/{pairs}", f"antique/antique-{name}-queries.txt.gz", f"antique/antique-{name}.qrel.gz")


LOADER = Loader(
    {
        "dev": Split(read_scan, _beside("scan-dev.tsv.gz", "train")),
        "test": Split(read_scan, _beside("scan-test.tsv.gz", "test")),
        "full/train": Split(read_full, _beside("antique-collection.txt.gz", "train")),
        "full/test": Split(read_full, _beside("antique-collection.txt.gz", "test")),
    },
    {"graded": graded},
    {"graded": RELEVANT - 1},
)
