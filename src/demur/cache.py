"""A folder for what can be made again: vectors, embeddings. It may be deleted at any time.

It is what DEMUR_CACHE names, or else ``demur`` in the folder that the platform keeps for caches.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from demur.errors import DataError


def root() -> Path:
    """The folder of all that demur caches; it need not be there yet."""
    if named := os.environ.get("DEMUR_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local").expanduser() / "demur" / "cache"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/demur").expanduser()
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path("~/.cache").expanduser()) / "demur"


def folder(name: str) -> Path:
    """The cache's folder of that name, made if it is not there; it can be written into."""
    path = root() / name
    fix = "set DEMUR_CACHE to a folder that can be written"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"the cache cannot be made here ({error.strerror})", path=path, fix=fix) from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise DataError("the cache cannot be written", path=path, fix=fix)
    return path


@lru_cache
def code(*names: str) -> str:
    """A hash of modules of demur, named by patterns: what they made is made anew once one changes."""
    digest = hashlib.sha256()
    home = Path(__file__).parent
    for each in sorted(path for name in names for path in home.glob(name)):
        digest.update(each.read_bytes())
    return digest.hexdigest()[:16]


def trim(path: Path, most: int) -> None:
    """Remove files of a folder, those touched longest ago first, until no more than `most` bytes are left."""
    with suppress(OSError):  # another process may do the same
        files = [(each.stat(), each) for each in path.iterdir() if each.is_file()]
        for stat, each in sorted(files, key=lambda file: -file[0].st_mtime_ns):
            most -= stat.st_size
            if most < 0:
                each.unlink()
