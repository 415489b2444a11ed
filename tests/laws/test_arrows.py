"""Arrows go one way: a room imports from rooms below it, or from itself."""

from __future__ import annotations

import ast
from pathlib import Path

import demur

SOURCE = Path(demur.__file__).parent
FLOORS = [
    {"__init__"},  # the public names are lazy: anything may stand behind them
    {
        "errors",
        "types",
        "text",
        "tokens",
        "specs",
        "files",
        "locks",
        "paths",
        "parts",
        "sentences",
        "registry",
        "renamed",
        "editions",
        "store",
        "toml",
        "cache",
        "processor",
        "precision",
        "emulated",
        "logistic",
        "runtime",
    },
    {"data"},
    {"embedders", "nets"},
    {"rankers"},
    {"scoring"},
    {"reading", "risk"},
    {"evaluation", "kb"},
    {"asking"},
    {"doubt"},
    {"training", "export"},
    {"experiments"},
    {"advice"},
    {"serving", "scale"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; say demur.…"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("demur.")}
    return found


def test_every_room_has_its_floor() -> None:
    assert {room(path) for path in modules()} == set(FLOOR), "add a new room to FLOORS above"


def test_arrows_go_one_way() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)} imports demur.{name}"
        for path in modules()
        if room(path) != "__init__"
        for name in imported(path) & set(FLOOR)
        if name != room(path)
        and FLOOR[name] >= FLOOR[room(path)]
        and not FLOOR[name] == FLOOR[room(path)] == 1
    ]
    assert not wrong, "\n".join(wrong)


def test_folders_show_at_most_a_dozen_things() -> None:
    folders = {path.parent for path in modules()} - {SOURCE}  # that one shows the rooms
    shown = {
        folder.relative_to(SOURCE): [
            path.name for path in folder.iterdir() if path.name not in ("__init__.py", "__pycache__")
        ]
        for folder in folders
    }
    full = {str(folder): sorted(names) for folder, names in shown.items() if len(names) > 12}
    assert not full, f"make a folder, or merge what is only ever read together: {full}"


def test_files_stay_short() -> None:
    lengths = sorted(len(path.read_text("utf-8").splitlines()) for path in modules())
    assert lengths[len(lengths) // 2] < 120
    assert lengths[-1] <= 300
