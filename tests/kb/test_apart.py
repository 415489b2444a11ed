from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import kb_files
from demur.errors import DataError, UsageError
from demur.kb.files import apart
from demur.kb.files.apart import Child, read_apart
from demur.kb.files.limits import Limits

Opened = Callable[..., Child]


@pytest.fixture(autouse=True)
def _path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    apart.close()
    monkeypatch.setenv("PYTHONPATH", str(kb_files.HERE))
    yield
    apart.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "ein übler Name \U0001f600.bin"
    path.write_bytes(b"abc")
    return path


def ended(pid: int) -> bool:
    """Whether nothing of a process is left, not even a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def said(path: Path, reader: str) -> str:
    with pytest.raises(DataError) as error:
        list(read_apart(f"kb_files:{reader}", path))
    message = str(error.value)
    assert message.startswith(f"{path}: ") and "\n" not in message
    return message


def pid(path: Path, reader: str = "one") -> int:
    (passage,) = read_apart(f"kb_files:{reader}", path)
    assert passage.source == str(path)
    size, number = passage.text.split()
    assert size == "3"
    return int(number)


def test_one_process_reads_many_files_and_ends_with_this_one(path: Path) -> None:
    first = pid(path)
    assert first == pid(path) != os.getpid()
    apart.close()
    assert ended(first)
    second = pid(path)
    apart.close()
    assert second != first and ended(second)


def test_what_a_library_prints_is_no_answer(path: Path) -> None:
    assert pid(path, "prints")


def test_a_reader_that_hangs_is_stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_READ_SECONDS", "2")
    first = pid(path)
    assert "is not read after 2 seconds; to allow more, set DEMUR_READ_SECONDS" in said(path, "hangs")
    assert ended(first)
    assert pid(path) != first


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited by Linux")
def test_a_reader_that_eats_memory_is_stopped(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_READ_MEMORY", "900")
    assert "takes more than 900 MB of memory to read; to allow more, set DEMUR_READ_MEMORY" in said(
        path, "eats"
    )
    assert pid(path)


def test_a_reader_that_crashes_takes_nothing_else_down(path: Path) -> None:
    assert "the process that reads it has died (signal 6)" in said(path, "crashes")
    assert pid(path)


def test_more_text_than_a_file_may_have_is_not_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_READ_UNPACKED", "1")
    assert "has more than 1 MB of text; to allow more, set DEMUR_READ_UNPACKED" in said(path, "floods")
    path.write_bytes(b"x" * (1 << 20 | 1))
    assert "has more than 1 MB; to allow more" in said(path, "one")


def test_what_nobody_has_foreseen_is_one_line(path: Path) -> None:
    assert "cannot be read (AttributeError: " in said(path, "nothing")


def test_limits_are_whole_numbers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_READ_PAGES", "many")
    with pytest.raises(UsageError, match="DEMUR_READ_PAGES='many' is not a whole number above 0"):
        list(read_apart("kb_files:one", path))


def test_threads_read_at_once(path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        numbers = set(pool.map(lambda _: pid(path), range(12)))
    apart.close()
    assert all(map(ended, numbers))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_nothing_is_left_of_a_program_that_has_read(path: Path) -> None:
    program = """
        import sys
        from pathlib import Path
        from demur.kb.files.apart import read_apart
        (passage,) = read_apart("kb_files:one", Path(sys.argv[1]))
        print(passage.text.split()[1])
    """
    words = [sys.executable, "-c", textwrap.dedent(program), str(path)]
    paths = [*(str(each) for each in sys.path if each), str(kb_files.HERE)]
    done = subprocess.run(
        words,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert not done.stderr and ended(int(done.stdout))


def test_a_process_that_was_killed_while_idle_is_replaced(path: Path) -> None:
    first = pid(path)
    os.kill(first, 9)
    while apart._idle[0].runs:
        pass
    assert pid(path) != first


def test_the_limits_of_a_process_are_those_it_was_started_with(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pid(path)
    monkeypatch.setenv("DEMUR_READ_PAGES", "7")
    assert pid(path) != first
    assert ended(first)
    assert apart._idle[0].limits == Limits(pages=7)
