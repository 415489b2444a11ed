"""Figures in documents are those of results/."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.figures import filled

from demur.errors import DataError

PLACE = "scarce table1 | BM25 | wikiqa answerable | MAP"


def test_a_figure_is_filled_in_and_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# BM25\n\nIt has <!-- figure {PLACE} --><!-- / --> there.\n", "utf-8")
    once = filled(page)
    said = once.partition("-->")[2].partition("<!--")[0]
    mean, _, interval = said.partition(" ")
    low, high = interval.strip("()").split("–")
    assert 0.5 < float(low) < float(mean) < float(high) < 0.8
    page.write_text(once.replace(said, "0.999"), "utf-8")
    assert filled(page) == once
    assert once.startswith("# BM25") and once.endswith(" there.\n")


def test_a_figure_is_marked_where_that_is_asked_for(tmp_path: Path) -> None:
    place = "committee table2 | mixed | wikiqa | MAP"
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figure {place} --><!-- / --> <!-- figure {place} | marked --><!-- / -->", "utf-8")
    plain, marked = filled(page).replace(" | marked", "").split("<!-- / -->")[:2]
    assert marked == f" {plain} ▼"
    page.write_text(f"<!-- figure {place} | marked bare -->x<!-- / -->", "utf-8")
    assert filled(page) == f"<!-- figure {place} | marked bare -->{plain.partition('-->')[2][:5]} ▼<!-- / -->"
    page.write_text(f"<!-- figure {place} | gain marked -->x<!-- / -->", "utf-8")
    _, _, said = filled(page).partition("-->")
    assert -0.2 < float(said[:6]) < 0 and said.startswith("-0.") and said.endswith(" ▼<!-- / -->")


def test_a_figure_may_be_the_papers(tmp_path: Path) -> None:
    place = "risk table4 | BERT, PROBE-CNN | SQuAD 2.0"
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figure {place} | gain E-AURC | paper -->x<!-- / -->", "utf-8")
    assert filled(page) == f"<!-- figure {place} | gain E-AURC | paper -->0.189<!-- / -->"
    page.write_text(f"<!-- figure {place} | EM | paper -->x<!-- / -->", "utf-8")
    with pytest.raises(DataError, match="the paper has no figure"):
        filled(page)


@pytest.mark.parametrize("wrong", ["BM26", "Deep Matching Net"])
def test_what_was_never_run_has_no_figure(wrong: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"<!-- figure {PLACE.replace('BM25', wrong)} -->0.9<!-- / -->", "utf-8")
    with pytest.raises(DataError, match="there is no figure"):
        filled(page)
