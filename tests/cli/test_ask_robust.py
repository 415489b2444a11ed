"""`demur ask` over what goes wrong: each has a result, or one clear line and exit code 2."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from asking.toys import SPEC
from demur import files, registry, store
from demur.asking import packaged
from demur.asking.example import pools
from demur.cli import main as command

LONG = 200_000

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """`demur ask` in a folder of its own: the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["demur", "ask", *words])
        with pytest.raises(SystemExit) as left:
            command.main()
        said = capfd.readouterr()
        return int(left.value.code or 0), said.out, said.err

    yield call


def refused(found: tuple[int, str, str]) -> str:
    """The one clear line of what was refused."""
    code, out, line = found
    assert (code, out) == (2, ""), found
    assert line.startswith("demur: ") and line.count("\n") == 1 and "Traceback" not in line
    return line


BM25 = ("--ranker", "bm25", "--json")


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.jsonl", "a.csv"])
@pytest.mark.parametrize("unit", ["x", "A saw is lent. ", "saw ", "[", ".", "\u0301", "saw\n", "中"])
def test_a_document_of_200_000_characters(run: Run, name: str, unit: str) -> None:
    text = (unit * LONG)[:LONG] + "\n\nThe saw is blue.\n"
    whole = {"a.jsonl": json.dumps({"text": text}), "a.csv": f'text\n"{text}"\n'}.get(name, text)
    Path(name).write_text(whole, "utf-8")
    code, out, _ = run("Is the saw blue?", "--from", name, *BM25)
    assert code == 0
    answer = json.loads(out)["answer"]
    assert "The saw is blue." in answer["text"] and len(answer["text"]) < 2000
    assert answer["text"][answer["span"]["start"] : answer["span"]["end"]] == answer["span"]["text"]


