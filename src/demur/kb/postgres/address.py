"""Where a base in PostgreSQL is: an address of PostgreSQL's own form, and a schema."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from demur.errors import UsageError

_SCHEMES = "postgresql", "postgres"
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FORM = "postgresql://USER@HOST:PORT/DATABASE"
_SHOWN = {"host", "port", "dbname", "user"}  # what else an address says may be secret


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
            given = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise UsageError(f"this is no PostgreSQL address; write it as {_FORM}") from None
        if "@" in parts.path or parts.fragment or (not parts.netloc.count("@") and "@" in parts.query):
            what = "this PostgreSQL address cannot be read"
            raise UsageError(f"{what}; write /, ?, # and @ of a password as %2F, %3F, %23 and %40")
        rest = [(name, value) for name, value in given if name != "schema"]
        schema = next((value for name, value in given if name == "schema"), "demur")
        if not _SCHEMA.fullmatch(schema):
            what = f"schema={schema!r} is no name of a schema"
            raise UsageError(f"{what}; use small letters, digits and _")
        login, at, host = parts.netloc.rpartition("@")
        user = login.partition(":")[0]
        named = dict(given)
        database = unquote(parts.path.lstrip("/")) or named.get("dbname", "") or unquote(user)
        seen = [(name, value) for name, value in given if name in _SHOWN or name == "schema"]
        return cls(
            _joined(f"postgresql://{parts.netloc}{parts.path}", rest),
            _joined(f"postgresql://{user}{'@' if at and user else ''}{host}{parts.path}", seen),
            schema,
            database,
        )

    @property
    def name(self) -> str:
        """What the base is called: its database, and its schema if that is another than usual."""
        return self.database if self.schema == "demur" else f"{self.database}.{self.schema}"

    def __str__(self) -> str:
        return self.shown


def _joined(url: str, query: list[tuple[str, str]]) -> str:
    return f"{url}?{urlencode(query, safe='/:,')}" if query else url
