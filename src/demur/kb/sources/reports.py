"""What became of a file of a knowledge base."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FileReport:
    """What became of one file: added, changed, unchanged, removed or skipped, and why."""

    source: str
    status: str
    passages: int = 0
    reason: str = ""
    named: bool = True
    """Whether somebody named this file, and not only a folder above it."""

    @property
    def told(self) -> str:
        """The source and the reason, with its name once."""
        place, colon, _ = self.reason.partition(": ")
        return self.reason if colon and self.source in place else f"{self.source}: {self.reason}"
