"""Model folders: written whole, and what was changed since is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demur import store
from demur.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with store.saving(tmp_path / "m", "bm25(k1=1.5)", {"seed": 1}) as place:
        (place / "weights.bin").write_bytes(b"abc")
    return tmp_path / "m"


def facts(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / store.FACTS).read_text("utf-8"))
    return found


def test_what_was_saved_is_opened(folder: Path) -> None:
    found = store.open_folder(folder)
    assert (found.spec, found.made, list(found.files)) == ("bm25(k1=1.5)", {"seed": 1}, ["weights.bin"])


def test_who_may_read_the_facts_may_read_the_files(tmp_path: Path) -> None:
    with store.saving(tmp_path / "m", "bm25") as place:
        for name, mode in (("secret.bin", 0o600), ("known.bin", 0o644)):
            (place / name).write_bytes(b"abc")
            (place / name).chmod(mode)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "m").iterdir()}
    assert modes["secret.bin"] == modes[store.FACTS] and modes["known.bin"] & 0o600 == 0o600


def test_another_file_or_another_spec_is_refused(folder: Path) -> None:
    told = facts(folder)
    (folder / store.FACTS).write_text(json.dumps({**told, "spec": "bm25(k1=9)"}), "utf-8")
    with pytest.raises(DataError, match=r"was changed after the model was saved \(checksum\)"):
        store.open_folder(folder)
    (folder / store.FACTS).write_text(json.dumps(told), "utf-8")
    (folder / "weights.bin").write_bytes(b"abd")
    with pytest.raises(DataError, match=r"is not the file that ranker.json describes \(checksum\)"):
        store.open_folder(folder)
    assert store.open_folder(folder, check=False).spec == "bm25(k1=1.5)"
    (folder / store.FACTS).write_text("[" * 100_000, "utf-8")
    with pytest.raises(DataError, match=r"JSON that cannot be read \(it is nested too deep"):
        store.open_folder(folder)


def test_a_folder_of_an_older_version_is_opened(folder: Path) -> None:
    told = facts(folder)
    del told["seal"]
    (folder / store.FACTS).write_text(json.dumps(told), "utf-8")
    assert store.open_folder(folder).spec == "bm25(k1=1.5)"


def test_a_run_that_breaks_off_leaves_what_was_there(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), store.saving(folder, "length") as place:
        (place / "weights.bin").write_bytes(b"new")
        1 / 0  # noqa: B018
    assert store.open_folder(folder).spec == "bm25(k1=1.5)"
    assert [path.name for path in folder.parent.iterdir()] == ["m"]


@pytest.mark.parametrize("name", ["../secret", "/etc/hosts"])
def test_a_folder_that_names_files_outside_it_is_refused(folder: Path, name: str) -> None:
    told = facts(folder)
    del told["seal"]
    (folder / store.FACTS).write_text(json.dumps({**told, "files": {name: "0" * 64}}), "utf-8")
    with pytest.raises(DataError, match=r"names a file outside its folder"):
        store.open_folder(folder)
