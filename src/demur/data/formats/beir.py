"""BEIR folders: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/<split>.tsv``, each also with ``.gz``.

A pool holds the judged documents of a query, in the order of the judgements; queries that a split does not
judge are left out. Reading a folder takes its test split, else dev, else train; name
``folder/qrels/dev.tsv`` for a certain one. A text is the title, a space and the document's text, as BEIR
joins them; the title is kept in the extra ``title``.

Reading holds all judged documents of the split, writing the ids and a hash of all documents. The folder
that is written must not be there, or be empty; its split is test, or the one named by
``folder/qrels/dev.tsv``. In BEIR ids belong to the whole corpus: two texts with one id cannot be written,
nor unjudged candidates, empty pools, or an id twice.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from demur.data.formats.shared.checks import unwritable
from demur.data.formats.shared.jsonlines import checked_extra, encoded, id_of, objects, other_keys, text_of
from demur.data.formats.shared.passages import candidate, passage
from demur.data.formats.trec import beir_header, beir_line, read_qrels
from demur.errors import DataError, UsageError
from demur.files import replacing
from demur.types import Candidate, Pool

_QUERY = frozenset({"_id", "text"})
_CORPUS, _QUERIES, _QRELS = range(3)
_FIX = "a BEIR folder has corpus.jsonl, queries.jsonl and qrels/test.tsv"


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a split, in the order of the queries."""
    root, judgements = _split(Path(path))
    qrels = read_qrels(judgements)
    documents = _documents(_file(root, "corpus.jsonl"), {id for judged in qrels.values() for id in judged})
    for place, line in objects(_file(root, "queries.jsonl")):
        id, question = id_of(line, "_id", place), text_of(line, "text", place)
        if id not in qrels:
            continue
        judged = qrels.pop(id)
        if missing := [document for document in judged if document not in documents]:
            what = f"document {missing[0]!r}, judged for query {id!r}, is not in the corpus"
            raise DataError(what, path=judgements, fix="add it to the corpus, or drop the judgement")
        found = tuple(_labelled(documents[document], mark) for document, mark in judged.items())
        extra = other_keys(line, _QUERY, place)
        yield Pool(id, question, found, extra) if extra else Pool(id, question, found)
    if qrels:
        what = f"query {next(iter(qrels))!r} is judged, but not in the queries (or twice in them)"
        raise DataError(what, path=judgements, fix="add it to queries.jsonl, or drop its judgements")


def is_split(path: Path) -> bool:
    """Whether a path is a judgement file of a BEIR folder."""
    return _names_split(path) and _maybe(path.parent.parent / "corpus.jsonl") is not None


def is_beir(path: Path) -> bool:
    """Whether a path is a BEIR folder."""
    return path.is_dir() and _maybe(path / "corpus.jsonl") is not None


def _names_split(path: Path) -> bool:
    return path.parent.name == "qrels" and path.name.endswith((".tsv", ".tsv.gz"))


def _split(path: Path) -> tuple[Path, Path]:
    if _names_split(path):
        return path.parent.parent, path
    for split in ("test", "dev", "train"):
        if found := _maybe(path / "qrels" / f"{split}.tsv"):
            return path, found
    what = "no qrels/test.tsv, dev.tsv or train.tsv in this folder" if path.is_dir() else "no such folder"
    raise DataError(what, path=path, fix=_FIX)


def _maybe(path: Path) -> Path | None:
    return next((one for one in (path, path.with_name(f"{path.name}.gz")) if one.is_file()), None)


def _file(root: Path, name: str) -> Path:
    if found := _maybe(root / name):
        return found
    raise DataError(f"no {name} in this folder", path=root, fix=_FIX)


def _documents(path: Path, wanted: set[str]) -> dict[str, Candidate]:
    documents: dict[str, Candidate] = {}
    for place, line in objects(path):
        id = id_of(line, "_id", place)
        if id in documents:
            raise place.error(f"document {id!r} occurs twice in the corpus", "keep one of the two")
        if id in wanted:
            documents[id] = candidate(line, "_id", None, place)
    return documents


def _labelled(document: Candidate, label: int) -> Candidate:
    return Candidate(document.id, document.text, label, document.extra)


def write_pools(path: str | Path, pools: Iterable[Pool]) -> None:
    """Write a new folder, which is not there at all before it is whole."""
    path = Path(path)
    root, split = (path.parent.parent, path.name) if _names_split(path) else (path, "test.tsv")
    if str(path) == "-":
        raise UsageError("a BEIR folder cannot be written to stdout; name a folder")
    if root.is_file() or (root.is_dir() and any(root.iterdir())):
        raise DataError("exists already", path=root, fix="remove it, or name another folder")
    beside = root.with_name(f".{root.name}.{os.getpid()}.part")
    if not root.parent.is_dir():
        raise DataError("the folder to write into does not exist", path=root, fix="make it first")
    try:
        (beside / "qrels").mkdir(parents=True)
        _write(beside, split, pools, path)
        beside.replace(root)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _write(folder: Path, split: str, pools: Iterable[Pool], path: Path) -> None:
    with ExitStack() as stack:
        names = ("corpus.jsonl", "queries.jsonl", f"qrels/{split}")
        files = [stack.enter_context(replacing(folder / name)) for name in names]
        files[_QRELS].write(beir_header())
        for file, line in rows(pools, path):
            files[file].write(line)


def rows(pools: Iterable[Pool], path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines, each with the number of its file: corpus, queries or judgements."""
    documents: dict[str, int] = {}
    ids: set[str] = set()
    for pool in pools:
        if not pool.candidates or pool.id in ids:
            what = "occurs twice" if pool.id in ids else "has no candidates, so nothing would be judged"
            raise unwritable(pool, what, path)
        ids.add(pool.id)
        query = {"_id": pool.id, "text": pool.question, **checked_extra(pool.extra, _QUERY, pool, path)}
        yield _QUERIES, encoded(query) + "\n"
        for one in pool.candidates:
            if one.label is None:
                fix = "drop such candidates, or write .jsonl"
                raise unwritable(pool, f"has a candidate {one.id!r} without a label", path, fix)
            document = encoded(passage(one, "_id", pool, path))
            if one.id not in documents:
                yield _CORPUS, document + "\n"
                documents[one.id] = hash(document)
            elif documents[one.id] != hash(document):
                fix = "give documents ids of their own, or write .jsonl"
                what = f"has a document {one.id!r} whose text was different before"
                raise unwritable(pool, what, path, fix)
            yield _QRELS, beir_line(pool.id, one.id, one.label, path)
