"""What demur says of pools that a format cannot hold."""

# ruff: noqa: E501 – a table of messages reads best with a row to a line

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demur.data import formats
from demur.errors import DataError
from demur.types import Candidate, Pool

ANY = "write .jsonl, which holds any pool"


def pool(text: str = "so", label: Any = 1, question: str = "why?", id: str = "q", **extra: Any) -> Pool:
    return Pool(id, question, (Candidate("a", text, label, extra),))


TWICE = Pool("q", "why?", (Candidate("a", "so"), Candidate("a", "no")))
EMPTY = Pool("q", "why?", ())
POOL_EXTRA = replace(pool(), extra={"title": "T"})

REFUSED: list[tuple[str, list[Pool], str]] = [
    # any format
    ("jsonl", [TWICE], "pool 'q' has two candidates with the id 'a'; give each an id of its own"),
    (
        "jsonl",
        [pool("\ud83d")],
        "pool 'q' holds U+D83D, which utf-8 cannot write; put another character in its place",
    ),
    (
        "tsv",
        [pool("\ud83d")],
        "pool 'q' holds U+D83D, which utf-8 cannot write; put another character in its place",
    ),
    (
        "csv",
        [pool(question="\udc00")],
        "pool 'q' holds U+DC00, which utf-8 cannot write; put another character in its place",
    ),
    (
        "parquet",
        [pool("\ud83d")],
        "pool 'q' holds U+D83D, which utf-8 cannot write; put another character in its place",
    ),
    (
        "beir",
        [pool(id="q\ud83d")],
        "pool 'q\\ud83d' holds U+D83D, which utf-8 cannot write; put another character in its place",
    ),
    (
        "tevatron",
        [pool(source="\ud83d")],
        "pool 'q' holds U+D83D, which utf-8 cannot write; put another character in its place",
    ),
    (
        "jsonl",
        [pool(label=float("nan"))],
        "pool 'q' has the label nan, which is not a whole number; use whole numbers, or None where there is no judgement",
    ),
    # extras as JSON
    (
        "jsonl",
        [replace(pool(), extra={"id": 1})],
        "pool 'q' has the extra 'id', a name this format uses itself; rename it",
    ),
    (
        "jsonl",
        [pool(label=None, x={1, 2})],
        "pool 'q' has an extra that JSON cannot hold (Object of type set is not JSON serializable); drop it",
    ),
    (
        "jsonl",
        [pool(x=float("nan"))],
        "pool 'q' has an extra that JSON cannot hold (Out of range float values are not JSON compliant*); drop it",
    ),
    (
        "jsonl",
        [pool(x=(1, 2))],
        "pool 'q' has an extra that JSON would change ({'x': (1, 2)}); use lists instead of tuples, and texts as keys",
    ),
    (
        "parquet",
        [pool(x={1: 2})],
        "pool 'q' has an extra that JSON would change ({'x': {1: 2}}); use lists instead of tuples, and texts as keys",
    ),
    (
        "parquet",
        [pool(label=2**63)],
        f"pool 'q' has the label 9223372036854775808, more than 64 bits hold; {ANY}",
    ),
    # tables
    (
        "tsv",
        [pool("a\tb")],
        "pool 'q' has a tab or line break in 'a\\tb', which TSV cannot hold; write .jsonl or .csv",
    ),
    (
        "tsv",
        [pool(question="a\nb")],
        "pool 'q' has a tab or line break in 'a\\nb', which TSV cannot hold; write .jsonl or .csv",
    ),
    (
        "tsv",
        [pool("a\r")],
        "pool 'q' has a tab or line break in 'a\\r', which TSV cannot hold; write .jsonl or .csv",
    ),
    ("tsv", [EMPTY], f"pool 'q' has no candidates, so it would have no row; {ANY}"),
    ("csv", [POOL_EXTRA], f"pool 'q' has the extra 'title'; a row has room for a candidate's only; {ANY}"),
    (
        "csv",
        [pool(id="")],
        "pool '' has an empty id, its own or a candidate's; give it an id, or write .jsonl",
    ),
    (
        "csv",
        [pool(), pool()],
        "pool 'q' follows a pool of the same id; they would become one; give it another id",
    ),
    (
        "csv",
        [pool(), pool(id="p", x="y")],
        f"pool 'p' has the extra 'x', for which the first pool made no column; {ANY}",
    ),
    (
        "csv",
        [pool(label=None, Sentence="y")],
        "pool 'q' has the extra 'Sentence', a column of another meaning; rename it, or write .jsonl",
    ),
    (
        "csv",
        [pool(grade=4)],
        f"pool 'q' has the extra 'grade' = 4; a table holds texts, and a float as score; {ANY}",
    ),
    (
        "csv",
        [pool(grade="")],
        f"pool 'q' has the extra 'grade' = ''; a table holds texts, and a float as score; {ANY}",
    ),
    (
        "csv",
        [pool(score="high")],
        f"pool 'q' has the extra 'score' = 'high'; a table holds texts, and a float as score; {ANY}",
    ),
    # BEIR
    ("beir", [EMPTY], f"pool 'q' has no candidates, so nothing would be judged; {ANY}"),
    ("beir", [pool(), pool()], f"pool 'q' occurs twice; {ANY}"),
    (
        "beir",
        [pool(label=None)],
        "pool 'q' has a candidate 'a' without a label; drop such candidates, or write .jsonl",
    ),
    (
        "beir",
        [pool(), pool("other", id="p")],
        "pool 'p' has a document 'a' whose text was different before; give documents ids of their own, or write .jsonl",
    ),
    (
        "beir",
        [pool(title="T")],
        "pool 'q' has a candidate 'a' whose text does not begin with its title 'T'; put title and a space before the text, or drop the extra 'title'",
    ),
    ("beir", [pool(id="a\tb")], "id 'a\\tb' has a tab or line break; give it another id"),
    # SQuAD and Tevatron
    (
        "squad",
        [pool()],
        f"pool 'q' is not a SQuAD question: one paragraph with its title, number and label; {ANY}",
    ),
    (
        "tevatron",
        [pool(label=None)],
        "pool 'q' has a candidate without a label, which is neither positive nor negative; drop such candidates, or write .jsonl",
    ),
    (
        "tevatron",
        [pool(docid="x")],
        "pool 'q' has the extra 'docid', a name this format uses itself; rename it",
    ),
]


@pytest.mark.parametrize(("format", "pools", "expected"), REFUSED)
def test_what_cannot_be_held_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, pools: list[Pool], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError) as caught:
        formats.write_pools("out", pools, format)
    start, star, end = f"out: {expected}".partition("*)")
    message = str(caught.value)
    assert (message.startswith(start) and message.endswith(end)) if star else message == f"out: {expected}"
    assert list(tmp_path.iterdir()) == []


def test_a_beir_folder_is_never_written_over(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "f", [pool()], "beir")
    with pytest.raises(DataError, match="f: exists already; remove it, or name another folder"):
        formats.write_pools(tmp_path / "f", [pool("other")], "beir")
    assert list(formats.read_pools(tmp_path / "f")) == [pool()]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.tsv", "a.csv", "a.parquet", "f/qrels/dev.tsv"):
        with pytest.raises(DataError, match="the folder to write into does not exist; make it first"):
            formats.write_pools(tmp_path / "none" / name, [pool()], "beir" if name[0] == "f" else None)
