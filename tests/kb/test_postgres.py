"""What a base in PostgreSQL does that a folder does not: many write at once, and a server may be away."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from demur.errors import DemurError
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.postgres.server import Server
from kb.base_toys import Hashing, found, held, write
from kb.places import ON_POSTGRES, docs, kb, killed, on_postgres, said, schema_of, started, started_again

__all__ = ["docs", "kb"]  # fixtures
pytestmark = ON_POSTGRES


@pytest.fixture
def address() -> str:
    return on_postgres()


def test_a_reader_sees_one_generation_until_it_looks_again(kb: KnowledgeBase, docs: Path) -> None:
    other = KnowledgeBase(kb.path)
    before = found(other, "drill lent")
    write(docs, {"a.txt": "No drill is lent any more."})
    kb.update()
    kb.embed(Hashing())
    assert found(other, "drill lent") == before and len(other) == 3
    other.refresh()
    assert other.generation == kb.generation and "any more" in found(other, "drill lent")[0][0]


@pytest.mark.parametrize("same", [False, True])
def test_four_processes_write_at_once(address: str, tmp_path: Path, same: bool) -> None:
    for n in range(4):
        write(tmp_path / f"d{n}", {f"{n}{m}.txt": f"Text {m} of {n}.\n\nThe same door." for m in range(8)})
    code = "import sys; from demur.kb.folder import KnowledgeBase as K; K(sys.argv[1]).add(sys.argv[2:])"
    folders = [str(tmp_path / f"d{n}") for n in range(4)]
    many = [
        subprocess.Popen([sys.executable, "-c", code, address, *(folders if same else [folders[n]])])
        for n in range(4)
    ]
    assert [each.wait() for each in many] == [0] * 4
    kb = KnowledgeBase(address)
    assert len(kb.sources()) == 32 and kb.generation == 32 and len(kb) == 33
    door = int(kb.by_words("door", 1)[0][0])
    assert kb.copies(door) == 31 and len(kb.by_words("text", 40)[0]) == 32


def test_labels_are_kept_while_a_file_is_read(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(kb.path, wait=0.2)
    with kb._truth().turn():
        other.label("is a drill lent?", None, 0)
        assert other.keep_questions(["who lends?"]) == 1
    assert [each.question for each in kb.labels()] == ["is a drill lent?"]


def test_threads_share_a_base(kb: KnowledgeBase) -> None:
    expected = found(kb, "drill lent")
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(found, kb, "drill lent") for _ in range(80)]
        for n in range(5):
            KnowledgeBase(kb.path).put(f"n{n}", [Passage(f"{n}", f"Number {n} is new.")])
        assert all(each.result() == expected for each in asked)


def test_a_lost_connection_is_made_again_but_not_within_a_change(kb: KnowledgeBase) -> None:
    before = found(kb, "drill lent")
    end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'demur'"
    said(end)
    assert found(kb, "drill lent") == before

    def passages() -> Iterator[Passage]:
        yield Passage("1", "A rake is lent.")
        said(end)
        yield Passage("2", "A hoe is lent.")

    with pytest.raises(DemurError, match=r"lost the connection to its server; try again.*nothing of this"):
        kb.put("tools", passages())
    assert kb.put("tools", [Passage("1", "A rake is lent.")]).status == "added"
    assert len(kb.by_words("rake hoe", 5)[0]) == 1


def test_a_server_that_is_killed_loses_nothing_that_was_told(docs: Path) -> None:
    server = started()
    kb = KnowledgeBase(server.get_uri())
    kb.add(docs)
    before, generation = held(kb), kb.generation

    def passages() -> Iterator[Passage]:
        yield from (Passage(f"{n}", f"Rake number {n} is lent.") for n in range(5000))
        killed(server)
        yield Passage("last", "A hoe is lent.")

    with pytest.raises(DemurError):
        kb.put("tools", passages())
    started_again(server)
    assert (held(kb), kb.generation) == (before, generation)
    assert kb.put("tools", [Passage("1", "A rake is lent.")]).status == "added"
    kb.close()
    server.cleanup()


def test_two_bases_in_a_database_know_nothing_of_each_other(kb: KnowledgeBase) -> None:
    other = KnowledgeBase(on_postgres())
    other.put("one", [Passage("1", "A rake is lent.")])
    assert (len(kb), len(other)) == (3, 1) and not len(kb.by_words("rake", 5)[0])


def test_vectors_are_not_counted_again_once_all_are_there(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert kb.embedded == 3
    with monkeypatch.context() as patched:
        patched.setattr(Server, "rows", lambda self, *statement: pytest.fail(str(statement)))
        assert kb.embedded == 3
    kb.put("one", [Passage("1", "A rake is lent.")])
    assert kb.embedded == 3 and len(kb) == 4


def test_the_index_of_vectors_is_made_once_all_are_there(docs: Path) -> None:
    address = on_postgres("bulk")
    kb = KnowledgeBase(address)
    write(docs, {f"{n}.txt": f"Number {n} is lent for {n} weeks." for n in range(200)})
    kb.add(docs)

    def indexed() -> bool:
        return KnowledgeBase(address).indexed

    def broken_off(passages: int) -> None:
        raise KeyboardInterrupt

    said(
        "CREATE TABLE public.other (a int); CREATE INDEX vectors_near ON public.other (a)"
    )  # as another base's
    with pytest.raises(KeyboardInterrupt):
        kb.embed(Hashing(), broken_off)
    kb.refresh()
    vector = Hashing().embed(["Number 7 is lent for 7 weeks."])[0]
    assert 0 < kb.embedded < len(kb) and not indexed() and len(kb.by_meaning(vector, 5)[0])
    kb.embed(Hashing())
    assert kb.embedded == len(kb) and indexed()
    near = kb.by_meaning(vector, 5)[0].tolist()
    said(f'DROP INDEX "{schema_of(address)}".vectors_near')  # as it is after a kill while it is made
    assert not indexed() and kb.by_meaning(vector, 5)[0].tolist() == near
    assert kb.embed(Hashing()) == 0 and indexed() and kb.by_meaning(vector, 5)[0].tolist() == near
    said("DROP TABLE public.other")
