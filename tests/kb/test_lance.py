"""What a base on an object store does that a folder does not: readers far away, and one writer by a lease."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from demur.embedders.base import Vectors
from demur.errors import LostBase, UnusableBase, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.lance import lease, meanings
from demur.kb.lance import work as working
from demur.kb.lance.lake import Lake
from demur.kb.lance.store import Published
from demur.kb.lance.truth import PublishedTruth
from demur.kb.passages import Passage
from kb.base_toys import Hashing, found, held, write
from kb.places import ON_LANCE, asked_for, docs, kb, on_lance

__all__ = ["docs", "kb"]  # fixtures
pytestmark = ON_LANCE


@pytest.fixture
def address() -> str:
    return on_lance()


def store(kb: KnowledgeBase) -> Published:
    assert isinstance(kb._store, Published)
    return kb._store


def truth(kb: KnowledgeBase) -> PublishedTruth:
    found = kb._truth()
    assert isinstance(found, PublishedTruth)
    return found


def test_an_index_of_vectors_finds_what_comparing_all_does(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meanings, "INDEXED", 400)
    monkeypatch.setattr(meanings, "_LOOSE", 50)

    class Drawn(Hashing):
        def embed(self, texts: Sequence[str]) -> Vectors:
            numbers = [int(text.split()[1]) for text in texts]
            return np.stack([np.random.default_rng(n).standard_normal(64) for n in numbers]).astype(
                np.float32
            )

    kb = KnowledgeBase(address)
    kb.put("first", [Passage(f"{n}", f"house {n}") for n in range(500)])
    kb.embed(Drawn())
    kb.put("then", [Passage(f"{n}", f"house {n}") for n in range(500, 700)])
    assert kb.embed(Drawn()) == 200
    assert any(each.columns == ["vector"] for each in Lake(store(kb).path).table("vectors").list_indices())
    asked = Drawn().embed(["house 1000"])[0]
    every = Drawn().embed([f"house {n}" for n in range(700)])
    exact = every @ asked / np.linalg.norm(every, axis=1) / np.linalg.norm(asked)
    places, cosines = kb.by_meaning(asked, 20)
    best = np.argsort(-exact)[:20].tolist()
    assert [kb.passage(place).searched for place in places] == [f"house {n}" for n in best]
    np.testing.assert_allclose(cosines, exact[best], atol=1e-3)


def test_a_reader_sees_one_generation_until_it_looks_again(kb: KnowledgeBase, docs: Path) -> None:
    other = KnowledgeBase(kb.path)
    before = found(other, "drill lent")
    write(docs, {"a.txt": "No drill is lent any more."})
    kb.update()
    kb.embed(Hashing())
    words = [
        (other.passage(place).text, score) for place, score in zip(*other.by_words("drill", 5), strict=True)
    ]
    assert words[0][0] == before[0][0] and len(other) == 3
    other.label("was a drill lent?", int(other.by_words("drill", 1)[0][0]), 1)
    other.refresh()
    assert other.generation == kb.generation and "any more" in found(other, "drill lent")[0][0]
    assert [(each.text, each.place) for each in kb.labels()] == [("A drill is lent.", None)]


def test_four_processes_write_in_turn(address: str, tmp_path: Path) -> None:
    for n in range(4):
        write(tmp_path / f"d{n}", {f"{n}{m}.txt": f"Text {m} of {n}.\n\nThe same door." for m in range(3)})
    code = "import sys; from demur.kb.folder import KnowledgeBase as K; K(sys.argv[1]).add(sys.argv[2])"
    many = [
        subprocess.Popen([sys.executable, "-c", code, address, str(tmp_path / f"d{n}")]) for n in range(4)
    ]
    assert [each.wait() for each in many] == [0] * 4
    kb = KnowledgeBase(address)
    assert len(kb.sources()) == 12 and kb.generation == 12 and len(kb) == 13
    assert kb.copies(int(kb.by_words("door", 1)[0][0])) == 11


def test_a_lease_that_several_want_at_the_same_moment_is_tried_for_again(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, conflicts = lease._change, iter([True, True, False, True, False, False])

    def contested(lake: Lake, where: str, owner: str) -> bool:
        if next(conflicts, False):
            raise UsageError("another process writes to it")
        return change(lake, where, owner)

    monkeypatch.setattr(lease, "_change", contested)
    assert kb.put("one", [Passage("1", "A rake.")]).status == "added"


def test_a_table_of_leases_that_is_being_made_is_waited_for(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = LostBase("is gone", path=address, fix="open it again")
    held, failures = lease._held, iter([gone, UsageError("another process writes to it"), None, gone])

    def half_made(lake: Lake, name: str) -> tuple[str, int]:
        found = held(lake, name)
        if failure := next(failures, None):
            raise failure
        return found

    monkeypatch.setattr(lease, "_held", half_made)
    kb = KnowledgeBase(address)
    for number in range(2):
        assert kb.put("one", [Passage("1", f"{number} rakes.")]).status in ("added", "changed")


def test_no_sign_of_life_is_written_while_tables_are_dropped(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop, signs = Lake.drop, []

    def slow(lake: Lake, name: str) -> None:
        if name == lease.LEASES:
            before = lake.table(name).version
            time.sleep(4 * lease.BEAT)
            signs.append(lake.table(name).version - before)
        drop(lake, name)

    monkeypatch.setattr(Lake, "drop", slow)
    write(tmp_path, {"a.csv": "no,such\ncolumns,here"})
    assert [each.status for each in KnowledgeBase(address).add(tmp_path / "a.csv")] == ["skipped"]
    assert signs == [0]


def test_labels_are_kept_while_files_are_read_and_none_is_lost(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(kb.path, wait=20)
    with kb._writing():
        other.label("is a drill lent?", None, 0)
        with kb._truth().noting() as said:
            assert other.keep_questions(["who lends?"]) == 1
            said.execute("INSERT INTO asked VALUES ('who saws?', 9e9)")
    assert kb.questions() == ["who lends?", "who saws?"] and len(other.labels()) == 1


def test_a_writer_that_is_killed_leaves_the_last_generation(kb: KnowledgeBase, address: str) -> None:
    before, generation = held(kb), kb.generation
    code = """
