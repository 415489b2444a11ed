"""A damaged file of vectors is made again, and what went wrong first is what is told."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from cli.calling import run
from demur.embedders.base import Vectors
from demur.errors import DamagedVectors, DataError
from demur.kb.folder import KnowledgeBase
from demur.kb.index.words import IndexedWords
from demur.kb.passages import Passage
from demur.kb.store.changing import purge
from kb.base_toys import Hashing, folder, found

_PAGE = 4096


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    made = KnowledgeBase(tmp_path / "x.kb")
    made.put("many", (Passage(str(n), f"Drill {n} is lent.") for n in range(400)))
    made.embed(Hashing())
    return made


def _damage(kb: KnowledgeBase, table: str) -> None:
    """Overwrite the first page of a table."""
    kb.close()
    path = folder(kb) / "meanings" / "vectors.sqlite"
    file = sqlite3.connect(path)
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (root,) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    file.close()
    pages = bytearray(path.read_bytes())
    pages[(root - 1) * _PAGE : root * _PAGE] = b"\x07" * _PAGE
    path.write_bytes(pages)


@pytest.mark.parametrize("table", ["signs", "codes"])
@pytest.mark.parametrize("verb", ["status", "update", "rebuild"])
def test_damaged_vectors_are_made_again(
    kb: KnowledgeBase, table: str, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = found(kb, "drill 7 lent")
    monkeypatch.setattr("demur.asking.meaning.finding.maker", Hashing)
    _damage(kb, table)
    assert KnowledgeBase(folder(kb)).by_words("drill", 3)[0].tolist()
    (folder(kb).parent / "new.txt").write_text("A saw is lent.")
    assert run(monkeypatch, "kb", "add", str(folder(kb)), str(folder(kb).parent / "new.txt")) == 0
    assert run(monkeypatch, "kb", verb, str(folder(kb))) == 0
    again = KnowledgeBase(folder(kb))
    assert again.embedded == 401
    again.remove(folder(kb).parent / "new.txt")
    assert found(again, "drill 7 lent") == before


def test_damage_that_is_found_when_asking_is_one_line_and_then_mended(
    kb: KnowledgeBase,
) -> None:
    question = "drill 7 lent"
    before = found(kb, question)
    _damage(kb, "codes")
    again = KnowledgeBase(folder(kb))
    with pytest.raises(DamagedVectors, match="has lost its vectors, which were damaged; ask again") as error:
        again.by_meaning(Hashing().embed([question])[0], 3)
    assert "\n" not in str(error.value)
    again.refresh()
    assert not again.embedded, "so whoever asks is told, and no gate promises anything"
    again.embed(Hashing())
    assert found(again, question) == before


def test_a_blob_that_became_text_is_damage_too(kb: KnowledgeBase) -> None:
    before = found(kb, "drill 7 lent")
    kb.close()
    path = folder(kb) / "meanings" / "vectors.sqlite"
    file = sqlite3.connect(path)
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    ((one,),) = file.execute("SELECT bytes FROM codes ORDER BY id LIMIT 1").fetchall()
    file.close()
    pages = bytearray(path.read_bytes())
    at = pages.index(one)
    pages[at - 9] ^= 1  # its type: SQLite takes it for text
    pages[at : at + len(one)] = b"\xff" * len(one)
    path.write_bytes(pages)
    again = KnowledgeBase(folder(kb))
    with pytest.raises(DamagedVectors, match="has lost its vectors, which were damaged; ask again"):
        again.by_meaning(Hashing().embed(["drill 0 lent"])[0], 300)
    again.embed(Hashing())
    assert found(again, "drill 7 lent") == before


def test_an_index_that_is_not_of_its_table_is_damage_too(kb: KnowledgeBase) -> None:
    before = found(kb, "drill 7 lent")
    kb.close()
    path = folder(kb) / "meanings" / "vectors.sqlite"
    named = "WHERE name = 'signs_by_passage'"
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA writable_schema = ON")
        index = file.execute(f"SELECT * FROM sqlite_master {named}").fetchone()
        file.execute(f"DELETE FROM sqlite_master {named}")
    file.close()
    with sqlite3.connect(path) as file:  # behind the back of the index
        file.execute("UPDATE signs SET passage = 9999 WHERE passage = 3")
        file.execute("PRAGMA writable_schema = ON")
        file.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", index)
    file.close()
    again = KnowledgeBase(folder(kb))
    assert again.embed(Hashing()) == 400
    assert found(again, "drill 7 lent") == before


@pytest.mark.parametrize("what", ["vectors.sqlite", ""])
def test_something_else_in_the_place_of_vectors_is_one_line(
    kb: KnowledgeBase, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kb.close()
    monkeypatch.setattr("demur.asking.meaning.finding.maker", Hashing)
    there = folder(kb) / "meanings" / what
    shutil.rmtree(folder(kb) / "meanings")
    (there / "a" if what else there.parent).mkdir(parents=True, exist_ok=True)
    if not what:
        there.write_text("-")
    assert run(monkeypatch, "kb", "update", str(folder(kb))) == 2
    told = capsys.readouterr().err
    assert (
        f"{there}: is damaged; remove it; demur kb update makes it anew" in told and "Traceback" not in told
    )
    again = KnowledgeBase(folder(kb))
    assert not again.embedded and again.by_words("drill", 3)[0].tolist()


def test_damage_in_what_the_base_holds_is_one_line(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kb.close()
    path = folder(kb) / "kb.sqlite"
    file = sqlite3.connect(path)
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    held = bytearray(path.read_bytes())
    held[held.index(b"CREATE TABLE labels") + 8] = 0xE3
    path.write_bytes(held)
    assert run(monkeypatch, "kb", "status", str(folder(kb))) == 2
    assert "kb.sqlite: is broken (" in capsys.readouterr().err


def test_pages_of_one_table_over_those_of_another_are_damage_too(kb: KnowledgeBase) -> None:
    before = found(kb, "drill 7 lent")
    kb.close()
    file = sqlite3.connect(folder(kb) / "meanings" / "vectors.sqlite")
    root = "SELECT rootpage FROM sqlite_master WHERE name = ?"
    codes, signs = (file.execute(root, (table,)).fetchone()[0] for table in ("codes", "signs"))
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    _copy(folder(kb) / "meanings" / "vectors.sqlite", codes, signs)
    again = KnowledgeBase(folder(kb))
    again.refresh()
    assert not again.embedded
    again.embed(Hashing())
    assert found(again, "drill 7 lent") == before


def _without_bytes(kb: KnowledgeBase) -> KnowledgeBase:
    """The base, once the bytes of most vectors are lost, and their signs are not."""
    kb.close()
    file = sqlite3.connect(folder(kb) / "meanings" / "vectors.sqlite")
    file.execute("DELETE FROM codes WHERE id > 9")
    file.commit()
    file.close()
    return KnowledgeBase(folder(kb))


def test_vectors_that_have_lost_their_bytes_are_made_again_by_an_update(kb: KnowledgeBase) -> None:
    before = found(kb, "drill 7 lent")
    again = _without_bytes(kb)
    assert again.embed(Hashing()) == 391 and again.embedded == 400
    assert found(again, "drill 7 lent") == before


@pytest.mark.parametrize("way", ["by words", "by meaning"])
def test_vectors_that_have_lost_their_bytes_do_not_count_once_that_is_seen(
    kb: KnowledgeBase, way: str
) -> None:
    again = _without_bytes(kb)
    vector = Hashing().embed(["drill 7 lent"])[0]
    with pytest.raises(DamagedVectors, match="has lost some of its vectors, which were damaged"):
        if way == "by words":
            again.cosines(vector, np.array(again.all_places()[100:110]))
        else:
            again.by_meaning(vector, 3)
    again.refresh()
    lost = 400 - again.embedded
    assert lost == (10 if way == "by words" else 391), "the others stay"
    assert again.embed(Hashing()) == 391 and again.embedded == 400


def _copy(path: Path, this: int, over: int) -> None:
    """Write one page of a file over another."""
    pages = bytearray(path.read_bytes())
    pages[(over - 1) * _PAGE : over * _PAGE] = pages[(this - 1) * _PAGE : this * _PAGE]
    path.write_bytes(pages)


def test_vectors_of_passages_that_are_deleted_do_not_count(kb: KnowledgeBase) -> None:
    kb.put("many", (Passage(str(n), f"Saw {n} is lent.") for n in range(400)))
    purge(kb._truth(), kb.generation, 0)
    for each in (kb, KnowledgeBase(folder(kb))):
        each.refresh()
        assert (len(each), each.embedded) == (400, 0)
        assert not each.by_meaning(Hashing().embed(["drill 7 lent"])[0], 3)[0].tolist()
    kb.embed(Hashing())
    assert kb.embedded == 400


def test_vectors_that_come_for_passages_that_are_deleted_meanwhile_do_not_count(kb: KnowledgeBase) -> None:
    kb.put("some", (Passage(str(n), f"Saw {n} is lent.") for n in range(300)))
    reader = KnowledgeBase(folder(kb))
    reader.refresh()
    assert reader.embedded == 400

    class Slow(Hashing):
        def embed(self, texts: Sequence[str]) -> Vectors:
            if "some" in {name for name, *_ in kb.sources()}:  # while the first vectors are made
                kb.remove_named("some")
                kb.put("late", (Passage(str(n), f"Rake {n} is lent.") for n in range(300)))
                purge(kb._truth(), kb.generation - 1, 0)
                reader.refresh()
            return super().embed(texts)

    KnowledgeBase(folder(kb)).embed(Slow())
    for each in (reader, KnowledgeBase(folder(kb))):
        each.refresh()
        assert (len(each), each.embedded) == (700, 400)


def test_vectors_are_counted_anew_though_as_many_passages_are_dead(kb: KnowledgeBase) -> None:
    kb.put("some", (Passage(str(n), f"Saw {n} is lent.") for n in range(3)))
    kb.embed(Hashing())
    kb.put("late", (Passage(str(n), f"Rake {n} is lent.") for n in range(3)))
    kb.remove_named("late")
    assert kb.embedded == 403
    other = KnowledgeBase(folder(kb))
    purge(other._truth(), other.generation, 0)
    other.remove_named("some")
    kb.refresh()
    assert (len(kb), kb.embedded) == (400, 400)


def test_what_went_wrong_first_is_told_and_not_that_the_index_failed_too(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def broken() -> Iterator[Passage]:
        yield Passage("1", "A saw is lent.")
        raise DataError("is broken after its first line", path="more.md")

    shutil.rmtree(folder(kb) / "words")
    monkeypatch.setattr(IndexedWords, "_write", full)
    with pytest.raises(DataError, match="is broken after its first line"):
        kb.put("more", broken())
