from __future__ import annotations

import gzip
import os
import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import filelock
import pytest

from demur import files
from demur.errors import DataError, DemurError, MissingExtra, NoThreshold, UnknownName, UsageError, require
from demur.files import is_pipe, lines, replacing, sha256, whole, written
from demur.locks import in_turn, locked


def test_lines_are_numbered_without_their_ends(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\r\ntwo\xe2\x80\xa8still two\n\nlast\x85?"[:-2] + b"")
    assert list(lines(file)) == [(1, "one"), (2, "two\u2028still two"), (3, ""), (4, "last")]
    assert whole(file).startswith("one\r\n")


def test_gzip_is_known_by_its_bytes_not_its_name(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(gzip.compress("héllo\n".encode(), mtime=0))
    assert list(lines(file)) == [(1, "héllo")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"x" * 5000, mtime=0)[:-9], "broken gzip file"),
        (gzip.compress(b"x" * 5000, mtime=0)[:12], "broken gzip file"),
        (b"fine\nnot \xff fine\n", ":2: byte 0xff is not UTF-8; save the file as UTF-8"),
    ],
)
def test_broken_files_are_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(content)
    with pytest.raises(DataError) as caught:
        list(lines(file))
    assert message in str(caught.value) and str(file) in str(caught.value)


def test_absent_files_and_folders_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file; check the spelling"):
        list(lines(tmp_path / "none"))
    with pytest.raises(DataError, match="is a folder, not a file"):
        list(lines(tmp_path))
    with (
        pytest.raises(DataError, match="the folder to write into does not exist"),
        replacing(tmp_path / "no" / "x"),
    ):
        pass
    (tmp_path / "file").touch()
    with (
        pytest.raises(DataError, match="lies in a file, not in a folder"),
        replacing(tmp_path / "file" / "x"),
    ):
        pass
    for read in (sha256, whole):
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "none")
        with pytest.raises(DataError, match="no such file"):
            read(tmp_path / "file" / "x")
        with pytest.raises(DataError, match="is a folder"):
            read(tmp_path)


def test_a_folder_cannot_be_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path / "folder", Path(), Path("folder/..")):
        with pytest.raises(DataError, match="is a folder, not a file"), replacing(folder) as out:
            out.write("x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_what_could_not_be_written_is_said_before(tmp_path: Path) -> None:
    files.check_writable(tmp_path / "new.json")
    files.check_writable("-")
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="the folder to write into does not exist"):
        files.check_writable(tmp_path / "no" / "new.json")
    with pytest.raises(DataError, match="is a folder, not a file"):
        files.check_writable(tmp_path)


def test_nothing_is_half_written(tmp_path: Path) -> None:
    file = tmp_path / "out.txt.gz"
    with replacing(file) as out:
        out.write("first\n")
    with pytest.raises(RuntimeError), replacing(file) as out:
        out.write("second\n")
        raise RuntimeError
    assert list(lines(file)) == [(1, "first")]
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt.gz"]


def test_the_same_text_packs_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with replacing(tmp_path / name) as out:
            out.write("same\n")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize("content", ["héllo\n".encode(), gzip.compress("héllo\n".encode(), mtime=0), b""])
def test_stdin_may_be_packed(content: bytes) -> None:
    program = "from demur.files import lines; print(ascii(list(lines('-'))))"
    done = subprocess.run([sys.executable, "-c", program], input=content, capture_output=True, check=True)
    assert done.stdout.decode().strip() == (ascii([(1, "héllo")]) if content else "[]")