import os, signal, sys
from demur.kb.folder import KnowledgeBase
from demur.kb.lance.work import Work
from demur.kb.passages import Passage
Work._commit = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # all rows are written, and nobody knows
KnowledgeBase(sys.argv[1]).put("tools", [Passage("1", "A rake is lent.")])
"""
    done = subprocess.run([sys.executable, "-c", code, address], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    other = KnowledgeBase(address)
    assert (held(other), other.generation) == (before, generation) and found(other, "rake") == found(
        kb, "rake"
    )
    assert Lake(store(kb).path).table("passages").count_rows() == len(kb) + 1
    assert kb.put("yard", [Passage("1", "A hoe is lent.")]).status == "added"
    assert len(kb) == 4 and not len(kb.by_words("rake", 5)[0]) and os.getpid()


def test_one_whose_lease_was_taken_publishes_nothing(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "_beat", lambda *_: None)  # as a process that stood still
    other = KnowledgeBase(kb.path)

    def passages() -> Iterator[Passage]:
        yield Passage("1", "A rake is lent.")
        other.put("yard", [Passage("1", "A hoe is lent.")])

    with pytest.raises((UsageError, UnusableBase), match="another process"):
        kb.put("tools", passages())
    again = KnowledgeBase(kb.path)
    assert len(again) == 4 and "tools" not in held(again) and len(again.by_words("hoe", 5)[0]) == 1
    assert kb.put("tools", [Passage("1", "A rake is lent.")]).status == "added" and len(kb) == 5


def test_rows_that_another_adds_meanwhile_are_not_published(kb: KnowledgeBase) -> None:
    def passages() -> Iterator[Passage]:
        yield Passage("1", "A rake is lent.")
        rows = Lake(store(kb).path).table("passages")
        rows.add(rows.search().limit(1).to_arrow())

    with pytest.raises(UnusableBase, match="by another process at the same time; run the command again"):
        kb.put("tools", passages())
    assert len(KnowledgeBase(kb.path)) == 3
    assert kb.put("tools", [Passage("1", "A rake is lent.")]).status == "added" and len(kb) == 4


def test_many_small_changes_are_joined(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "_PARTS", 3)
    other = KnowledgeBase(kb.path)
    before = found(other, "drill lent")
    for n in range(6):
        kb.put(f"n{n}", [Passage(f"{n}", f"Number {n} is new.")])
    parts = truth(kb).shown.passages.stats()["fragment_stats"]["num_fragments"]
    assert parts <= 4 and len(kb) == 9 and found(other, "drill lent") == before
    assert [kb.passage(place).id for place in kb.by_words("number 4", 1)[0]] == ["4"]


def test_vectors_that_were_made_stay_when_it_is_broken_off(kb: KnowledgeBase) -> None:
    kb.put("n", [Passage(f"{n}", f"Number {n} is new.") for n in range(300)])
    with pytest.raises(KeyboardInterrupt):
        kb.embed(Hashing(breaks_after=2))
    other = KnowledgeBase(kb.path)
    assert other.embedded == 3 + 256 and other.embed(Hashing()) == 44 and other.embedded == len(other)


def test_what_cannot_change_is_asked_for_once(address: str) -> None:
    kb = KnowledgeBase(address)
    kb.put("tools", [Passage(f"{n}", f"Tool {n} of house {n % 7} is lent.") for n in range(50)])
    kb.by_words("lent", 1)

    def asked() -> list[Passage]:
        return [kb.passage(place) for place in kb.by_words("tool of house 3", 20)[0]]

    with asked_for() as first:
        found = asked()
    with asked_for() as again:
        assert asked() == found
    assert len(found) == 20 and len(first) <= 7, first
    assert all(each.startswith("GET /books/") and ".lance/data/" in each for each in first)
    assert len(again) <= 2 and all("/passages.lance/" in each for each in again), again


def test_a_thousand_new_passages_are_indexed_at_once(kb: KnowledgeBase) -> None:
    kb.put("tools", [Passage(f"{n}", f"Tool {n} of house {n % 7} is lent.") for n in range(1001)])
    table = truth(kb).shown.passages
    assert all(table.index_stats(each.name).num_unindexed_rows == 0 for each in table.list_indices())
