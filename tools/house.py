"""Where things are: the picture of the rooms under src/demur, from the law that holds it, and the verbs."""

from __future__ import annotations

import ast
import inspect
import runpy
import textwrap
from pathlib import Path
from typing import Any

from typer import Typer

from demur.cli.main import app

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "demur"
WIDE = 100


def picture() -> str:
    """The rooms from the top floor to the ground, each with what it is and the rooms that it imports."""
    law = runpy.run_path(str(ROOT / "tests" / "laws" / "test_arrows.py"))
    floors = [rooms for rooms in law["FLOORS"] if not any(room.startswith("__") for room in rooms)]
    parts = [
        "\n".join(line for room in sorted(rooms) for line in _room(room, law)) for rooms in floors[:0:-1]
    ]
    ground = textwrap.wrap(", ".join(sorted(floors[0])), WIDE)
    return "\n   ↓\n".join([*parts, "\n".join(ground)])


def _room(room: str, law: dict[str, Any]) -> list[str]:
    """What a room is, and what it imports but for the ground floor."""
    folder = SOURCE / room
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{room}.py"]
    own = folder / "__init__.py" if folder.is_dir() else files[0]
    said = (ast.get_docstring(ast.parse(own.read_text("utf-8"))) or "").partition("\n")[0]
    used = {name for file in files for name in law["imported"](file)} & set(law["FLOOR"]) - {room}
    shown = ", ".join(sorted(name for name in used if law["FLOOR"][name] > 1)) or "the ground floor alone"
    head = textwrap.wrap(f"{room:<12}{said}", WIDE, subsequent_indent=" " * 12)
    tail = textwrap.wrap(f"imports {shown}", WIDE - 12, subsequent_indent=" " * 8)
    return [*head, *(" " * 12 + line for line in tail)]


def verbs(of: Typer = app, above: str = "") -> dict[str, Path]:
    """The file of each verb, such as ``ask`` or ``kb add``, as the command line has them."""
    found: dict[str, Path] = {}
    for command in of.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__.replace("_", "-")
        found[above + name] = Path(inspect.getfile(command.callback)).relative_to(ROOT)
    for group in of.registered_groups:
        assert group.typer_instance is not None
        below = verbs(group.typer_instance, f"{group.name} ")
        found |= {str(group.name): next(iter(below.values())), **below}
    return found


def table_of_verbs() -> str:
    """A row for each verb, in a table of Markdown; those of one group have a row together."""
    rows = [f"| `demur {verb}` | `{path}` |" for verb, path in verbs().items() if " " not in verb]
    return "\n".join(["| verb | file |", "|---|---|", *rows])
