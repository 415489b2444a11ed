"""The tables of a base in PostgreSQL, and how they are opened, made, and brought up to date."""

from __future__ import annotations

import re
import secrets

from demur.errors import DataError, ReadOnlyBase, UnusableBase
from demur.kb.postgres.server import Server
from demur.kb.store.truth import Row

_TABLES = """
CREATE TABLE facts (name text PRIMARY KEY, value text NOT NULL);

-- One row for each change. The sums make a generation's size known at once, however large the base.
CREATE TABLE generations (
  number bigint PRIMARY KEY, mark text NOT NULL, made double precision NOT NULL, what text NOT NULL,
  sources bigint NOT NULL, passages bigint NOT NULL, words bigint NOT NULL,
  newest bigint NOT NULL, digest text NOT NULL
);

CREATE TABLE folders (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, path text COLLATE "C" NOT NULL UNIQUE,
  name text NOT NULL
);

-- A version of a file or of a named text: in the base from generation `born` until before `died`.
CREATE TABLE sources (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL, path text COLLATE "C",
  folder bigint REFERENCES folders ON DELETE SET NULL, kind text NOT NULL, sha256 text NOT NULL,
  size bigint NOT NULL, mtime bigint NOT NULL, checked bigint NOT NULL, born bigint NOT NULL, died bigint
);
CREATE UNIQUE INDEX sources_by_name ON sources (name) WHERE died IS NULL;
CREATE UNIQUE INDEX sources_by_path ON sources (path) WHERE died IS NULL;

-- Passages that differ; an id is never used again, so it always means the same words.
CREATE TABLE passages (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hash bytea NOT NULL, heading text NOT NULL,
  text text NOT NULL, question text NOT NULL, words bigint NOT NULL, born bigint NOT NULL, died bigint
);
CREATE UNIQUE INDEX passages_by_hash ON passages (hash) WHERE died IS NULL;
CREATE INDEX passages_dead ON passages (died) WHERE died IS NOT NULL;

-- Where each passage stands. `part` is what follows the source's name, such as a page.
CREATE TABLE occurrences (
  source bigint NOT NULL REFERENCES sources, number bigint NOT NULL,
  passage bigint NOT NULL REFERENCES passages, name text NOT NULL, part text NOT NULL, line bigint,
  PRIMARY KEY (source, number)
);
CREATE INDEX occurrences_by_passage ON occurrences (passage);
CREATE INDEX occurrences_by_name ON occurrences USING hash (name);

-- How many passages came and went between two generations, once they are deleted.
CREATE TABLE gone (born bigint, died bigint, passages bigint NOT NULL, PRIMARY KEY (born, died));

-- What is searched of each passage: demur's own stemmed words, as hashes, each as often as it is there.
CREATE TABLE lexemes (
  passage bigint PRIMARY KEY REFERENCES passages ON DELETE CASCADE, length integer NOT NULL,
  words tsvector NOT NULL
);
CREATE INDEX lexemes_by_word ON lexemes USING gin (words);

-- Vectors of what is searched (kind 0) and of the question (kind 1); the index is made after the first.
CREATE TABLE vectors (
  passage bigint REFERENCES passages ON DELETE CASCADE, kind smallint, vector halfvec NOT NULL,
  PRIMARY KEY (passage, kind)
);

CREATE TABLE labels (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, question text NOT NULL, hash bytea,
  heading text NOT NULL, text text NOT NULL, label bigint NOT NULL, made double precision NOT NULL
);
CREATE INDEX labels_by_question ON labels USING hash (question);

-- Questions that people asked, or that somebody brought, to be labelled.
CREATE TABLE asked (question text COLLATE "C" NOT NULL, made double precision NOT NULL);
CREATE UNIQUE INDEX asked_once ON asked (md5(question));
"""

MIGRATIONS = (_TABLES,)
"""What brings tables from each version to the next; the first makes them. Only ever add to it."""


def version_of(server: Server) -> int:
    """The version of the tables; 0 where there are none."""
    if server.rows("SELECT to_regclass(?)", (f"{server.address.schema}.facts",))[0][0] is None:
        return 0
    found = server.rows("SELECT value FROM facts WHERE name = 'format'")
    return int(found[0][0]) if found else -1


def prepare(server: Server, stem: str | None) -> None:
    """Check the tables and bring them up to date; with `stem` they are made where there are none."""
    place, version = str(server.address), version_of(server)
    if not version and stem is None:
        raise DataError("there is no knowledge base", path=place, fix="make one with demur kb add")
    if not version and _tables(server):
        version = version_of(server) or -1  # another may just have made the base
    if version < 0:
        fix = "name another schema for the base: …/DATABASE?schema=NAME"
        what = f"the schema {server.address.schema} has tables of something else"
        raise DataError(what, path=place, fix=fix)
    if version > len(MIGRATIONS):
        what = f"was made by a newer demur (format {version}; this one knows {len(MIGRATIONS)})"
        raise DataError(what, path=place, fix="upgrade demur")
    if version == len(MIGRATIONS):
        _check_whole(server)
        return
    try:
        _migrate(server, stem)
    except ReadOnlyBase:
        raise _refused(server, version) from None


def _migrate(server: Server, stem: str | None) -> None:
    """Bring the tables up to date in one transaction."""
    name = server.address.schema
    with server.alone("write"):
        if not server.rows("SELECT 1 FROM pg_namespace WHERE nspname = ?", (name,)):
            server.execute(f'CREATE SCHEMA "{name}"')
        version = version_of(server)  # another may have been faster
        if not version:
            server.need_vectors()
        for script in MIGRATIONS[version:]:
            for statement in script.split(";\n"):
                if statement.strip():
                    server.execute(statement)
        if not version:
            facts = {"base": secrets.token_hex(8), "stem": stem, "purged": "0", "format": "0"}
            server.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        server.execute("UPDATE facts SET value = ? WHERE name = 'format'", (str(len(MIGRATIONS)),))


def drop(server: Server) -> None:
    """Take away the tables of a base to which nothing was ever added."""
    with server.alone("write"):
        if server.rows("SELECT 1 FROM generations LIMIT 1"):
            return  # another has added something meanwhile
        for (table,) in _tables(server):
            server.execute(f'DROP TABLE "{table}" CASCADE')


def _tables(server: Server) -> list[Row]:
    """The names of all tables in the schema, whosever they are."""
    return server.rows("SELECT tablename FROM pg_tables WHERE schemaname = ?", (server.address.schema,))


def names() -> list[str]:
    """The names of all tables of a base, in the order in which they are made."""
    return re.findall(r"^CREATE TABLE (\w+)", "\n".join(MIGRATIONS), re.M)


def _check_whole(server: Server) -> None:
    """Raise an error if a table is gone: statements would find that of a base in another schema."""
    if lost := sorted(set(names()) - {table for (table,) in _tables(server)}):
        fix = "put a backup of it back, or name another schema and add the files again"
        raise UnusableBase(f"has lost its table {lost[0]}", path=str(server.address), fix=fix)


def _refused(server: Server, version: int) -> DataError:
    """The error that the user may not make tables, or not change them."""
    address = server.address
    user = server.rows("SELECT current_user")[0][0]
    if version:
        what = f"is of an older format ({version} of {len(MIGRATIONS)}), and {user} may not change its tables"
        return DataError(what, path=str(address), fix="let their owner run demur kb status on it once")
    fix = f"let its owner run GRANT CREATE ON DATABASE {address.database} TO {user}"
    return DataError(f"{user} may not make tables here", path=str(address), fix=fix)
