"""Passages made ready for questions, and the answering of them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from demur.asking.answering import Asked
from demur.asking.documents import read_documents, readable
from demur.asking.gate import Gate
from demur.asking.passages import Passage
from demur.asking.reading import check_quotes, reader_for
from demur.asking.searching import DEPTH, Search
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers import ranker as named
from demur.rankers.bm25 import BM25
from demur.rankers.index import Index
from demur.types import Abstention, Answer, Candidate, Pool

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
        ranker = named(ranker)
        if not ranker.needs_preparing:
            return ranker
        candidates = tuple(Candidate(passage.id, passage.searched) for passage in self.passages)
        return ranker.prepare([Pool("library", "", candidates)])

    def ask(
        self,
        question: str,
        ranker: str | Ranker | None = None,
        gate: Gate | None = None,
        top: int = 5,
        reader: str | Path | object | None = None,
    ) -> Answer | Abstention:
        """The best passage with a quotation, or the reason why there is no answer.

        A gate looks at the best 50 passages, as when it was calibrated, so no more than 50 are shown. Without
        a gate, a reader that finds nothing in the best passage has the last word.
        """
        if top < 1:
            raise UsageError(f"top={top} shows nothing; ask for one passage or more")
        search = self.search(ranker)
        quoting = reader_for(reader, search.ranker)
        if quoting is not None and quoting is search.ranker:
            search = replace(search, reading=True)
        if gate is not None:
            gate.check_ranker(search.known_to(gate))
            check_quotes(gate, quoting)
        ranking = search.find(question, DEPTH if gate is not None else max(top, DEPTH))
        return Asked(search, question, ranking, gate).result(top, quoting)

    def search(self, ranker: str | Ranker | None = None) -> Search:
        """What is asked when this library is: a ranker of its passages, for which a gate is calibrated."""
        return Search(self, None if ranker is None else self.prepared(ranker))

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


def ask(
    question: str,
    documents: Documents | Library,
    ranker: str | Ranker | None = None,
    gate: Gate | None = None,
    top: int = 5,
    stem: str = "english",
    reader: str | Path | object | None = None,
) -> Answer | Abstention:
    """The answer to a question, quoted from documents, or the reason why there is none.

    A string is a text, a `Path` a file or folder. Make a `Library` first if there are several questions.
    A ranker scores the best 50 passages again; a gate decides whether the best of all may be the answer. A
    reader quotes the words that answer; if none is named, the ranker does, if it is one such as ``mini`` that
    reads as well; otherwise, or with ``none``, the sentence that shares the weightiest words is quoted.
    `stem` names the language whose word endings do not count; with ``none`` all count.
    """
    library = documents if isinstance(documents, Library) else Library(documents, stem)
    return library.ask(question, ranker, gate, top, reader)


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
