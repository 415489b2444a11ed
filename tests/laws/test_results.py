"""Results can be read anywhere, name no folder of the machine that they were made on, and have a maker."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from tools import makers

from demur.errors import MissingData
from demur.experiments.models.rankers import maker
from demur.experiments.recipe import read_recipe
from demur.experiments.results import earlier, provenance, stored
from demur.experiments.tables import runs
from demur.files import whole

RESULTS = Path(__file__).parents[2] / "results"


def test_no_result_names_a_folder() -> None:
    files = [path for ending in ("json", "jsonl", "jsonl.gz") for path in RESULTS.rglob(f"*.{ending}")]
    assert files
    folder = r"""[="' ]/(?!health\b|ready\b)\w"""  # these two are paths of demur serve
    named = [str(file) for file in files if re.search(folder, whole(file))]
    assert not named


def test_results_are_quick_to_clone() -> None:
    size = sum(path.stat().st_size for path in RESULTS.rglob("*") if path.is_file())
    assert size < 15_000_000, "make fold"


def test_no_result_is_added_whose_maker_head_cannot_name() -> None:
    known = provenance.history()
    if not known:
        pytest.skip("no whole clone is here")
    found = makers.unnamed(RESULTS, known | makers.squashed(RESULTS, known))
    assert not found, "make makers"


@pytest.mark.extras
def test_rankers_are_made_of_what_their_results_say() -> None:
    """Tables go on to show a result whose ranker means something else today."""
    made: dict[str, str] = {}
    other = []
    for recipe in sorted((RESULTS.parent / "experiments").glob("*/*.toml")):
        for run in runs(read_recipe(recipe)):
            spec = run.row.ranker
            if not spec or "{" in spec or "mpnet" in spec or not stored.there(RESULTS, run.file):
                continue  # mpnet is not everywhere
            found = stored.read_result(RESULTS, run.file) or {}
            if earlier.is_earlier(found) or "made of" not in found:
                continue
            known_by = f"{spec} {run.seed}"
            try:
                made[known_by] = made.get(known_by) or maker(run)["made of"]
            except MissingData:  # vectors that lie with the real datasets
                continue
            if made[known_by] != found["made of"] and earlier.origin(run, found, RESULTS) != earlier.STALE:
                other.append(run.file)
    assert made and not other, "run `demur reproduce` for these rows, or raise the edition of what changed"


def test_commits_that_came_as_one_are_named_by_it(tmp_path: Path) -> None:
    (tmp_path / "squashed.json").write_text('{"aaa": ["bbb", "ccc"], "ddd": ["eee"]}', "utf-8")
    assert makers.squashed(tmp_path, {"aaa"}) == {"bbb", "ccc"}
    assert makers.squashed(tmp_path / "nothing", {"aaa"}) == set()


def test_makers_are_looked_up(tmp_path: Path) -> None:
    for seed, commit in enumerate(("aaa", "bbb", "aaa+", "+", "")):
        kept = {"row": "r", "column": "c", "seed": seed, "commit": commit}
        stored.write_result(tmp_path, f"toy/table1/r/c-seed{seed}.json", kept)
    stored.write_result(tmp_path, "toy/table1/r/c-seed5.json", {"row": "r", "column": "c", "seed": 5})
    stored.fold(tmp_path, "toy/table1")
    found = makers.unnamed(tmp_path, {"aaa"})
    assert [(file[-6], why.split()[-1]) for file, why in found.items()] == [
        *(("1", "history"), ("2", "committed"), ("3", "commit"), ("4", "commit"), ("5", "commit"))
    ]


def test_the_page_of_results_says_how_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", (RESULTS / "README.md").read_text("utf-8"), re.M | re.S)
    monkeypatch.chdir(tmp_path)
    kept = {"row": "r", "column": "c", "seed": 0, "answers": {"ids": [str(n) for n in range(80)]}}
    stored.write_result(tmp_path / "results", "committee/table1/r/c-seed0.json", kept)
    stored.fold(tmp_path / "results", "committee/table1")
    namespace: dict[str, Any] = {}
    exec(compile(code, "results/README.md", "exec"), namespace)
    assert namespace["runs"] == [kept]
