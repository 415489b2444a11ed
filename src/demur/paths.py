"""What lies at a path. Where one may not look, or that no disk can hold, nothing does, on any Python."""

from __future__ import annotations

import errno
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG

_NOTHING = errno.ENOENT, errno.ENOTDIR, errno.ELOOP


def exists(path: str | Path) -> bool:
    """Whether something is there, and a link leads to something."""
    return _mode(path) != 0


def is_folder(path: str | Path) -> bool:
    """Whether it is a folder, or a link to one."""
    return S_ISDIR(_mode(path))


def is_file(path: str | Path) -> bool:
    """Whether it is a file, or a link to one."""
    return S_ISREG(_mode(path))


def is_link(path: str | Path) -> bool:
    """Whether it is a link, wherever that leads."""
    try:
        return S_ISLNK(Path(path).lstat().st_mode)
    except (OSError, ValueError):
        return False


def is_gone(path: str | Path) -> bool:
    """Whether nothing is there, as far as is known: of what may not be looked at it is not."""
    try:
        Path(path).stat()
    except OSError as error:
        return error.errno in _NOTHING
    except ValueError:  # no path at all
        return True
    return False


def _mode(path: str | Path) -> int:
    try:
        return Path(path).stat().st_mode
    except (OSError, ValueError):
        return 0
