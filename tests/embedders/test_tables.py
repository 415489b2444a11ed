from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demur import DemurError
from demur.embedders.word_vectors import table_formats
from demur.embedders.word_vectors.tables import Table, table

WORDS = ["the", "Ship", "sails", "café", "ship", "Bonn"]
VECTORS = np.arange(12, dtype=np.float32).reshape(6, 2) + 1


def test_finds_rows_and_says_which_words_are_unknown() -> None:
    found = Table(WORDS, VECTORS).find(["ship", "boat", "the", "ship"])
    assert found.tolist() == [4, -1, 0, 4]


def test_a_capital_is_found_in_lower_case_where_nothing_else_is() -> None:
    known = Table(WORDS, VECTORS)
    assert known.find(["bonn", "ship", "Ship", "BONN"]).tolist() == [5, 4, 1, -1]


def test_the_first_of_equal_words_counts() -> None:
    assert Table(["a", "b", "a"], VECTORS[:3]).find(["a"]).tolist() == [0]


def test_frequencies_are_of_the_counts_or_by_zipf() -> None:
    counted = Table(WORDS[:2], VECTORS[:2], np.array([3, 1]))
    assert counted.frequencies.tolist() == [0.75, 0.25]
    assert Table(WORDS[:2], VECTORS[:2]).frequencies == pytest.approx([2 / 3, 1 / 3])


def test_the_fingerprint_is_of_the_content() -> None:
    first = Table(WORDS, VECTORS)
    assert first.fingerprint == Table(tuple(WORDS), VECTORS.copy(), made={"by": "hand"}).fingerprint
    moved = Table([*WORDS[::-1]], VECTORS).fingerprint
    changed = Table(WORDS, VECTORS + np.float32(1e-6)).fingerprint
    counted = Table(WORDS, VECTORS, np.arange(6)).fingerprint
    reshaped = Table(WORDS[:4], VECTORS.reshape(4, 3)).fingerprint
    assert len({first.fingerprint, moved, changed, counted, reshaped}) == 5


def test_nearest_words() -> None:
    known = Table(["a", "b", "c", "d"], np.array([[1, 0], [2, 0.1], [0, 1], [0, 0]], np.float32))
    assert [word for word, _ in known.nearest("a", 2)] == ["b", "c"]
    assert known.nearest("a")[0][1] == pytest.approx(2 / np.hypot(2, 0.1))
    with pytest.raises(DemurError, match="'x' is not among the 4 words"):
        known.nearest("x")


def test_trimmed_to_words_or_to_the_first() -> None:
    known = Table(WORDS, VECTORS, np.arange(6))
    assert known.trimmed(limit=2).words == ["the", "Ship"]
    few = known.trimmed(["bonn", "ship", "boat"])
    assert few.words == ["ship", "Bonn"]
    assert few.vectors.tolist() == VECTORS[[4, 5]].tolist()
    assert few.counts is not None and few.counts.tolist() == [4, 5]
    assert known.trimmed(["bonn", "ship"], 1).words == ["ship"]


def test_a_file_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    table_formats.write_table(path, Table(WORDS, VECTORS))
    first = table(path)
    assert table(str(path)) is first
    table_formats.write_table(path, Table(WORDS[:5], VECTORS[:5]))
    assert len(table(path)) == 5
    with pytest.raises(DemurError, match="no such file of word vectors"):
        table(tmp_path / "b.safetensors")
