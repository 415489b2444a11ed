"""Lays out the pages for `make site`: copies, in the places they have here, so that their links hold."""

from __future__ import annotations

import importlib
import re
import shutil
from pathlib import Path

import demur

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "pages"
COPIED = [
    *("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "docs", "examples", "deploy"),
    *("tools/engines.py", "results/README.md", "results/pictures", "results/robust"),
]
ROOMS = (
    "asking",
    "data",
    "evaluation",
    "risk",
    "rankers",
    "reading",
    "training",
    "scoring",
    "advice",
    "errors",
)
LESS = "---\nsearch: { boost: 0.3 }\n---\n\n"
"""What stands above the reasons for decisions: a search should show other pages first."""
_LINK = re.compile(r"\]\((?!https?:)")
_FOLDER = re.compile(r"(\]\((?!https?:)[^)\s#]+/)\)")


def main() -> None:
    """Write the pages anew."""
    shutil.rmtree(PAGES, ignore_errors=True)
    for name in COPIED:
        copy(ROOT / name, PAGES / name)
    shutil.rmtree(PAGES / "docs" / "templates")
    for folder in ("docs/decisions", "docs/schemas"):
        (PAGES / folder / "README.md").write_text(listed(PAGES / folder), "utf-8")
    (PAGES / "docs" / "reference.md").write_text(reference(), "utf-8")
    front = (PAGES / "docs" / "index.md").replace(PAGES / "index.md")
    front.write_text(_LINK.sub("](docs/", front.read_text("utf-8")), "utf-8")
    for page in (PAGES / "docs" / "decisions").glob("0*.md"):
        page.write_text(LESS + page.read_text("utf-8"), "utf-8")
    for page in PAGES.rglob("*.md"):
        page.write_text(_FOLDER.sub(r"\1README.md)", page.read_text("utf-8")), "utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copyfile(source, target)


def listed(folder: Path) -> str:
    """A page that lists the others of a folder, by their titles."""
    rows = [f"# {folder.name.capitalize()}", ""]
    for path in sorted(folder.iterdir()):
        title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        rows.append(f"- [{title if path.suffix == '.md' else path.name}]({path.name})")
    return "\n".join(rows) + "\n"


def reference() -> str:
    """The public names of demur and of its rooms, for mkdocstrings to fill in."""
    homes = {"kb": "kb.folder.KnowledgeBase"}  # demur.kb is a module that is called like this class
    parts = ["# Python, from the docstrings"]
    parts += [f"::: demur.{homes.get(name, name)}" for name in demur.__all__]
    for room in ROOMS:
        module = importlib.import_module(f"demur.{room}")
        names = getattr(module, "__all__", [])
        parts += [
            f"## demur.{room}",
            *(f"::: demur.{room}.{name}" for name in names if not hasattr(demur, name)),
        ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    main()
