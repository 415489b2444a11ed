"""The pages of results: an index, a page a paper, and sections that begin with what to see."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from demur.experiments import tables
from demur.experiments.pages import markdown
from demur.experiments.recipe import Table

ROOT = Path(__file__).parents[3]
PICTURES = ROOT / "results" / "pictures"


def test_a_section_begins_with_what_to_see_then_pictures_then_the_table(experiments: Path) -> None:
    [table] = tables.find_tables(experiments)
    results = experiments.parent / "results"
    tables.fill(table, results, ["bm25"], lambda runs: None)
    shown = dataclasses.replace(table, pictures={"curve.svg": "A curve"})
    section = markdown.section(shown, results, see="BM25 is best.")
    parts = ["## table1\n", "**A table**", "BM25 is best.", "![A curve](../../results/pictures/curve.svg)"]
    parts += ["| bm25 |", "differs from the paper.** Everything.", "demur reproduce toy table1"]
    places = [section.index(part) for part in parts]
    assert places == sorted(places)


def test_what_is_seen_is_no_part_of_a_key(experiments: Path) -> None:
    file = experiments / "toy" / "table1.toml"
    [before] = tables.find_tables(experiments)
    file.write_text('see = "What to see."\npictures = { "a.svg" = "A" }\n' + file.read_text("utf-8"), "utf-8")
    [after] = tables.find_tables(experiments)
    assert after.see and after.pictures
    keys = [[run.key("data") for run in tables.runs(table)] for table in (before, after)]
    assert keys[0] == keys[1] and keys[0]


def test_a_column_of_which_nothing_was_run_is_named_so(experiments: Path) -> None:
    [table] = tables.find_tables(experiments)
    section = markdown.section(table, experiments.parent / "results")
    assert "| | animals (not run) |" in section and "0 pools" not in section


def test_rows_that_were_not_run_are_named_in_tables_of_every_kind() -> None:
    of_kind: dict[str, Table] = {}
    for table in tables.find_tables(ROOT / "experiments"):
        of_kind.setdefault(table.kind, table)
    for kind, table in of_kind.items():
        section = markdown.section(table, ROOT / "no results")
        assert "Not run yet: " in section or kind == "labels", kind


def test_the_setup_says_which_of_the_rows_it_names_were_not_run(experiments: Path) -> None:
    [table] = tables.find_tables(experiments)
    results = experiments.parent / "results"
    tables.fill(table, results, ["bm25"], lambda runs: None)
    named = dataclasses.replace(
        table, differs="As in `bm25` and `random`, by `fixed`; `not yet` is the paper's."
    )
    assert "As in `bm25` and `random` (not run), by `fixed`; `not yet` is" in markdown.section(named, results)


def test_the_index_links_to_every_table() -> None:
    known = tables.find_tables(ROOT / "experiments")
    index = markdown.index(known)
    for table in known:
        page = ROOT / "docs" / "results" / f"{table.paper}.md"
        assert f"(results/{table.paper}.md#{table.table})" in index
        assert f"\n## {table.table}\n" in page.read_text("utf-8")
        assert table.see, f"{table.paper} {table.table} does not say what to see in it"


def test_every_picture_is_shown_and_every_shown_picture_is_there() -> None:
    shown = [name for table in tables.find_tables(ROOT / "experiments") for name in table.pictures]
    assert sorted(shown) == sorted(path.name for path in PICTURES.glob("*.svg"))
