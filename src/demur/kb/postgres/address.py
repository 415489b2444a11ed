"""Where a base in PostgreSQL is: an address of PostgreSQL's own form, and a schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from demur.errors import UsageError

_SCHEMES = "postgresql", "postgres"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FORM = "postgresql://USER@HOST:PORT/DATABASE"
_SHOWN = {"host", "port", "dbname", "user", "schema"}  # what else an address says may be secret


def is_address(text: str) -> bool:
    """Whether a text is an address, not a path."""
    scheme, slash, _ = text.partition(":/")
    return bool(slash) and scheme in _SCHEMES


@dataclass(frozen=True)
class Address:
    """An address; as a text it has no password."""

    url: str = field(repr=False)
    """All that is needed to connect."""
    shown: str
    schema: str = "demur"
    database: str = ""

    @classmethod
    def of(cls, text: str) -> Address:
        """The address that a text means; `schema` among its parameters names the schema of the tables."""
        if "://" not in text:
            what = "a PostgreSQL address begins with postgresql:// (a Path loses a slash)"
            raise UsageError(f"{what}; pass it as a string")
        try:
            parts = urlsplit(text)
            given = [each.split("=", 1) for each in parts.query.split("&") if each]
            named = {name: unquote(value) for name, value in given}
        except ValueError:
            raise UsageError(f"this is no PostgreSQL address; write it as {_FORM}") from None
        if "@" in parts.path or parts.fragment or (not parts.netloc.count("@") and "@" in parts.query):
            what = "this PostgreSQL address cannot be read"
            raise UsageError(f"{what}; write /, ?, # and @ of a password as %2F, %3F, %23 and %40")
        schema = named.get("schema", "demur")
        if not _SCHEMA.fullmatch(schema):
            what = f"schema={schema!r} is no name of a schema"
            raise UsageError(f"{what}; use small letters, digits and _")
        login, at, host = parts.netloc.rpartition("@")
        user = login.partition(":")[0]
        database = unquote(parts.path.lstrip("/")) or named.get("dbname", "") or unquote(user)
        return cls(
            _joined(f"postgresql://{parts.netloc}{parts.path}", given, {*named} - {"schema"}),
            _joined(f"postgresql://{user}{'@' if at and user else ''}{host}{parts.path}", given, _SHOWN),
            schema,
            database,
        )

    @property
    def name(self) -> str:
        """What the base is called: its database, and its schema if that is another than usual."""
        return self.database if self.schema == "demur" else f"{self.database}.{self.schema}"

    def __str__(self) -> str:
        return self.shown


def _joined(url: str, query: list[list[str]], names: set[str]) -> str:
    kept = "&".join("=".join(each) for each in query if each[0] in names)
    return f"{url}?{kept}" if kept else url
