"""What `make site` builds: pages are in the navigation, links hold, nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import site

from laws.test_links import dead, text

SETTINGS = (site.ROOT / "mkdocs.yml").read_text("utf-8")
NAVIGATION = SETTINGS.partition("\nnav:\n")[2]


def test_every_page_is_in_the_navigation() -> None:
    docs = site.ROOT / "docs"
    pages = {
        path.relative_to(site.ROOT).as_posix() for path in (*docs.glob("*.md"), *docs.glob("tutorials/*"))
    }
    assert pages - {"docs/index.md"} <= set(re.findall(r"\S+\.md", NAVIGATION))
    tabs = re.findall(r"^  - (\S+):$", NAVIGATION, re.M)
    assert tabs[:5] == ["Tutorials", "How-tos", "Reference", "Explanation", "Results"]


def test_the_front_page_is_the_first_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "PAGES", tmp_path)
    site.main()
    front = tmp_path / "index.md"
    said = text(front)
    assert dead(front, said) == [] and said.count("](docs/tutorials/") == 3
    assert not (tmp_path / "docs" / "index.md").exists()
    assert "::: demur.ask" in (tmp_path / "docs" / "reference.md").read_text("utf-8")


def test_search_from_a_disk_fetches_nothing() -> None:
    [script] = re.findall(r"polyfills: \[(\S+)\]", SETTINGS)
    assert "iframe-worker" in script, "the plugin offline would add one of its own, from elsewhere"
    assert (site.ROOT / script).is_file() and "\n  - offline" in SETTINGS
