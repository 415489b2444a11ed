"""TREC runs (``qid Q0 docid rank score tag``) and judgements (``qid 0 docid relevance``, or in BEIR's way).

Columns are separated by spaces or tabs. The rank of a run is written, but ignored when read; the second
column may be anything, and scores keep every digit. Ids with spaces cannot be written, as no reader could
tell them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from demur.data.formats.shared.checks import Place, label, number, shown
from demur.errors import DataError, UsageError
from demur.files import lines, replacing

_BEIR = ("query-id", "corpus-id", "score")


def read_run(path: str | Path) -> dict[str, dict[str, float]]:
    """The scores of a run: question id, then document id, then score."""
    run: dict[str, dict[str, float]] = {}
    for line, text in lines(path):
        cells = text.split()
        if len(cells) != 6:
            if not cells:
                continue
            what = f"{len(cells)} column{'s' * (len(cells) != 1)} where a run has 6"
            raise DataError(what, path=path, line=line, fix="write qid Q0 docid rank score tag")
        try:
            score = number(cells[4])
        except ValueError:
            what = f"score {shown(cells[4])} is not a number"
            raise DataError(
                what, path=path, line=line, fix="every document needs a score to be ranked by"
            ) from None
        scores = run.setdefault(cells[0], {})
        if cells[2] in scores:
            raise _twice(cells[0], cells[2], path, line)
        scores[cells[2]] = score
    return run


def read_qrels(path: str | Path) -> dict[str, dict[str, int]]:
    """The judgements of a file: question id, then document id, then relevance."""
    qrels: dict[str, dict[str, int]] = {}
    for line, question, document, cell in _judgements(path):
        relevance = label(cell, place := Place(path, line))
        if relevance is None:
            raise place.error("no relevance", "write a whole number such as 0 or 1")
        judged = qrels.setdefault(question, {})
        if document in judged:
            raise _twice(question, document, path, line)
        judged[document] = relevance
    return qrels


def _judgements(path: str | Path) -> Iterator[tuple[int, str, str, str]]:
    beir = None
    for line, text in lines(path):
        cells = text.split("\t") if beir else text.split()
        if not text or not cells:
            continue
        if beir is None:
            beir = tuple(cell.casefold().replace("_", "-") for cell in cells) == _BEIR
            if beir:
                continue
        if len(cells) != (3 if beir else 4):
            fix = f"write {' '.join(_BEIR)}, separated by tabs" if beir else "write qid 0 docid relevance"
            what = f"{len(cells)} column{'s' * (len(cells) != 1)} where judgements have {3 if beir else 4}"
            raise DataError(what, path=path, line=line, fix=fix)
        yield line, cells[0], cells[-2], cells[-1]


def _twice(question: str, document: str, path: str | Path, line: int) -> DataError:
    what = f"document {document!r} occurs twice for question {question!r}"
    return DataError(what, path=path, line=line, fix="keep one of the two lines")


def write_run(path: str | Path, run: Mapping[str, Mapping[str, float]], tag: str = "demur") -> int:
    """How many lines were written. A question without documents has none."""
    with replacing(path) as file:
        return sum(
            file.write(line) > 0 for question in run for line in run_lines(question, run[question], tag, path)
        )


def run_lines(
    question: str, scores: Mapping[str, float], tag: str = "demur", path: str | Path = "-"
) -> Iterator[str]:
    """One question's lines of a run, best first, ties in the order given; the path is for messages."""
    if tag.split() != [tag]:
        raise UsageError(f"the tag of a run must be one word, not {tag!r}")
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    for rank, (document, score) in enumerate(ranked, 1):
        if score != score:
            what = f"the score of {document!r} for question {question!r} is NaN"
            raise DataError(what, path=path, fix="a ranker must give every candidate a number")
        yield f"{_word(question, path)} Q0 {_word(document, path)} {rank} {float(score)!r} {tag}\n"


def write_qrels(path: str | Path, qrels: Mapping[str, Mapping[str, int]]) -> int:
    """How many lines were written: as BEIR has them, with a header, if the file is called .tsv or .tsv.gz."""
    beir = str(path).removesuffix(".gz").endswith(".tsv")
    with replacing(path) as file:
        if beir:
            file.write(beir_header())
        for question, judged in qrels.items():
            for document, relevance in judged.items():
                file.write((beir_line if beir else _line)(question, document, relevance, path))
    return sum(map(len, qrels.values()))


def _line(question: str, document: str, relevance: int, path: str | Path) -> str:
    return f"{_word(question, path)} 0 {_word(document, path)} {int(relevance)}\n"


def beir_header() -> str:
    """The first line of BEIR's judgements."""
    return "\t".join(_BEIR) + "\n"


def beir_line(question: str, document: str, relevance: int, path: str | Path) -> str:
    """One judgement as BEIR has it; ids may hold spaces, but no tabs and line breaks."""
    for id in (question, document):
        if set(id) & set("\t\n\r"):
            raise DataError(f"id {id!r} has a tab or line break", path=path, fix="give it another id")
    return f"{question}\t{document}\t{int(relevance)}\n"


def _word(id: str, path: str | Path) -> str:
    if id.split() != [id]:
        what = f"id {id!r} is empty or has a space, which TREC files cannot hold"
        raise DataError(what, path=path, fix="give it another id, or write .jsonl")
    return id
