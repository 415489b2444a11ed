"""TrecQA: the raw splits as pseudo-XML, and the large automatically labelled training set as TSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path

from demur import files
from demur.data.formats.shared.checks import Place
from demur.data.loaders import Loader, Split, binary, numbered, rows
from demur.types import Candidate, Pool

LONGEST = 60  # tokens of an answer in the original of train-all; longer ones are empty there

_POOL = re.compile(r"<QApairs id='([^']*)'>")
_LABELS = {"<positive>": 1, "<negative>": 0}


def read_xml(path: Path) -> Iterator[Pool]:
    """The pools of a pseudo-XML file; a few questions have no candidates, and are counted as published.

    Of the lines of an element only the first, the tokens, is kept; the others hold their tags and heads.
    """
    id, question, pairs, element, number = "", "", list[tuple[str, int]](), "", 0
    for number, line in files.lines(path):
        if element:
            text = line.replace("\t", " ")
            if element == "<question>":
                question = text
            else:
                pairs.append((text, _LABELS[element]))
            element = ""
        elif line == "<question>" or line in _LABELS:
            element = line
        elif found := _POOL.fullmatch(line):
            id, question, pairs = found[1], "", []
        elif line == "</QApairs>":
            if not (id and question):
                raise Place(path, number).error("a pool without id or question", "obtain the file again")
            yield Pool(id, question, numbered(id, pairs))
            id = ""
    if id or element:
        raise Place(path, number).error("the file ends within a pool", "obtain the file again")


def read_tsv(path: Path) -> Iterator[Pool]:
    """The pools of a file with the columns qid, question, answer, label, and a header."""
    for id, group in groupby(islice(rows(path, 4), 1, None), key=lambda row: row[1][0]):
        members = list(group)
        pairs = [(cells[2], binary(cells[3], place)) for place, cells in members]
        yield Pool(id, members[0][1][1], numbered(id, pairs))


def short(pools: Iterable[Pool]) -> Iterator[Pool]:
    """The same pools with every answer of more than 60 tokens empty: the original's reading."""
    for pool in pools:
        kept = (
            c if len(c.text.split()) <= LONGEST else Candidate(c.id, "", c.label) for c in pool.candidates
        )
        yield Pool(pool.id, pool.question, tuple(kept), pool.extra)


LOADER = Loader(
    {
        **{name: Split(read_xml, (f"trecqa/{name}.xml.gz",)) for name in ("train", "dev", "test")},
        "train-all": Split(read_tsv, ("trecqa/train-all.tsv.gz",)),
    },
    {"short": short},
)
