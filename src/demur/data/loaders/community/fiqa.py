"""FiQA, reduced: each of the 333 test questions ranks the same 865 answers, those whose text is here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from demur import files
from demur.data.loaders import Loader, Split, csv_rows, rows, shaped
from demur.types import Candidate, Pool


def read_pools(questions: Path, qrels: Path, split: Path, answers: Path) -> Iterator[Pool]:
    """One pool per test question over all answers; those that the qrels name are positive."""
    right: dict[str, set[str]] = {}
    for _, (_, question, document) in islice(rows(qrels, 3), 1, None):
        right.setdefault(question, set()).add(document)
    texts = {id: text for _, (id, text) in rows(answers, 2)}
    wrong = {id: Candidate(id, text, 0) for id, text in texts.items()}
    with shaped(split):
        chosen = {str(id) for id in json.loads(files.whole(split))["test"]}
    for _, (_, id, question, _) in islice(csv_rows(questions, 4, "\t"), 1, None):
        if id in chosen:
            marked = {name: Candidate(name, texts[name], 1) for name in right.get(id, ()) if name in texts}
            yield Pool(id, question, tuple((wrong | marked).values()))


_FILES = ("questions.tsv.gz", "qrels.tsv.gz", "split-qids.json", "test-answers.tsv.gz")
LOADER = Loader({"test": Split(read_pools, tuple(f"fiqa/{name}" for name in _FILES))})
