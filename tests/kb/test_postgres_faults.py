"""What goes wrong with a base in PostgreSQL is one clear line with what to do, and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from demur.errors import DataError, LostBase, ReadOnlyBase, UnusableBase
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.postgres import server as serving
from demur.kb.postgres import tables
from demur.kb.postgres.address import Address
from demur.kb.postgres.lines import not_connected
from kb.base_toys import found, held
from kb.places import ON_POSTGRES, SECRET, docs, kb, on_postgres, refused, said, schema_of, server

__all__ = ["docs", "kb"]  # fixtures
pytestmark = ON_POSTGRES


@pytest.fixture
def address() -> str:
    return on_postgres()


@pytest.fixture
def guest(address: str) -> Iterator[str]:
    """The same address for a user of few rights."""
    said(f"DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN PASSWORD '{SECRET}'")
    yield address.replace("://postgres:@", f"://guest:{SECRET}@")
    said("DROP OWNED BY guest CASCADE; DROP ROLE guest")


def test_no_server(address: str, tmp_path: Path) -> None:
    nowhere = f"postgresql://ada:{SECRET}@/books?host={tmp_path}"
    assert "no server answers" in refused(nowhere) and "check host and port" in refused(nowhere)
    assert str(tmp_path) in refused(nowhere)


def test_what_is_told_over_http_names_no_host() -> None:
    import psycopg

    address = Address.of(f"postgresql://ada:{SECRET}@db.example/books")
    for words in (
        "failed to resolve host 'db.example': [Errno -2] Name or service not known",
        'connection failed: connection to server at "10.0.0.7", port 5432 failed: Connection refused',
    ):
        error = not_connected(address, psycopg.OperationalError(words))
        assert isinstance(error, UnusableBase) and "db.example" in str(error)
        assert error.said.startswith("the knowledge base cannot be reached: no server answers (")
        assert "db.example" not in error.said and "10.0.0.7" not in error.said


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("fe_sendauth: no password supplied", "wants a password; set PGPASSWORD"),
        ("FATAL:  the database system is starting up", "is only starting; try again"),
        ("FATAL:  the database system is not yet accepting connections", "is only starting; try again"),
        ("FATAL:  the database system is shutting down", "is shutting down; try again when it is back"),
        ('FATAL:  pg_hba.conf rejects connection for host "[local]", database "b"', "not in from here"),
        ('FATAL:  permission denied for database "books"', "out of the database; run GRANT CONNECT"),
        ('FATAL:  too many connections for role "ada"', "has no connection free"),
        ('FATAL:  role "ada" is not permitted to log in', "lets this user not log in; run ALTER ROLE"),
        ('FATAL:  role "ada" does not exist', "knows no such user; check the user"),
        ('FATAL:  database "books" does not exist', "has no such database; make it with createdb"),
        ('invalid port number: "99999"', 'invalid port number: "99999"; write a port such as 5432'),
    ],
)
def test_each_refusal_has_its_own_remedy(words: str, told: str) -> None:
    import psycopg

    error = psycopg.OperationalError(f'connection to server on socket "/x", port 5432 failed: {words}')
    assert told in str(not_connected(Address.of("postgresql://ada@db.example/books"), error))


def test_a_base_that_lost_a_table_does_not_write_into_another(kb: KnowledgeBase, address: str) -> None:
    other = address.replace(f"schema={schema_of(address)}", "schema=public")
    KnowledgeBase(other).put("one", [Passage("1", "A rake.")])
    try:
        said(f"DROP TABLE {schema_of(address)}.vectors")
        assert "has lost its table vectors; put a backup of it back" in refused(address)
        assert len(KnowledgeBase(other)) == 1
    finally:
        for table in reversed(tables.names()):
            said(f"DROP TABLE IF EXISTS public.{table} CASCADE")


def test_whoever_comes_second_finds_the_base_that_the_first_made(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tables.version_of

    def late(server: serving.Server) -> int:
        monkeypatch.setattr(tables, "version_of", asked)
        KnowledgeBase(address).put("first", [Passage("1", "A rake.")])
        return 0

    monkeypatch.setattr(tables, "version_of", late)
    KnowledgeBase(address).put("second", [Passage("2", "A saw.")])
    assert len(KnowledgeBase(address)) == 2


def test_no_such_database_or_user(address: str) -> None:
    host = address.partition("host=")[2].partition("&")[0]
    assert "has no such database; make it with createdb" in refused(f"postgresql://postgres@/no?host={host}")
    assert "knows no such user" in refused(f"postgresql://nobody:{SECRET}@/postgres?host={host}")


def test_a_wrong_password(guest: str) -> None:
    rules = Path(str(said("SHOW hba_file")[0][0]))
    before = rules.read_text("utf-8")
    rules.write_text(f"local all guest scram-sha-256\n{before}", "utf-8")
    try:
        said("SELECT pg_reload_conf(), pg_sleep(0.3)")
        assert "no knowledge base" in refused(guest)
        wrong = guest.replace(SECRET, f"{SECRET}-not")
        assert "refuses this user or password; check both" in refused(wrong)
    finally:
        rules.write_text(before, "utf-8")
        said("SELECT pg_reload_conf(), pg_sleep(0.3)")


def test_no_extension(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host, name = address.partition("host=")[2], "bare"
    said(f"CREATE DATABASE {name}")
    other = f"postgresql://postgres@/{name}?host={host}"
    monkeypatch.setattr(serving, "_VECTOR", "vector_not_there")
    with pytest.raises(DataError, match=r"no extension vector; install pgvector there, and run CREATE EXT"):
        KnowledgeBase(other).put("one", [Passage("1", "A rake.")])
    monkeypatch.undo()
    assert not KnowledgeBase(other).there
    said("DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN", other.partition("&")[0])
    said(f"CREATE SCHEMA {schema_of(address)} AUTHORIZATION poor", other.partition("&")[0])
    with pytest.raises(DataError, match="this user may not make it; let a superuser run CREATE EXTENSION"):
        KnowledgeBase(other.replace("postgres@", "poor@")).put("one", [Passage("1", "A rake.")])


def test_no_rights(guest: str, address: str, kb: KnowledgeBase) -> None:
    elsewhere = guest.replace(schema_of(address), "guests_own")
    with pytest.raises(DataError, match="guest may not make tables here; let its owner run GRANT CREATE ON"):
        KnowledgeBase(elsewhere).put("one", [Passage("1", "A rake.")])
    assert "may not be written or read by this user" in refused(guest)
    said(f"GRANT USAGE ON SCHEMA {schema_of(address)} TO guest")
    said(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema_of(address)} TO guest")
    reader = KnowledgeBase(guest)
    assert found(reader, "drill") == found(kb, "drill")
    for change in (lambda: reader.put("one", [Passage("1", "A rake.")]), reader.check_writable):
        with pytest.raises(ReadOnlyBase) as error:
            change()
        assert "may not be written" in str(error.value) and SECRET not in str(error.value)


def test_a_newer_format_is_refused_by_name(kb: KnowledgeBase, address: str) -> None:
    said(f"UPDATE {schema_of(address)}.facts SET value = '99' WHERE name = 'format'")
    assert "newer demur (format 99" in refused(address) and "upgrade demur" in refused(address)
    with pytest.raises(LostBase, match="brought to format 99 by a newer demur; upgrade demur, and start it"):
        kb.refresh()
    with pytest.raises(LostBase, match="format 99"):
        kb.put("one", [Passage("1", "A rake.")])


def test_an_older_format_is_brought_up_to_date(
    kb: KnowledgeBase, address: str, guest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = held(kb)
    kb.label("was it lent?", None, 0)
    more = "ALTER TABLE labels ADD COLUMN who text;\nCREATE TABLE more (a bigint);\n"
    monkeypatch.setattr(tables, "MIGRATIONS", (*tables.MIGRATIONS, more))
    said(f"GRANT USAGE ON SCHEMA {schema_of(address)} TO guest")
    said(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema_of(address)} TO guest")
    assert "is of an older format (1 of 2), and guest may not change its tables; let" in refused(guest)
    again = KnowledgeBase(address)
    assert held(again) == before
    assert again._truth().rows("SELECT who FROM labels") == [(None,)]
    assert again._truth().rows("SELECT a FROM more") == []


def test_tables_of_something_else_are_left_alone(address: str) -> None:
    said(f"CREATE SCHEMA {schema_of(address)}; CREATE TABLE {schema_of(address)}.theirs (a text)")
    with pytest.raises(DataError, match="has tables of something else; name another schema"):
        KnowledgeBase(address).put("one", [Passage("1", "A rake.")])
    said(f"CREATE TABLE {schema_of(address)}.facts (name text, value text)")
    assert "has tables of something else" in refused(address)


def test_a_text_that_no_table_takes_is_told_and_the_rest_goes_in(kb: KnowledgeBase) -> None:
    before = held(kb)
    with pytest.raises(DataError, match="has a NUL character"):
        kb.put("bad", [Passage("1", "A rake."), Passage("2", "nul\0here")])
    assert held(kb) == before


def test_the_environment_may_hold_the_password(
    guest: str, address: str, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert "may not be written or read" in refused(guest.replace(f":{SECRET}", ""))
    assert os.environ["PGPASSWORD"] == SECRET and server()
