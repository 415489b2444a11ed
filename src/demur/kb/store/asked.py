"""Questions to be labelled: those that people asked, and those that somebody brought."""

from __future__ import annotations

import time
from collections.abc import Iterable

from demur.kb.store.truth import Truth

MOST = 10_000
"""Questions that are kept; beyond, the oldest go."""


def add(truth: Truth, questions: Iterable[str]) -> int:
    """How many of these questions are new; all are kept."""
    rows = [(" ".join(each.split()), time.time()) for each in questions if each.strip()]
    with truth.noting() as connection:
        before = connection.execute("SELECT count(*) FROM asked").fetchone()[0]
        connection.executemany("INSERT INTO asked VALUES (?, ?) ON CONFLICT DO NOTHING", rows)
        after = connection.execute("SELECT count(*) FROM asked").fetchone()[0]
        if after > MOST:
            connection.execute(
                "DELETE FROM asked WHERE question IN (SELECT question FROM asked ORDER BY made LIMIT ?)",
                (after - MOST,),
            )
    return int(after - before)


def every(truth: Truth) -> list[str]:
    """All of them, the oldest first."""
    return [question for (question,) in truth.noted("SELECT question FROM asked ORDER BY made, question")]
