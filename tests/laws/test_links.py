"""No link between our pages is dead; `make site` checks the same on what mkdocs makes of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    ROOT / "examples" / "README.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "templates" not in path.parts),
]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")


def text(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """What the headings of a page are called in links."""
    titles = re.findall(r"^#+ (.+)$", text(page), re.M)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.strip().replace(" ", "-") for title in plain}


def dead(page: Path, said: str) -> list[str]:
    """The links of a text on a page that lead nowhere."""
    found = []
    for path, anchor in LINK.findall(said):
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(f"{path}{'#' * bool(anchor)}{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert dead(page, text(page)) == []


def test_a_dead_link_is_noticed() -> None:
    said = "[a](docs/risk.md#sources) [b](docs/nowhere.md) [c](docs/risk.md#nothing) [d](https://x.org/no)"
    assert dead(ROOT / "README.md", said) == ["docs/nowhere.md", "docs/risk.md#nothing"]
