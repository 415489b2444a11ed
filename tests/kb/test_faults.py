"""What goes wrong with a knowledge base is one clear line, and nothing is lost."""

from __future__ import annotations

import errno
import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from cli.calling import run
from demur.errors import DataError
from demur.kb.folder import KnowledgeBase
from demur.kb.index.words import IndexedWords
from demur.kb.passages import Passage
from demur.kb.store import schema
from kb.base_toys import Hashing, folder, found, held, write

TESTS = Path(__file__).parents[1]


@pytest.fixture
def kb(tmp_path: Path) -> KnowledgeBase:
    write(tmp_path / "docs", {"a.txt": "A drill is lent.\n\nA saw is not.", "b.txt": "It rained all day."})
    made = KnowledgeBase(tmp_path / "x.kb")
    made.add(tmp_path / "docs")
    made.embed(Hashing())
    return made


def refused(path: Path) -> str:
    """The one line with which a base is refused."""
    with pytest.raises(DataError) as error:
        KnowledgeBase(path).refresh()
    assert "\n" not in str(error.value) and str(path) in str(error.value)
    return str(error.value)


def test_a_full_disk_leaves_a_base_that_can_be_asked(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = found(kb, "drill lent")
    kb.close()
    shutil.rmtree(folder(kb) / "words")
    write_words = IndexedWords._write

    def full(words: IndexedWords, *given: Any) -> None:
        if words.folder is not None:
            raise OSError(errno.ENOSPC, "No space left on device")
        write_words(words, *given)

    monkeypatch.setattr(IndexedWords, "_write", full)
    assert found(KnowledgeBase(folder(kb)), "drill lent") == before
    assert "the index of words cannot be written (No space left on device)" in caplog.text


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "x.kb/kb.sqlite"), "may not be read or written"),
        (FileExistsError(errno.EEXIST, "File exists", "x.kb/meanings"), "is there already; move it away"),
    ],
)
def test_what_the_system_refuses_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: OSError, said: str
) -> None:
    def refused(*given: object) -> None:
        raise error

    monkeypatch.setattr(KnowledgeBase, "__init__", refused)
    assert run(monkeypatch, "kb", "status", "x.kb") == 2
    assert capsys.readouterr().err.startswith(f"demur: {error.filename}: {said}")


def test_what_cannot_be_opened_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / schema.NAME).mkdir()
    with pytest.raises(sqlite3.OperationalError):
        schema.connected(tmp_path / schema.NAME)
    gc.collect()  # a connection that complains now would fail this test


@pytest.mark.parametrize("harm", ["gone", "empty", "cut", "noise", "a byte", "no meta"])
def test_the_index_of_words_is_made_again(kb: KnowledgeBase, harm: str) -> None:
    before = found(kb, "drill lent")
    kb.close()
    words = folder(kb) / "words"
    if harm == "gone":
        shutil.rmtree(words)
    for path in sorted(words.iterdir()) if words.is_dir() else ():
        if harm == "empty":
            path.unlink()
        elif harm == "cut":
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        elif harm == "noise" and path.suffix in (".term", ".idx", ".store", ".fast", ".json"):
            path.write_bytes(b"\x07" * path.stat().st_size)
        elif harm == "a byte" and path.suffix == ".fast":
            path.write_bytes(bytes([path.read_bytes()[0] ^ 255]) + path.read_bytes()[1:])
        elif harm == "no meta" and path.name == "meta.json":
            path.unlink()
    assert found(KnowledgeBase(folder(kb)), "drill lent") == before


@pytest.mark.parametrize("harm", ["gone", "cut", "noise", "newer"])
def test_vectors_are_made_again(kb: KnowledgeBase, harm: str) -> None:
    before = found(kb, "drill lent")
    kb.close()
    path = folder(kb) / "meanings" / "vectors.sqlite"
    if harm == "gone":
        shutil.rmtree(path.parent)
    elif harm == "newer":
        file = sqlite3.connect(path)
        file.execute("PRAGMA user_version = 99")
        file.close()
    else:
        path.write_bytes(b"\x07" * 5000 if harm == "noise" else path.read_bytes()[:5000])
    again = KnowledgeBase(folder(kb))
    assert again.by_words("drill", 3)[0].tolist() and not again.embedded
    assert again.embed(Hashing()) == 3
    assert found(again, "drill lent") == before


def test_a_truth_that_is_cut_off_is_refused(kb: KnowledgeBase) -> None:
    kb.close()
    path = folder(kb) / schema.NAME
    path.write_bytes(path.read_bytes()[:6000])
    assert "is broken" in refused(folder(kb))
    path.write_bytes(b"no database at all, but longer than its head would be" * 100)
    assert "is broken" in refused(folder(kb))


def test_a_newer_format_is_refused_by_name(kb: KnowledgeBase) -> None:
    kb.close()
    file = sqlite3.connect(folder(kb) / schema.NAME)
    file.execute("PRAGMA user_version = 99")
    file.close()
    assert "newer demur (format 99" in refused(folder(kb)) and "upgrade" in refused(folder(kb))


def test_an_older_format_is_brought_up_to_date(kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    before = held(kb)
    kb.close()
    more = "ALTER TABLE labels ADD COLUMN who TEXT;\nCREATE TABLE more (a INTEGER) STRICT;\n"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, more))
    again = KnowledgeBase(folder(kb))
    assert held(again) == before
    assert again._truth().rows("SELECT who FROM labels") == again._truth().rows("SELECT a FROM more") == []


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.kb").mkdir()
    file = sqlite3.connect(tmp_path / "x.kb" / schema.NAME)
    file.execute("CREATE TABLE theirs (a)")
    file.commit()
    file.close()
    assert "something else" in refused(tmp_path / "x.kb")


