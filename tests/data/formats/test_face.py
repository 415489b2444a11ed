"""Formats are told from paths, unknown ones are named, and files and streams are handled with care."""

from __future__ import annotations

import io
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from demur.data import formats
from demur.errors import DataError, MissingExtra, UnknownName, UsageError
from demur.types import Candidate, Pool

POOLS = [Pool.of("why?", ["so", "no"], [1, 0], "q1"), Pool.of("وَلِمَ؟", ["😀"], [None], "q2")]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("-", "jsonl"),
        ("a.jsonl", "jsonl"),
        ("a.JSONL.GZ", "jsonl"),
        ("a.tsv", "tsv"),
        ("a.tsv.gz", "tsv"),
        ("a.csv", "csv"),
        ("a.parquet", "parquet"),
        ("a.json.gz", "squad"),
        ("a.run", "run"),
        ("a.trec.gz", "run"),
        ("a.qrel", "qrels"),
        (".", "beir"),
    ],
)
def test_a_format_is_told_by_the_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, format: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if name not in ("-", "."):
        Path(name).touch()
    assert formats.detect(name) == format


@pytest.mark.parametrize(
    ("line", "format"),
    [
        ('{"id": "1", "question": "q", "candidates": []}', "jsonl"),
        ('\n{"query_id": "1", "query": "q", "positive_passages": [], "negative_passages": []}', "tevatron"),
        ('{"query": "q", "pos": [], "neg": []}', "bge"),
        ('{"anchor": "q", "positive": "a"}', "sentence-transformers"),
        ('{"anchor": "q", "positive": "a", "negative": "b"}', "sentence-transformers"),
        ('{"query": "q", "answer": "a", "label": 1}', "sentence-transformers"),
        ('{"sentence1": "q", "sentence2": "a", "score": 1.0}', "sentence-transformers"),
        ('{"query": "q", "docs": ["a"], "labels": [1]}', "sentence-transformers"),
        ("{broken", "jsonl"),
        ("[1]", "jsonl"),
        ("", "jsonl"),
    ],
)
def test_jsonl_is_told_apart_by_the_first_line(tmp_path: Path, line: str, format: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    assert formats.detect(path) == format


def test_a_judgement_file_of_a_beir_folder_is_beir(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "folder", POOLS[:1], "beir")
    assert formats.detect(tmp_path / "folder/qrels/test.tsv") == "beir"
    assert list(formats.read_pools(tmp_path / "folder/qrels/test.tsv")) == POOLS[:1]


def test_an_explicit_format_wins(tmp_path: Path) -> None:
    path = tmp_path / "oddly-named.json"
    assert formats.write_pools(path, POOLS, "jsonl") == 2
    assert list(formats.read_pools(path, "jsonl")) == POOLS


def test_what_cannot_be_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="unknown format 'tvs'; did you mean 'tsv'"):
        formats.read_pools("a.jsonl", "tvs")
    with pytest.raises(UnknownName, match="unknown format 'xml'; known: asnq, beir"):
        formats.write_pools("a.jsonl", [], "xml")
    with pytest.raises(UsageError, match=r"a\.xml: cannot tell the format of a name that ends in '\.xml'"):
        formats.read_pools("a.xml")
    with pytest.raises(
        UsageError,
        match=r"of a name that has no ending; say which with --format \(or --to\); known endings: ",
    ):
        formats.write_pools(tmp_path / "out", [])
    with pytest.raises(UsageError, match=r"a\.run: no pools in the format 'run'"):
        formats.read_pools("a.run")
    with pytest.raises(UsageError, match="a BEIR folder cannot be written to stdout"):
        formats.write_pools("-", [], "beir")
    with pytest.raises(UsageError, match="pools cannot be written as 'bge'; these can: jsonl, tsv, csv, "):
        formats.write_pools("a.jsonl", [], "bge")


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.csv", "a.json", "a.jsonl.gz"])
@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_an_empty_file_holds_no_pools(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert list(formats.read_pools(tmp_path / name)) == []
    assert list(formats.read_pools("/dev/null", "parquet")) == []


def test_no_pools_make_a_file_that_holds_none(tmp_path: Path) -> None:
    for name, format in formats.FORMATS.items():
        if format.write:
            path = tmp_path / f"{name}.out"
            assert formats.write_pools(path, [], name) == 0
            assert list(formats.read_pools(path, name)) == []


def test_standard_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    for format in ("jsonl", "tsv", "csv", "tevatron", "parquet"):
        pools = POOLS[:1]
        out = io.TextIOWrapper(io.BytesIO(), "utf-8")
        monkeypatch.setattr(sys, "stdout", out)
        assert formats.write_pools("-", pools, format) == 1
        monkeypatch.undo()
        out.seek(0)
        monkeypatch.setattr(sys, "stdin", out)
        assert list(formats.read_pools("-", format)) == pools


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    def half() -> Iterator[Pool]:
        yield POOLS[0]
        raise RuntimeError("the machine stops")

    for name in ("a.jsonl.gz", "a.tsv", "a.csv", "a.parquet", "a.json"):
        (tmp_path / name).write_text("before")
        with pytest.raises((RuntimeError, DataError)):
            formats.write_pools(tmp_path / name, half())
        assert (tmp_path / name).read_text() == "before"
    with pytest.raises(RuntimeError):
        formats.write_pools(tmp_path / "folder", half(), "beir")
    assert len(list(tmp_path.iterdir())) == 5


def test_reading_does_not_look_ahead(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "question": "q", "candidates": []}\nbroken')
    (tmp_path / "a.tsv").write_text("q\ta\t1\np\tb\t0\nbroken")
    (tmp_path / "a.csv").write_text("question,answer\nq,a\np,b\nbroken\n")
    for name in ("a.jsonl", "a.tsv", "a.csv"):
        pools = formats.read_pools(tmp_path / name)
        assert next(pools).question == "q"
        with pytest.raises(DataError):
            list(pools)


@pytest.mark.parametrize("format", ["jsonl", "tsv", "csv", "tevatron"])
def test_memory_stays_small_however_many_pools_there_are(tmp_path: Path, format: str) -> None:
    text = "word " * 400
    many = (Pool(str(n), text, (Candidate(f"{n}-0", text, 1),)) for n in range(1000))
    tracemalloc.start()
    assert formats.write_pools(tmp_path / "many", many, format) == 1000
    assert sum(1 for _ in formats.read_pools(tmp_path / "many", format)) == 1000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "many").stat().st_size > 4_000_000
    assert peak < 400_000


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"pip install 'demur\[parquet\]'"):
        formats.write_pools(tmp_path / "a.parquet", POOLS)


def test_parquet_groups_neither_lose_nor_double_pools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demur.data.formats.parquet._GROUP", 50)
    made = [Pool.of(f"question {n}", ["an answer of some length"], [1], id=str(n)) for n in range(20)]
    formats.write_pools(tmp_path / "a.parquet", made)
    assert list(formats.read_pools(tmp_path / "a.parquet")) == made
