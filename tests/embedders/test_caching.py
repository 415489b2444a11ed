from __future__ import annotations

import logging
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from demur.embedders import vector_store
from demur.embedders.base import Embedder, Tokens, Vectors
from demur.embedders.caching import _BYTES, Memory, cached_in_memory, cached_on_disk, keys_of
from demur.embedders.vector_store import Shelf

ASKED: list[str] = []  # of the embedder below, in this process
TEXTS = ["ship", "", "cape café 🎉", "half \ud83c", "ship", "may"]


@dataclass(frozen=True)
class Letters(Embedder):
    """How often each of three letters stands in a text, and the text's length."""

    name: ClassVar[str] = "letters"
    salt: str = ""

    @property
    def width(self) -> int:
        return 4

    def embed(self, texts: Sequence[str]) -> Vectors:
        ASKED.extend(texts)
        return np.array(
            [[*map(text.count, "aps"), len(text)] for text in texts] or np.zeros((0, 4)), np.float32
        )

    def tokens(self, texts: Sequence[str], words: str = "content") -> Tokens:
        spans = np.zeros((len(texts), 2), np.int64)
        return Tokens(self.embed(texts), np.ones(len(texts), np.int64), tuple(texts), spans)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "cache"))
    ASKED.clear()
    return tmp_path / "cache"


def files(cache: Path) -> list[Path]:
    return sorted(path for path in cache.rglob("*") if path.is_file())


def test_each_text_is_computed_once_and_then_read(cache: Path) -> None:
    letters = Letters()
    expected = letters.embed(TEXTS)
    ASKED.clear()
    embedder = cached_on_disk(letters)
    for _ in range(2):
        found = embedder.embed(TEXTS)
        assert found.dtype == np.float32 and (found == expected).all()
    assert sorted(ASKED) == sorted({*TEXTS})
    assert (cached_on_disk(letters).embed([*TEXTS[::-1], "new"])[:-1] == expected[::-1]).all()
    assert ASKED[-1] == "new" and len(ASKED) == 6
    assert embedder.embed([]).shape == (0, 4)
    (folder,) = (cache / "embeddings").iterdir()
    assert folder.name == letters.fingerprint and len(files(cache)) == 2


def test_it_is_the_same_embedder_otherwise() -> None:
    for embedder in (cached_on_disk(Letters()), cached_in_memory(Letters())):
        assert (embedder.spec, embedder.fingerprint) == (Letters().spec, Letters().fingerprint)
        assert embedder.width == 4 and embedder.tokens(["may"]).words == ("may",)
        assert (pickle.loads(pickle.dumps(embedder)).embed(TEXTS) == Letters().embed(TEXTS)).all()


def test_another_embedder_reads_nothing_of_it() -> None:
    cached_on_disk(Letters()).embed(TEXTS)
    cached_on_disk(Letters("other")).embed(TEXTS)
    assert len(ASKED) == 2 * len({*TEXTS})


