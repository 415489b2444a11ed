"""Where results come from: commits, editions, results of earlier editions, and cells that are run again."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from demur import editions
from demur.errors import UsageError
from demur.experiments import tables
from demur.experiments.pages import markdown
from demur.experiments.recipe import Table
from demur.experiments.results import provenance
from demur.experiments.runs import stored_result
from experiments.results.changing import changed, made_earlier, origins


def test_what_could_not_name_its_maker_is_refused(experiments: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [table] = tables.find_tables(experiments)
    results = experiments.parent / "results"
    for commit, said in (("abc+", "uncommitted changes"), ("+", "outside a clone")):
        monkeypatch.setattr(provenance, "commit", lambda commit=commit: commit)
        with pytest.raises(UsageError, match=f"{said}.*, so .* could not name .* --dirty, which marks") as e:
            tables.fill(table, results, (), lambda runs: None, dirty=False)
        assert "\n" not in str(e.value) and not list(results.rglob("*.json"))
    tables.fill(table, results, ["lexical"], lambda runs: None, dirty=True)
    assert origins(table, results) == {"bm25": "dirty", "random": "", "not yet": ""}
    section = markdown.section(table, results)
    assert "<sup>+</sup>" in section and "+ made by code that was not committed" in section
    tables.fill(table, results, ["lexical"], lambda runs: None, dirty=False)  # what is there is not run
    monkeypatch.setattr(provenance, "commit", lambda: "abc")
    tables.fill(table, results, ["floor"], lambda runs: None, dirty=False)
    assert origins(table, results)["random"] == ""


def test_the_commit_is_that_of_the_clone() -> None:
    found = provenance.commit()
    assert found.rstrip("+") == "" or len(found.rstrip("+")) == 12


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_change_of_code_or_recipes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, recipe = tmp_path / "src/demur/experiments/results/code.py", tmp_path / "experiments/table.toml"
    for file in (code, recipe):
        file.parent.mkdir(parents=True)
        file.touch()
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True)
    monkeypatch.setattr(provenance, "__file__", str(code))
    assert len(clean := provenance.commit()) == 12
    for file in (code, recipe):
        file.write_text("# changed")
        assert provenance.commit() == clean + "+"
        file.write_text("")
    assert provenance.commit() == clean


def test_the_processor_is_told() -> None:
    found = provenance.kind()
    assert found["name"] and isinstance(found["has"], list)


def test_a_raised_edition_makes_stale_and_is_made_anew(
    filled: tuple[Table, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, results = filled
    monkeypatch.setitem(editions.RAISED, "ranker bm25", 2)
    assert origins(table, results)["bm25"] == "stale"
    assert "§ out of date" in markdown.section(table, results)
    tables.fill(table, results, (), lambda runs: None)
    assert origins(table, results)["bm25"] == ""
    made = [
        found
        for run in tables.runs(table)
        if (found := stored_result(run, results)) and run.row.name == "bm25"
    ]
    assert [found["editions"]["ranker bm25"] for found in made] == [2] * len(made) and made


def test_a_row_whose_settings_have_changed_is_out_of_date(filled: tuple[Table, Path]) -> None:
    """Its result was made by the editions of today, but by another spec; a new name of the same is none."""
    table, results = filled
    changed(results, ranker="bm25(k1=3.0)")
    assert origins(table, results)["bm25"] == "stale"


def test_results_of_an_earlier_edition_are_marked_and_left_alone(filled: tuple[Table, Path]) -> None:
    table, results = filled
    file = made_earlier(results, commit="abc")
    before = file.read_bytes()
    assert origins(table, results)["bm25"] == "earlier"
    assert "‡ made by an earlier edition; no cell of its kind" in markdown.section(table, results)
    tables.fill(table, results, (), lambda runs: None)
    assert file.read_bytes() == before, "its key is nobody's to renew"


def test_an_earlier_result_of_a_part_that_was_raised_since_is_out_of_date(
    filled: tuple[Table, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names no editions: what confirmed it was run before the raise, too."""
    table, results = filled
    file = made_earlier(results, commit="abc")
    monkeypatch.setitem(editions.RAISED, "ranker bm25", 2)
    assert origins(table, results)["bm25"] == "stale"
    tables.fill(table, results, (), lambda runs: None)
    assert json.loads(file.read_text())["editions"]["ranker bm25"] == 2


@pytest.mark.parametrize(
    "said", [{"ranker": "bm25(k1=2)"}, {"data_sha256": "other"}, {"seed": 9}, {"commit": "abc+"}]
)
def test_an_earlier_result_of_something_else_or_of_uncommitted_code_is_made_anew(
    filled: tuple[Table, Path], said: dict[str, Any]
) -> None:
    table, results = filled
    file = made_earlier(results, **said)
    tables.fill(table, results, (), lambda runs: None)
    assert "editions" in json.loads(file.read_text())


def test_a_gpu_is_named_where_torch_takes_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for there, told in ((True, {"accelerator": "a GPU"}), (False, {})):
        cuda = SimpleNamespace(is_available=lambda there=there: there, get_device_name=lambda: "a GPU")
        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
        assert provenance.accelerator() == told
    monkeypatch.delitem(sys.modules, "torch")
    assert provenance.accelerator() == {}
