from __future__ import annotations

from pathlib import Path

import pytest

from demur.data.candidates import read_candidates
from demur.errors import DataError
from demur.types import Candidate


def read(folder: Path, name: str, text: str) -> list[Candidate]:
    (folder / name).write_text(text, encoding="utf-8")
    return list(read_candidates(str(folder / name)))


def test_lines_objects_and_rows(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", "one\n\n two \n") == [Candidate("0", "one"), Candidate("1", " two ")]
    found = read(tmp_path, "a.jsonl", '"one"\n{"text": "two", "id": null}\n{"id": 7, "answer": "three"}\n')
    assert found == [Candidate("0", "one"), Candidate("1", "two"), Candidate("7", "three")]
    found = read(tmp_path, "A.CSV", 'id,Answer\nx,"one, and\nmore"\n,two\n')
    assert found == [Candidate("x", "one, and\nmore"), Candidate("1", "two")]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.jsonl", "[" * 100_000, ":1: JSON that cannot be read (maximum recursion"),
        ("a.jsonl", f'"x"\n{{"text": "a", "n": {"9" * 5000}}}', ":2: JSON that cannot be read (Exceeds"),
        ("a.jsonl", "{text", ":1: JSON that cannot be read"),
        ("a.jsonl", "3", ":1: a number where a JSON object was expected"),
        ("a.jsonl", '{"text": 3}', ":1: 'text' is not text but 3"),
        ("a.jsonl", '{"text": "a", "id": 1.5}', ":1: 'id' is a number, not an id"),
        ("a.jsonl", '{"id": "a", "text": "b"}\n{"id": "a", "text": "c"}', ":2: id 'a' occurs twice"),
        ("a.csv", "name,place\na,b", ":1: no text among name, place; name one of them text"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path: Path, name: str, text: str, says: str) -> None:
    with pytest.raises(DataError) as error:
        read(tmp_path, name, text)
    assert says in str(error.value) and "\n" not in str(error.value)
