"""The picture of the rooms under src/demur: who may import whom, from the law that holds it."""

from __future__ import annotations

import ast
import runpy
import textwrap
from pathlib import Path
from typing import Any

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
