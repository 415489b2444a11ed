"""The handbook that comes with demur as a passing knowledge base, with questions to label."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path

from demur.asking import example
from demur.kb.folder import KnowledgeBase
from demur.serving.answering.service import Service


def opened(
    ranker: str | None,
    gate: str | None,
    reader: str | None,
    risk: float | None,
    stem: str,
    lapse: float | None,
) -> Service:
    """A service over it; what is added and labelled goes when the service ends."""
    folder = tempfile.TemporaryDirectory(prefix="demur-example-")
    path = Path(folder.name) / "example.kb"
    kb = KnowledgeBase(path, stem)
    files = groupby(example.passages(), key=lambda passage: passage.source)
    kb.put_all((name, list(some), Path(name).suffix.lstrip(".")) for name, some in files)
    kb.keep_questions(pool.question for pool in example.pools())
    kb.close()
    service = Service.over(path, "example", ranker, gate, reader, risk, lapse, tended=True)
    service.passing = folder
    return service
