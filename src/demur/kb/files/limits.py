"""What reading one file of a stranger may cost, and where to allow more."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from demur.errors import UsageError


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits within which one PDF, DOCX or HTML file is read.

    Each is raised by an environment variable: ``DEMUR_READ_SECONDS=600`` and so on.
    """

    seconds: int = 120
    """From asking for the file until all of its passages are here."""
    memory: int = 2048
    """Megabytes that the reading process may have, libraries and all."""
    pages: int = 5000
    """Pages of a PDF."""
    unpacked: int = 500
    """Megabytes of a file, or of all that is packed into it, once unpacked."""

    @classmethod
    def of_environment(cls) -> Limits:
        """The limits, those among them raised or lowered that an environment variable names."""
        said = {each.name: os.environ.get(variable(each.name), "") for each in fields(cls)}
        for name, value in said.items():
            if value and not (value.isascii() and value.isdigit() and int(value)):
                raise UsageError(
                    f"{variable(name)}={value!r} is not a whole number above 0; set it to one, or unset it"
                )
        return cls(**{name: int(value) for name, value in said.items() if value})


def variable(name: str) -> str:
    """The environment variable that raises a limit."""
    return f"DEMUR_READ_{name.upper()}"


def more(name: str) -> str:
    """What to do about a limit that a file goes beyond."""
    return f"to allow more, set {variable(name)}"
