from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from demur import DemurError, cache


def test_the_named_folder_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "here"))
    assert cache.folder("vectors") == tmp_path / "here/vectors"
    assert cache.folder("vectors").is_dir()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other folders there")
def test_the_platforms_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMUR_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder("a") == tmp_path / "demur/a"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")  # which the XDG rules say to pass over
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.root() == tmp_path / "home/.cache/demur"


def test_what_cannot_be_made_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "file"))
    with pytest.raises(DemurError, match=r"cache cannot be made here .*; set DEMUR_CACHE to a folder"):
        cache.folder("a")


def test_what_cannot_be_written_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DemurError, match="cannot be written; set DEMUR_CACHE"):
        cache.folder("a")
