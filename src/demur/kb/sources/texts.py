"""Texts with a name of their own, that stand in a knowledge base without a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import astuple

from demur.errors import UsageError
from demur.kb.passages import Passage
from demur.kb.sources.reports import FileReport
from demur.kb.store.changing import Source, change
from demur.kb.store.truth import Truth


class _AsItWas(Exception):
    """The same passages are there: nothing is changed."""


def put_text(truth: Truth, name: str, passages: Iterable[Passage], kind: str) -> FileReport:
    """What became of passages with a name, in place of any that had it before."""
    digest = hashlib.sha256(kind.encode())

    def read() -> Iterator[Passage]:
        for each in passages:
            digest.update(repr(astuple(each)).encode("utf-8", "backslashreplace"))
            yield each

    with truth.turn():
        rows = truth.rows("SELECT id, path, sha256 FROM sources WHERE name = ? AND died IS NULL", (name,))
        id, path, before = rows[0] if rows else (0, None, "")
        if path:
            raise UsageError(f"{name} is a file of this knowledge base; give the text another name")
        try:
            with change(truth, f"put {name}") as made:
                count = made.put(Source(name, kind, id=id), read())
                if digest.hexdigest() == before:
                    raise _AsItWas
                sign = "UPDATE sources SET sha256 = ? WHERE name = ? AND died IS NULL"
                made.said.execute(sign, (digest.hexdigest(), name))
        except _AsItWas:
            return FileReport(name, "unchanged", count)
    return FileReport(name, "changed" if id else "added", count)