@pytest.mark.parametrize("harm", ["cut", "changed", "empty"])
def test_broken_files_are_computed_again(cache: Path, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    expected = cached_on_disk(Letters()).embed(TEXTS)
    (path,) = files(cache)
    data = path.read_bytes()
    path.unlink()
    path.write_bytes({"cut": data[:-5], "changed": data[:-1] + bytes([data[-1] ^ 1]), "empty": b""}[harm])
    vector_store._opened.cache_clear()
    ASKED.clear()
    with caplog.at_level(logging.WARNING, "demur"):
        assert (cached_on_disk(Letters()).embed(TEXTS) == expected).all()
        assert (cached_on_disk(Letters()).embed(TEXTS) == expected).all()
    assert len(ASKED) == 5, "once more, and then kept again"
    (record,) = caplog.records
    assert record.getMessage() == f"{path}: is damaged; its vectors are computed again"
    assert files(cache) == [path] and path.read_bytes() == data


def test_other_files_are_left_alone(cache: Path) -> None:
    cached_on_disk(Letters()).embed(["ship"])
    stranger = files(cache)[0].with_name("notes.txt")
    stranger.write_text("mine", "utf-8")
    for n in range(40):
        cached_on_disk(Letters()).embed([f"text {n}"])
    assert stranger.read_text("utf-8") == "mine"


def test_many_small_files_become_one(cache: Path) -> None:
    texts = [f"ship {n}" for n in range(80)]
    for text in texts:
        cached_on_disk(Letters()).embed([text])
    assert len(files(cache)) < 40
    ASKED.clear()
    assert (cached_on_disk(Letters()).embed(texts) == Letters().embed(texts)).all()
    assert len(ASKED) == len(texts), "all of them by the second embedder"


def test_large_ones_are_cut(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_store, "_ROWS", 3)
    texts = [f"ship {n}" for n in range(8)]
    cached_on_disk(Letters()).embed(texts)
    assert len(files(cache)) == 3
    ASKED.clear()
    assert (cached_on_disk(Letters()).embed(texts)[:, 3] == 6).all() and not ASKED


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING, "demur"):
        assert cached_on_disk(Letters()) == Letters()
    assert "embeddings are not kept: " in caplog.text and "set DEMUR_CACHE" in caplog.text


def test_a_full_disk_is_no_error(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with caplog.at_level(logging.WARNING, "demur"):
        assert cached_on_disk(Letters()).embed(["ship"]).tolist() == [[0, 1, 1, 4]]
    assert "embeddings are not kept (No space left on device)" in caplog.text


WORK = """
import sys
import numpy as np
from demur.embedders.caching import keys_of
from demur.embedders.vector_store import Shelf

shelf = Shelf.of("shared")
for n in range(int(sys.argv[1]), int(sys.argv[1]) + 60):
    numbers = np.array([n % 90, n * 7 % 90])
    keys = keys_of([f"ship {n}" for n in numbers])
    found, vectors = shelf.find(keys, 1)
    assert (vectors[found, 0] == numbers[found]).all()
    shelf.add(keys[~found], numbers[~found, None].astype(np.float32))
"""


def test_several_processes_at_once(cache: Path) -> None:
    started = [subprocess.Popen([sys.executable, "-c", WORK, start]) for start in ("0", "30", "60")]
    assert [process.wait(120) for process in started] == [0, 0, 0]
    found, vectors = Shelf.of("shared").find(keys_of([f"ship {n}" for n in range(90)]), 1)
    assert found.all() and vectors[:, 0].tolist() == list(range(90))
    assert all(path.suffix == ".safetensors" for path in files(cache)), "no halves are left"


def test_memory_forgets_what_was_not_asked_for_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.embedders.caching._BYTES", 3 * 4 * 4)
    assert _BYTES > 1 << 20
    embedder = cached_in_memory(Letters("forgetful"))
    embedder.embed(["a", "b", "c"])
    embedder.embed(["a", "d"])  # b goes
    ASKED.clear()
    assert embedder.embed(["a", "c", "d"])[:, 3].tolist() == [1, 1, 1] and ASKED == []
    embedder.embed(["b"])
    assert ASKED == ["b"]


def test_what_is_handed_out_may_be_changed() -> None:
    for embedder in (cached_on_disk(Letters()), cached_in_memory(Letters("changed"))):
        embedder.embed(["ship"])[:] = 9
        assert embedder.embed(["ship"]).tolist() == [[0, 1, 1, 4]]


def test_keys_tell_texts_apart() -> None:
    keys = keys_of([f"{n}" for n in range(10_000)])
    assert len(np.unique(keys, axis=0)) == 10_000 and keys_of([]).shape == (0, 2)
    found, vectors = Shelf.of("nothing").find(keys, 3)
    assert not found.any() and vectors.shape == (10_000, 3)
    found, _ = Memory("nothing").find(keys[:2], 3)
    assert not found.any()
