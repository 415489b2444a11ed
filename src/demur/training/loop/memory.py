"""Memory that training no longer uses goes back to the system.

The allocator of Linux keeps what was freed, and where every step has another shape, much of it fits no later
one: what is resident grows for hundreds of steps, by half and more, though what is used does not.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any


def give_back() -> None:
    """Give the system what was freed, where the allocator can."""
    if trim := _trim():
        trim(0)


@cache
def _trim() -> Callable[[int], Any] | None:
    with suppress(AttributeError, OSError, TypeError):  # only glibc has it
        return ctypes.CDLL(None).malloc_trim
    return None
