"""Questions to be labelled: those that people asked, and those that somebody brought."""

from __future__ import annotations

import time
from collections.abc import Iterable

from demur.errors import UsageError
from demur.kb.store.truth import Statements, Truth

MOST = 10_000
"""Questions that are kept."""


def add(truth: Truth, questions: Iterable[str], logged: bool = False) -> int:
    """How many of these questions are new and are kept now; all are, or there is an error.

    Where there is no room, those that are labelled go first, and then those that were `logged`, the oldest
    first; so one that is logged may go at once. `made` is above zero for a logged question and below it for
    one that somebody brought, so that the table stays as older versions have it.
    """
    made = time.time() if logged else -time.time()
    rows = [(" ".join(each.split()),) for each in questions if each.strip()]
    with truth.noting() as connection:
        if not logged:
            connection.executemany("UPDATE asked SET made = -made WHERE made > 0 AND question = ?", rows)
        new = [(each, made) for (each,) in rows]
        connection.executemany("INSERT INTO asked VALUES (?, ?) ON CONFLICT DO NOTHING", new)
        kept = _count(connection, "made = ?", made)
        if _count(connection) > MOST:
            connection.execute(
                "DELETE FROM asked WHERE made <> ? AND question IN (SELECT question FROM labels)", (made,)
            )
        if (over := _count(connection) - MOST) > 0:
            oldest = "SELECT question FROM asked WHERE made > 0 ORDER BY made LIMIT ?"
            connection.execute(f"DELETE FROM asked WHERE question IN ({oldest})", (over,))
        if (over := _count(connection) - MOST) > 0:
            what = f"{kept:,} new questions to label are {over:,} too many, as {MOST:,} are kept at most"
            raise UsageError(f"{what}, and none was kept; send fewer, or label some of those that wait first")
        return _count(connection, "made = ?", made) if logged else kept


def _count(connection: Statements, where: str = "made <> ?", value: float = 0.0) -> int:
    found: int = connection.execute(f"SELECT count(*) FROM asked WHERE {where}", (value,)).fetchone()[0]
    return found


def every(truth: Truth) -> list[str]:
    """All of them, the oldest first."""
    rows = truth.noted("SELECT question FROM asked ORDER BY abs(made), question")
    return [question for (question,) in rows]