def test_other_places_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "full", {"a.txt": "A text."})
    assert "is a file" in refused(tmp_path / "full" / "a.txt")
    assert "no knowledge base" in refused(tmp_path / "nowhere")
    assert "no knowledge base" in refused(tmp_path / "full")
    with pytest.raises(DataError, match="folder of other things"):
        KnowledgeBase(tmp_path / "full").add(tmp_path / "full" / "a.txt")
    with pytest.raises(DataError, match="make it first"):
        KnowledgeBase(tmp_path / "no" / "where.kb").add(tmp_path / "full" / "a.txt")
    assert not (tmp_path / "no").exists()


def test_an_empty_base_answers(kb: KnowledgeBase) -> None:
    kb.remove([name for name, _, _ in kb.sources()])
    assert (len(kb), kb.embedded, found(kb, "drill")) == (0, 0, [])
    assert kb.ask("where is the drill?", ranker="bm25").reason == "there are no passages to look in"  # type: ignore[union-attr]


def test_a_full_disk_keeps_what_was_there(kb: KnowledgeBase, tmp_path: Path) -> None:
    before, generation = held(kb), kb.generation
    pages = kb._truth().rows("PRAGMA page_count")[0][0]
    kb._truth().rows(f"PRAGMA max_page_count = {pages + 2}")  # what SQLite says when the disk is full
    write(tmp_path / "docs", {"large.txt": "\n\n".join(f"Line {n} of a large file." for n in range(3000))})
    with pytest.raises(DataError, match=r"cannot be written .*full.*; free space") as error:
        kb.update()
    assert "\n" not in str(error.value)
    assert held(kb) == before and kb.generation == generation
    kb._truth().rows("PRAGMA max_page_count = 1000000")
    assert [each.status for each in kb.update()] == ["unchanged", "unchanged", "added"]


def test_a_disk_that_is_full_for_the_index_loses_no_passage(kb: KnowledgeBase) -> None:
    code = f"""
    import resource, signal, sys
    from pathlib import Path
    from demur.errors import DataError
    from demur.kb.folder import KnowledgeBase
    from demur.kb.passages import Passage
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    kb = KnowledgeBase({str(folder(kb))!r})
    size = 150_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        many = (Passage(str(n), f"Passage {{n}} says {{n * n}} and {{n * 7}}.") for n in range(20000))
        kb.put("many", many)
    except DataError as error:
        print(error)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 1 and "free space" in done.stdout, done.stdout + done.stderr
    again = KnowledgeBase(folder(kb))
    assert again.by_words("drill", 3)[0].tolist() and set(held(again)) >= {"a.txt", "b.txt"}
    assert again.put("one", [Passage("1", "There is room again.")]).status == "added"


@pytest.mark.parametrize("words", ["there", "gone"])
def test_a_folder_that_may_not_be_written_is_read(kb: KnowledgeBase, words: str) -> None:
    expected = found(kb, "drill lent")
    kb.close()
    if words == "gone":
        shutil.rmtree(folder(kb) / "words")
    code = f"""
    import os
    from pathlib import Path
    from kb.base_toys import folder, found
    from demur.errors import DataError
    from demur.kb.folder import KnowledgeBase
    from demur.kb.store import schema
    import tantivy, demur.asking, demur.rankers.lexical.bm25, snowballstemmer, filelock, hashlib
    os.access(".", os.W_OK)
    kb = KnowledgeBase({str(folder(kb))!r})
    print(found(kb, "drill lent"))
    try:
        kb.remove("a.txt")
    except DataError as error:
        print(error)
    """
    code = textwrap.dedent(code)
    paths = [*sorted(folder(kb).rglob("*")), folder(kb)]
    before = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    if os.geteuid() == 0:  # whom permissions do not stop
        code = (
            "import os\nreal = os.access\n"
            "os.access = lambda path, mode: mode != os.W_OK and real(path, mode)\n" + code
        )
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])},
        )
    finally:
        for path, mode in reversed(before.items()):
            path.chmod(mode)
    first, second = done.stdout.splitlines()
    assert first == str(expected)
    assert "may not be written" in second
    assert (folder(kb) / "words").is_dir() == (words == "there")


@pytest.mark.parametrize("there", [False, True])
def test_a_base_is_not_made_of_files_that_cannot_be_read(tmp_path: Path, there: bool) -> None:
    write(tmp_path / "docs", {"a.csv": "no,such\ncolumns,here", "b.exe": "nothing"})
    base = tmp_path / "x.kb"
    if there:
        base.mkdir()
    kb = KnowledgeBase(base)
    files = [tmp_path / "docs" / "a.csv", tmp_path / "docs" / "b.exe", tmp_path / "docs"]
    assert {each.status for each in kb.add(files)} == {"skipped"}
    reasons = [each.reason for each in KnowledgeBase(tmp_path / "y.kb").add(os.path.relpath(files[0]))]
    assert [each.partition(":")[0] for each in reasons] == [os.path.relpath(files[0])]
    assert base.is_dir() == there and not (there and list(base.iterdir()))
    write(tmp_path / "docs", {"c.txt": "A drill is lent."})
    assert [each.status for each in kb.add(files[2])] == ["skipped", "added"]
    assert [each.status for each in kb.add(files[0])] == ["skipped"] and kb.there


def test_a_base_is_not_made_where_reading_is_broken_off(tmp_path: Path) -> None:
    write(tmp_path, {"a.txt": "A drill is lent."})

    def broken_off(_: int) -> None:
        raise KeyboardInterrupt

    kb = KnowledgeBase(tmp_path / "x.kb")
    with pytest.raises(KeyboardInterrupt):
        kb.add(tmp_path / "a.txt", broken_off)
    assert not folder(kb).exists()
