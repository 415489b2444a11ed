"""Parquet keeps what its other columns and fields hold, as JSONL does, or says what it leaves out."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from demur.data import formats
from demur.errors import DataError
from demur.types import Pool

CANDIDATE = {"id": "a", "text": "x", "label": 1, "price": 2.5, "score": 0.25}
ROW = {"id": "1", "question": "q", "customer": "Ada", "candidates": [CANDIDATE]}


def read(path: Path, columns: dict[str, Any]) -> list[Pool]:
    parquet.write_table(pyarrow.table(columns), path)
    return list(formats.read_pools(path))


def odd(**values: Any) -> dict[str, Any]:
    """A row with these columns."""
    return {name: [value] for name, value in (ROW | values).items()}


def test_other_columns_and_fields_are_kept_as_jsonl_keeps_them(tmp_path: Path) -> None:
    pools = read(tmp_path / "a.parquet", odd(when=None))
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW))
    assert pools == list(formats.read_pools(tmp_path / "a.jsonl"))
    assert pools[0].extra == {"customer": "Ada"}
    assert pools[0].candidates[0].extra == {"price": 2.5, "score": 0.25}


def test_what_json_lacks_becomes_text_and_what_it_has_stays(tmp_path: Path) -> None:
    day, hour = datetime.date(2026, 1, 2), datetime.datetime(2026, 1, 2, 3)
    values = odd(
        when=hour, more=[{"on": day, "n": [1, None]}], price=Decimal("9.90"), sure=True, big=2**63 - 1
    )
    values["tags"] = pyarrow.array([[("a", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    candidate = {"id": "a", "text": "x", "score": Decimal("0.5"), "until": hour}
    (pool,) = read(tmp_path / "a.parquet", values | {"candidates": [[candidate]]})
    assert pool.extra == {
        "customer": "Ada",
        "when": "2026-01-02 03:00:00",
        "more": [{"on": "2026-01-02", "n": [1, None]}],
        "price": "9.90",
        "sure": True,
        "big": 2**63 - 1,
        "tags": [["a", 1]],
    }
    assert pool.candidates[0].extra == {"score": 0.5, "until": "2026-01-02 03:00:00"}
    assert list(pool.extra)[:2] == ["customer", "when"], "in the order of the columns, whatever the hashes"
    formats.write_pools(tmp_path / "b.jsonl", [pool])
    assert list(formats.read_pools(tmp_path / "b.jsonl")) == [pool]


def test_columns_stand_beside_the_json_in_extra(tmp_path: Path) -> None:
    (pool,) = read(tmp_path / "a.parquet", odd(extra='{"topic": "x"}'))
    assert pool.extra == {"customer": "Ada", "topic": "x"}
    with pytest.raises(DataError, match="row 1: 'customer' is a column, and stands in 'extra', too; rename"):
        read(tmp_path / "b.parquet", odd(extra='{"customer": "x"}'))


def test_what_is_binary_is_left_out_and_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    candidate = CANDIDATE | {"scan": {"bytes": b"\xff"}}
    (pool,) = read(tmp_path / "a.parquet", odd(photo=b"\xff", candidates=[candidate]))
    assert pool.extra == {"customer": "Ada"}
    assert pool.candidates[0].extra == {"price": 2.5, "score": 0.25}
    list(formats.read_pools(tmp_path / "a.parquet"))
    flat = {"question": ["q", "q"], "answer": ["a", "b"], "photo": [b"\xff", b"\xfe"], "by": ["me", None]}
    (pool,) = read(tmp_path / "b.parquet", flat)
    assert [one.extra for one in pool.candidates] == [{"by": "me"}, {}]
    told = sorted(record.getMessage() for record in caplog.records)
    end = "is left out, as it is binary; cast it to text to keep it"
    names = [("a", "photo"), ("a", "scan"), ("b", "photo")]
    assert told == [f"{tmp_path / file}.parquet: {name!r} {end}" for file, name in names]


def test_true_and_false_are_labels_of_a_flat_table(tmp_path: Path) -> None:
    flat = {"question": ["q"] * 3, "answer": ["a", "b", "c"], "label": [True, False, None], "new": [True] * 3}
    (pool,) = read(tmp_path / "a.parquet", flat)
    assert pool.labels == [1, 0, None]
    assert pool.candidates[0].extra == {"new": "True"}


def test_lists_and_structs_of_a_flat_table_are_json(tmp_path: Path) -> None:
    nested = {"seen": [{"at": ["Köln", None], "n": 1}], "scan": [{"bytes": b"\xff"}]}
    (pool,) = read(tmp_path / "a.parquet", {"question": ["q"], "answer": ["a"], "label": [1], **nested})
    assert pool.candidates[0].extra == {"seen": '{"at": ["Köln", null], "n": 1}'}, "and no bytes"


FAR = pyarrow.array([2**62], pyarrow.timestamp("us"))
WRONG = [
    (odd(x=float("nan")), "row 1: 'x' holds NaN, or a number that is infinite or too large"),
    (odd(x=[[float("inf")]]), "row 1: 'x' holds NaN"),
    (odd(candidates=[CANDIDATE | {"score": float("nan")}]), "row 1, candidate 1: 'score' holds NaN"),
    (odd(x=None) | {"x": FAR}, "the column 'x' cannot be read .*; cast it to text, or leave it out"),
    (odd(question=b"q"), "row 1: 'question' is of the kind bytes, not text"),
    (odd(extra=1), "a.parquet: row 1: 'extra' is a number, not text; write 'extra' in quotes"),
    ({"question": [b"q"], "answer": ["a"]}, "row 1: 'question' is binary, not text; cast that column"),
    ({"question": ["q"], "answer": [["a", "b"]]}, "row 1: 'answer' is a list, not text; write one text to a"),
    ({"question": [{"en": "q"}], "answer": ["a"]}, "row 1: 'question' is an object, not text"),
    ({"question": ["q"], "answer": ["a"], "label": ["yes"]}, "a.parquet: row 1: label 'yes' is not a whole"),
    ({"question": ["q"] * 2, "answer": ["a"] * 2, "answer_id": ["1"] * 2}, "row 2: answer id '1' occurs"),
    ({"question": ["q"], "answer": ["a"], "x": FAR}, "the column 'x' cannot be read"),
]


@pytest.mark.parametrize(("columns", "said"), WRONG)
def test_what_cannot_be_kept_is_one_clear_line(columns: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said) as error:
        read(tmp_path / "a.parquet", columns)
    assert str(error.value).count("a.parquet") == 1
    assert "broken JSON" not in str(error.value)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pyarrow.table(odd(x=1, y=2)).rename_columns(
        ["id", "question", "customer", "candidates", "x", "x"]
    )
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: two columns are called 'x'; rename one of them"):
        list(formats.read_pools(tmp_path / "a.parquet"))
