"""Passages made ready for questions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from demur.asking.searching import Search
from demur.errors import UsageError
from demur.kb.documents import read_documents, readable
from demur.kb.passages import Passage
from demur.rankers import Ranker
from demur.rankers import ranker as resolve_ranker
from demur.rankers.bm25 import BM25
from demur.rankers.index import Index
from demur.types import Candidate, Pool

AS_FOUND = "bm25", "none"
"""In place of a second ranker: passages stay as BM25 found them."""
Documents = str | Path | Passage | Iterable[str | Path | Passage]


class Library:
    """Passages and their index. Of passages that are alike in heading and text, the first is kept.

    `stem` names the language whose word endings do not count; with ``none`` all count.
    """

    def __init__(self, documents: Documents, stem: str = "english") -> None:
        copies: Counter[str] = Counter()
        kept: dict[str, Passage] = {}
        for passage in _passages(documents):
            copies[passage.searched] += 1
            kept.setdefault(passage.searched, passage)
        self.passages = tuple(kept.values())
        self.copies = tuple(copies[searched] for searched in kept)
        self.stem = stem
        self.index = Index(list(kept), BM25(stem=stem))

    def __len__(self) -> int:
        return len(self.passages)

    def prepared(self, ranker: str | Ranker) -> Ranker:
        """The ranker, with the statistics of these passages where it needs any."""
        ranker = resolve_ranker(ranker)
        if not ranker.needs_preparing:
            return ranker
        candidates = tuple(Candidate(passage.id, passage.searched) for passage in self.passages)
        return ranker.prepare([Pool("library", "", candidates)])

    def search(self, ranker: str | Ranker | None = None) -> Search:
        """What is asked when this library is: a ranker of its passages, for which a gate is calibrated.

        Without a second ranker, or with one of `AS_FOUND`, passages stay as BM25 found them.
        """
        alone = ranker is None or (isinstance(ranker, str) and ranker in AS_FOUND)
        return Search(self, None if ranker is None or alone else self.prepared(ranker))

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all that is searched, and how; where the passages come from does not matter."""
        digest = hashlib.sha256(f"{self.index.bm25.fingerprint} {len(self)}".encode())
        for passage in self.passages:
            digest.update(hashlib.sha256(passage.searched.encode("utf-8", "surrogatepass")).digest())
        return digest.hexdigest()[:16]

    def candidate(self, place: int) -> Candidate:
        """A passage with its source, line, heading, and how many copies of it stand elsewhere."""
        passage = self.passages[place]
        extra = {"source": passage.source, "line": passage.line, "heading": passage.heading}
        return Candidate(passage.id, passage.text, None, {**extra, "copies": self.copies[place] - 1})


def _passages(documents: Documents) -> Iterator[Passage]:
    """The passages of files, and texts as they are."""
    many = [documents] if isinstance(documents, str | Path | Passage) else documents
    for number, document in enumerate(many):
        if isinstance(document, Passage):
            yield document
        elif isinstance(document, Path):
            yield from read_documents(document)
        elif isinstance(document, str):
            if len(document.split(None, 1)) == 1 and readable(Path(document)):
                raise UsageError(
                    f"{document!r} looks like a file, but a string is a text; pass Path({document!r})"
                )
            yield Passage(str(number), document)
        else:
            raise UsageError(f"{type(document).__name__} is no document; pass a Path, a string or a Passage")
