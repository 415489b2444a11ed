"""A million passages in a folder, in PostgreSQL, and on an object store: the same, asked the same."""

from __future__ import annotations

from bench import bases
from bench.common import Row


def run() -> list[Row]:
    """The rows of each place that can be had here."""
    return bases.run(10 * bases.PASSAGES)
