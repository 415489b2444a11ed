"""One process at a time: a row that its holder changes every few seconds, until it is done or killed.

Whoever waits takes it when it has stayed the same for long enough by a clock of its own.
"""

from __future__ import annotations

import logging
import random
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread
from typing import Any, TypeVar

from demur.errors import DemurError, LostBase, UsageError
from demur.kb.lance.lake import Lake, rows
from demur.kb.lance.lines import NoTable, busy, told

LEASES = "leases"
BEAT, PATIENCE = 4.0, 20.0
"""Seconds between two signs of life, and without one after which a holder counts as dead."""
_PAUSE = 0.3
_TRIES = 20
_OFTEN, _KEPT = 50, timedelta(minutes=10)  # changes after which those older than this are deleted
_NAMES = "write", "embed"
_log = logging.getLogger(__name__)
T = TypeVar("T")


@contextmanager
def held(lake: Lake, name: str, wait: float) -> Iterator[Callable[[], None]]:
    """A block that one process at a time is in.

    What it is given ends its signs of life: whoever drops the tables calls it first, or a sign that is
    written meanwhile leaves a table of leases that nobody can read.
    """
    me = secrets.token_hex(8)
    _take(lake, name, me, wait)
    over = Event()
    beating = Thread(target=_beat, args=(lake, name, me, over), daemon=True)
    beating.start()

    def be_still() -> None:
        over.set()
        beating.join()

    try:
        yield be_still
    finally:
        be_still()
        with suppress(DemurError, NoTable):  # it ends by itself
            _changed(lake, f"name = '{name}' AND owner = '{me}'", "")


def check(lake: Lake) -> None:
    """Raise an error if nothing may be written."""
    _changed(lake, "name = ''", "")


def _take(lake: Lake, name: str, me: str, wait: float) -> None:
    """Become the holder, or raise an error when that has taken too long."""
    until, seen, since, warned = time.monotonic() + wait, ("", -1), time.monotonic(), False
    while True:
        owner, beat = _holder(lake, name)
        if (owner, beat) != seen:
            seen, since = (owner, beat), time.monotonic()
        if not owner or time.monotonic() - since > PATIENCE:
            same = f"name = '{name}' AND owner = '{owner}' AND beat = {beat}"
            if _changed(lake, same, me):
                return
            continue
        if time.monotonic() >= until:
            raise busy(lake.address)
        if not warned:
            _log.warning("%s: another process writes to it; waiting up to %g s", lake.address, wait)
            warned = True
        time.sleep(_PAUSE)


def prepare(lake: Lake) -> Any:
    """The table of leases, which is made if it is not there."""
    return lake.make(LEASES, [{"name": each, "owner": "", "beat": 0} for each in _NAMES])


def _holder(lake: Lake, name: str) -> tuple[str, int]:
    """Who holds it, and that holder's last sign of life; a table that is just being made is waited for."""
    return _tried((LostBase, UsageError), lambda: _held(lake, name))


def _held(lake: Lake, name: str) -> tuple[str, int]:
    try:
        table = lake.table(LEASES)
    except NoTable:
        table = prepare(lake)
    with told(lake.address):
        (row,) = rows(table, ["owner", "beat"], f"name = '{name}'")
    return row["owner"], row["beat"]


def _changed(lake: Lake, where: str, owner: str) -> bool:
    """Whether a row was as `where` says, and has this owner now; who comes between is waited for."""
    return _tried((UsageError,), lambda: _change(lake, where, owner))


def _tried(failures: tuple[type[DemurError], ...], act: Callable[[], T]) -> T:
    """What an action gives that may fail at first: others make or change its table at the same moment."""
    for _ in range(_TRIES):
        with suppress(*failures):
            return act()
        time.sleep(random.uniform(0, _PAUSE))
    return act()


def _change(lake: Lake, where: str, owner: str) -> bool:
    with told(lake.address):
        table: Any = lake.table(LEASES)
        done = table.update(where=where, values_sql={"owner": f"'{owner}'", "beat": "beat + 1"})
        if done.version % _OFTEN == 0:
            table.optimize(cleanup_older_than=_KEPT)
        return bool(done.rows_updated)


def _beat(lake: Lake, name: str, me: str, over: Event) -> None:
    """Give signs of life until it is over or another has taken the lease."""
    while not over.wait(BEAT):
        with suppress(DemurError, NoTable):
            if not _changed(lake, f"name = '{name}' AND owner = '{me}'", me):
                return
