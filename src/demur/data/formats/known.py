"""THE table of formats, and how a format is told from a path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from demur.data.formats import beir, bge, csv, jsonl, parquet, sentence_transformers, squad, tevatron, tsv
from demur.data.formats.shared.jsonlines import shown_list
from demur.errors import DataError, UnknownName, UsageError
from demur.files import lines
from demur.types import Pool


@dataclass(frozen=True)
class Format:
    """A way to hold pools: how its files are called, how they are read and written, its JSON keys."""

    name: str
    about: str
    suffixes: tuple[str, ...] = ()
    read: Callable[[str | Path], Iterator[Pool]] | None = None
    write: Callable[..., None] | None = None
    """Takes a path and pools; in a table also more extras than those of the first pool."""
    check: Callable[[Iterable[Pool], str | Path], Iterator[object]] | None = None
    """Goes through pools that jsonl can hold, and raises what `write` would."""
    keys: tuple[str, ...] = ()
    table: bool = False
    """Whether extras are columns, and pools are rows that follow each other."""


_ALL = [
    Format(
        "jsonl",
        "one pool per line",
        (".jsonl", ".ndjson"),
        jsonl.read_pools,
        jsonl.write_pools,
        keys=("question candidates",),
    ),
    Format(
        "tsv", "question, answer, label", (".tsv",), tsv.read_pools, tsv.write_pools, tsv.rows, table=True
    ),
    Format("asnq", "question, answer, label from 1 to 4", (), tsv.read_asnq),
    Format(
        "csv",
        "question, answer, label with a header",
        (".csv",),
        csv.read_pools,
        csv.write_pools,
        csv.rows,
        table=True,
    ),
    Format(
        "parquet", "one pool per row", (".parquet",), parquet.read_pools, parquet.write_pools, parquet.checked
    ),
    Format(
        "beir",
        "a folder of corpus, queries and judgements",
        (),
        beir.read_pools,
        beir.write_pools,
        beir.rows,
    ),
    Format("squad", "questions with a paragraph", (".json",), squad.read_pools, squad.write_pools),
    Format(
        "tevatron",
        "training JSONL of Tevatron",
        (),
        tevatron.read_pools,
        tevatron.write_pools,
        tevatron.rows,
        ("query positive_passages",),
    ),
    Format("bge", "training JSONL of FlagEmbedding", (), bge.read_pools, keys=("query pos",)),
    Format(
        "sentence-transformers",
        "training JSONL of sentence-transformers",
        (),
        sentence_transformers.read_pools,
        keys=(
            "anchor positive",
            "query docs labels",
            "query answer",
            "question answer",
            "sentence1 sentence2",
        ),
    ),
    Format("run", "scores without texts; read_run reads it", (".run", ".trec")),
    Format("qrels", "judgements without texts; read_qrels reads it", (".qrels", ".qrel")),
]

FORMATS = {format.name: format for format in _ALL}
_SUFFIXES = {suffix: format.name for format in _ALL for suffix in format.suffixes}


def format_named(name: str) -> Format:
    """The format of a name."""
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    return FORMATS[name]


def by_name(path: str | Path) -> str:
    """The name of the format that a path says; ``-`` is jsonl."""
    if str(path) == "-":
        return "jsonl"
    path = Path(path)
    if path.is_dir() or beir.is_split(path):
        return "beir"
    suffix = _suffix(path)
    if suffix not in _SUFFIXES:
        ends = f"ends in {suffix!r}" if suffix else "has no ending"
        known = f"known endings: {', '.join(sorted(_SUFFIXES))}, each also with .gz"
        fix = "say which with --format (or --to)"
        raise UsageError(f"{path}: cannot tell the format of a name that {ends}; {fix}; {known}")
    return _SUFFIXES[suffix]


def names_file(path: Path) -> bool:
    """Whether a path ends as files of a format do."""
    return _suffix(path) in _SUFFIXES


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def by_first_line(path: str | Path) -> str:
    """The name of the JSONL format with the keys of the first line; a broken one is left to the reader."""
    first = next(((line, text) for line, text in lines(path) if text.strip()), None)
    try:
        value = json.loads(first[1]) if first else None
    except (ValueError, RecursionError):
        return "jsonl"
    if first is None or type(value) is not dict:
        return "jsonl"
    for format in FORMATS.values():
        if any(set(keys.split()) <= value.keys() for keys in format.keys):
            return format.name
    what = f"no known format has the keys {shown_list(', '.join(value)) or '(none)'}"
    raise DataError(what, path=path, line=first[0], fix="demur's own are id, question and candidates")
