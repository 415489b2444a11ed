"""The handbook of a tool library: passages of our own, and 40 questions about it, 10 of them without answer.

A question's `quotes` are words of the passages that answer it. So passages may be moved or cut anew, and a
quotation can be judged too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import demur
from demur import files
from demur.data.loaders import Loader, Split
from demur.kb.files.documents import read_documents
from demur.kb.passages import Passage
from demur.types import Candidate, Pool

_HERE = Path(demur.__file__).parent / "example"


def passages() -> list[Passage]:
    """The passages of the handbook, their sources without the path to this folder."""
    found = []
    for passage in read_documents(_HERE / "handbook"):
        name = Path(passage.source).name
        found.append(replace(passage, id=f"{name}:{passage.line}", source=name))
    return found


def pools() -> Iterator[Pool]:
    """The questions, each with all passages as candidates; those that answer it have label 1."""
    everything = passages()
    for _, line in files.lines(_HERE / "questions.jsonl"):
        entry = json.loads(line)
        candidates = tuple(
            Candidate(passage.id, passage.text, int(any(quote in passage.text for quote in entry["quotes"])))
            for passage in everything
        )
        yield Pool(entry["id"], entry["question"], candidates, {"quotes": entry["quotes"]})


LOADER = Loader({"questions": Split(pools, ())})