def test_a_question_of_200_000_characters(run: Run) -> None:
    Path("a.txt").write_text("The saw is blue.", "utf-8")
    question = ("saw blue " * LONG)[: LONG // 2]  # the system allows no longer an argument
    code, out, _ = run(question, "--from", "a.txt", *BM25)
    assert code == 0 and json.loads(out)["answer"]["text"] == "The saw is blue."


def test_a_folder_with_nothing_in_it(run: Run) -> None:
    Path("empty").mkdir()
    assert "empty: no file that demur reads; put files in it" in refused(run("saws?", "--from", "empty"))
    Path("empty/a.txt").write_text("", "utf-8")
    code, out, _ = run("saws?", "--from", "empty", *BM25)
    assert code == 0 and json.loads(out)["reason"] == "there are no passages to look in"


@pytest.mark.parametrize("content", [b"\x7fELF\2\1\1\0\0\0", bytes(range(256)), b"fine\n\xff\xfe", b"\0"])
def test_a_binary_file_that_is_called_txt(run: Run, content: bytes) -> None:
    Path("a.txt").write_bytes(content)
    line = refused(run("saws?", "--from", "a.txt", *BM25))
    assert "a.txt:" in line and ("is binary" in line or "is not UTF-8" in line)
    Path("b.txt").write_text("Saws are lent.", "utf-8")
    code, out, said = run("saws?", "--from", ".", *BM25)
    assert code == 0 and json.loads(out)["answer"]["source"] == "b.txt"
    assert said.startswith("passed over: a.txt:") and said.endswith("1 of 2 files are passed over\n")


def test_no_name_is_not_the_name_of_the_folder_one_is_in(run: Run) -> None:
    Path("a.txt").write_text("Saws are lent.", "utf-8")
    assert "the name of a file is empty" in refused(run("saws?", "--from", "", *BM25))


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Something to happen once the first line of a file has been read."""

    def happens(action: Callable[[], object]) -> None:
        def lines(path: str | Path) -> Iterator[tuple[int, str]]:
            for number, line in original(path):
                yield number, line
                if number == 1:
                    action()

        original = files.lines
        monkeypatch.setattr(files, "lines", lines)

    return happens


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "longer": (lambda path: path.write_text("Saws are lent.\n" * 9), "was changed while it was read"),
    "shorter": (lambda path: os.truncate(path, 3), "was changed while it was read"),
    "replaced": (lambda path: path.with_suffix(".new").replace(path), "was changed while it was read"),
    "touched": (lambda path: os.utime(path, ns=(1, 1)), "was changed while it was read"),
    "gone": (lambda path: path.unlink(), "vanished while it was read"),
}


@pytest.mark.parametrize("name", ["a.txt", "a.md"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read(
    run: Run, meanwhile: Callable[[Callable[[], object]], None], name: str, change: str
) -> None:
    path = Path(name)
    for each in (path, path.with_suffix(".new")):
        each.write_text("Saws are lent.\n\nLadders too.\n", "utf-8")
    action, says = CHANGES[change]
    meanwhile(lambda: action(path))
    line = refused(run("saws?", "--from", name, *BM25))
    assert line == f"demur: {name}: {says}; ask again when nothing writes there\n"


def test_a_file_that_is_broken_only_as_it_is_being_written(
    run: Run, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    path = Path("a.txt")
    path.write_bytes(b"Saws.\n" + b"x" * 300_000 + b"\xff\n")
    meanwhile(lambda: os.utime(path, ns=(1, 1)))
    assert "was changed while it was read" in refused(run("saws?", "--from", "a.txt", *BM25))


def test_a_pipe_may_be_read(run: Run, tmp_path: Path) -> None:
    os.mkfifo("a.txt")
    with subprocess.Popen(["sh", "-c", "printf 'Saws are lent.\n' > a.txt"]):
        code, out, _ = run("saws?", "--from", "a.txt", *BM25)
    assert code == 0 and json.loads(out)["answer"]["text"] == "Saws are lent."


@pytest.fixture
def model(run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model's folder, which a toy stands for; and a guide to ask."""
    monkeypatch.setitem(registry.OURS["ranker"], "mini", SPEC)
    Path("guide.md").write_text("Saws are lent for three weeks.", "utf-8")
    with store.saving("model", "mini") as inside:
        (inside / "model.onnx").write_bytes(bytes(range(256)) * 100)
    return Path("model")


@pytest.mark.parametrize("place", [0, 12_345, 25_599])
def test_a_model_in_which_one_byte_differs_is_refused(run: Run, model: Path, place: int) -> None:
    words = ("saws?", "--from", "guide.md", "--ranker", "model")
    assert run(*words)[0] == 0
    content = bytearray((model / "model.onnx").read_bytes())
    content[place] ^= 1
    (model / "model.onnx").write_bytes(content)
    for more in ((), ("--reader", "model", "--ranker", "bm25")):
        line = refused(run(*words, *more))
        assert (
            "model/model.onnx: is not the file that ranker.json describes (checksum); copy it again" in line
        )


def test_a_model_that_lacks_a_file_or_was_cut_is_refused(run: Run, model: Path) -> None:
    words = ("saws?", "--from", "guide.md", "--ranker", "model")
    os.truncate(model / "model.onnx", 100)
    assert "checksum" in refused(run(*words))
    (model / "model.onnx").unlink()
    assert "model/model.onnx: no such file" in refused(run(*words))
    (model / "ranker.json").write_text("{", "utf-8")
    assert "model/ranker.json:1: not JSON" in refused(run(*words))


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_the_packaged_model_is_refused_if_one_byte_differs(run: Run) -> None:
    import shutil

    shutil.copytree(packaged.FOLDER, "copy")
    Path("guide.md").write_text("Saws are lent for three weeks.", "utf-8")
    words = ("For how long are saws lent?", "--from", "guide.md", "--ranker", "copy", "--gate", "none")
    assert run(*words)[0] == 0
    for name in ("model.onnx", "tokenizer.json"):
        content = bytearray(Path("copy", name).read_bytes())
        content[len(content) // 2] ^= 1
        Path("copy", name).write_bytes(content)
        assert f"copy/{name}: is not the file that ranker.json describes" in refused(run(*words))
        content[len(content) // 2] ^= 1
        Path("copy", name).write_bytes(content)


def test_two_processes_ask_at_once(tmp_path: Path) -> None:
    question = next(iter(pools())).question
    words = [sys.executable, "-m", "demur", "ask", question, "--example", "--json"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) for _ in range(2)]
    first, second = (process.communicate(timeout=120)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert first == second and json.loads(first)["question"] == question