def test_a_pipe_is_read_once_and_never_replaced(tmp_path: Path) -> None:
    for content in (b"one\ntwo\n", gzip.compress(b"one\ntwo\n", mtime=0)):
        out, into = os.pipe()
        os.write(into, content)
        os.close(into)
        assert is_pipe(f"/dev/fd/{out}")
        assert [text for _, text in lines(f"/dev/fd/{out}")] == ["one", "two"]
        os.close(out)
    out, into = os.pipe()
    with replacing(f"/dev/fd/{into}") as file:
        file.write("three\n")
    os.close(into)
    assert os.read(out, 100) == b"three\n"
    os.close(out)
    with replacing(os.devnull) as file:
        file.write("gone")
    assert is_pipe(os.devnull) and not is_pipe(tmp_path) and not is_pipe(tmp_path / "none")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk to try")
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_full_disk_is_one_line(size: int) -> None:
    message = r"/dev/full: cannot be written \(No space left on device\)"
    with pytest.raises(DataError, match=message), replacing("/dev/full") as file:
        file.write("x" * size)


def test_errors_say_what_to_do() -> None:
    assert str(UnknownName("ranker", "bm26", ["bm25", "length"])) == (
        "unknown ranker 'bm26'; did you mean 'bm25'? known: bm25, length"
    )
    with pytest.raises(MissingExtra, match=r"pip install 'demur\[train\]'"):
        require("no_such_module_here", extra="train")
    assert issubclass(MissingExtra, DemurError)


def test_only_the_first_mark_is_a_bom(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n")
    assert list(lines(file)) == [(1, "one"), (2, "\ufefftwo")]


def test_errors_travel_between_processes() -> None:
    for error in (
        UnknownName("ranker", "x", ["y"]),
        NoThreshold(0.1, 0.95, 40, 0.5, None),
        DataError("bad", line=3),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


def test_a_full_disk_that_safetensors_tells_of_is_one_line(tmp_path: Path) -> None:
    full = type("SafetensorError", (Exception,), {})("I/O error: No space left on device (os error 28)")
    line = r"m: cannot be written \(I/O error: No space left .*\); free space, or write elsewhere"
    with pytest.raises(DataError, match=line), written(tmp_path / "m"):
        raise full
    with pytest.raises(ZeroDivisionError), written(tmp_path / "m"):
        raise ZeroDivisionError


def test_one_run_at_a_time_holds_a_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked(lock, "nobody is there"):
        for _ in range(2):
            with pytest.raises(UsageError, match="it is busy"), locked(lock, "it is busy"):
                pytest.fail("it is locked")
        lock.unlink()
    with pytest.raises(ZeroDivisionError), locked(lock, "nobody is there"):
        raise ZeroDivisionError
    with locked(lock, "nobody is there"):
        assert lock.exists()


def test_whoever_waits_is_told_once_and_comes_in_afterwards(tmp_path: Path) -> None:
    lock, told = tmp_path / "lock", []
    inside = threading.Event()

    def other() -> None:
        with in_turn(lock, lambda: told.append("waits")):
            inside.set()

    with in_turn(lock, lambda: pytest.fail("nobody is there")):
        thread = threading.Thread(target=other)
        thread.start()
        while thread.is_alive() and not told:
            thread.join(0.01)
        assert not inside.is_set()
    thread.join(60)
    assert inside.is_set() and told == ["waits"] and not lock.exists()


def test_a_lock_whose_file_is_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def acquire(self: filelock.FileLock, timeout: float) -> None:
        """As if the run before had removed the file between opening and locking it."""

    monkeypatch.setattr(filelock.FileLock, "acquire", acquire)
    with pytest.raises(UsageError, match="busy"), locked(tmp_path / "lock", "busy"):
        pytest.fail("nothing is locked")


def test_a_line_that_would_fill_memory_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"text\n" + b"x" * (3 << 20) + b"\n")
    assert len(list(lines(path))) == 2
    monkeypatch.setattr(files, "LONGEST_LINE", 1 << 20)
    with pytest.raises(DataError, match=r"a\.csv:2: a line of more than 1 MB; put line breaks into the file"):
        list(lines(path))


def test_threads_write_one_file_in_turns(tmp_path: Path) -> None:
    def write(text: str) -> None:
        with replacing(tmp_path / "one.json") as out:
            out.write(text)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, [str(n) * 1000 for n in range(10)] * 20))
    (left,) = tmp_path.iterdir()
    assert len(left.read_text("utf-8")) == 1000
