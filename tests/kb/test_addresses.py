"""An address of PostgreSQL names a base; what is shown of it has no password."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from demur.errors import MissingExtra, UsageError
from demur.kb.folder import KnowledgeBase
from demur.kb.postgres.address import Address, is_address

SECRET = "s3cr%2Fet"
SHOWN = {
    f"postgresql://ada:{SECRET}@db.example:5433/books": ("postgresql://ada@db.example:5433/books", "books"),
    f"postgres://ada:{SECRET}@db/books?schema=faq": ("postgresql://ada@db/books?schema=faq", "books.faq"),
    f"postgresql:///books?user=ada&password={SECRET}": ("postgresql:///books?user=ada", "books"),
    f"postgresql://ada:{SECRET}@/?host=/run/pg&sslpassword={SECRET}": (
        "postgresql://ada@/?host=/run/pg",
        "ada",
    ),
    f"postgresql://ada:{SECRET}@a:1,b:2/books?target_session_attrs=any": (
        "postgresql://ada@a:1,b:2/books",
        "books",
    ),
}


@pytest.mark.parametrize("text", ["gs://books/faq", "az://books", "https://example.org/faq.kb"])
def test_an_address_of_another_kind_is_no_folder(text: str) -> None:
    with pytest.raises(UsageError, match="is not a place for a base; use a folder, postgresql:// or s3://"):
        KnowledgeBase(text)


@pytest.mark.parametrize("text", SHOWN)
def test_what_is_shown_of_an_address_has_no_password(text: str) -> None:
    address = Address.of(text)
    assert (str(address), address.name) == SHOWN[text]
    assert "s3cr" not in f"{address!r} {address}" and SECRET in address.url
    assert "schema=" not in address.url, "libpq knows no such parameter"


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ada:s3c/ret@db/books",
        "postgresql://ada:s3c?ret@db/books",
        "postgresql://ada:s3c#ret@db/books",
        "postgresql://ada:s3c@db/books?schema=no-name",
        "postgresql:/ada:s3c@db/books",
        "postgresql://ada:s3c@[db/books",
    ],
)
def test_an_address_that_cannot_be_read_is_one_line_without_its_password(text: str) -> None:
    with pytest.raises(UsageError) as error:
        KnowledgeBase(text)
    assert "s3c" not in str(error.value) and "\n" not in str(error.value)


def test_a_path_is_no_address(tmp_path: Path) -> None:
    assert not is_address(str(tmp_path)) and not is_address("postgres.kb") and is_address("postgres://db")
    with pytest.raises(UsageError, match=r"begins with postgresql://.*pass it as a string"):
        KnowledgeBase(Path("postgresql://db/books"))


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"needs psycopg.*pip install 'demur\[postgres\]'"):
        KnowledgeBase("postgresql://db/books")
