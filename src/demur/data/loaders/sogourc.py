"""SogouRC: queries to a Chinese search engine, each with an answer and the passages that were found for it.

Each line is one query as JSON, with ``query_id``, ``query``, ``answer`` (a text or several) and ``passages``,
of which each has a ``passage_text`` and may have a ``passage_id``: so the contest's files are described by
those who took part. Other keys are not looked at.

One pool per query and passage, as the risk-control paper counts them. It can be answered where the answer
stands in the passage; in the pool's ``extra`` are ``query`` (the query's id) and ``answers``, each where it
first stands, as in SQuAD. How the paper made its pairs and parted them into splits it does not say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demur import files
from demur.data.loaders import Loader, Split, shaped
from demur.types import Candidate, Pool


def read_pools(path: Path) -> Iterator[Pool]:
    """The pools of a file, query by query."""
    for number, line in files.lines(path):
        if line.strip():
            with shaped(path, number):
                found = list(_pools(json.loads(line)))
            yield from found


def _pools(query: dict[str, Any]) -> Iterator[Pool]:
    name, asked, told = str(query["query_id"]), query["query"].strip(), query["answer"]
    answers = [text.strip() for text in ([told] if isinstance(told, str) else told)]
    for place, passage in enumerate(query["passages"]):
        text, its_id = passage["passage_text"].strip(), f"{name}-{passage.get('passage_id', place)}"
        found = [
            {"text": each, "answer_start": text.index(each)}
            for each in dict.fromkeys(answers)
            if each and each in text
        ]
        candidate = Candidate(its_id, text, int(bool(found)))
        yield Pool(its_id, asked, (candidate,), {"query": name, "answers": found})


LOADER = Loader({name: Split(read_pools, (f"sogourc/{name}.jsonl.gz",)) for name in ("train", "dev", "test")})
