"""Rows that learn, and learning curves."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import demur
from demur.data import formats
from demur.editions import named_in
from demur.errors import DemurError
from demur.experiments import recipe, tables
from demur.experiments.figures import drawing
from demur.experiments.models import cached_models
from demur.experiments.pages import markdown
from demur.experiments.recipe import Column, Row, Stage, Table
from demur.experiments.results import verifying
from demur.experiments.runs import Run
from demur.types import Pool
from laws import toys

CURVES = """
kind = "curves"
paper = "toy"
table = "figure1"
title = "A figure"
measures = ["MAP"]
conventions = ["fixed"]
differs = "Everything."

[[column]]
name = "animals"
data = "{data}"
train = "{data}"
dev = "{data}"
settings = "margin=0.2, unheard=1"
sizes = [4, 8]

[[row]]
name = "net"
trainer = '{trainer}'
early = "small"
seeds = [0, 1, 2]

[[row.stage]]
data = "train"
dev = "dev"

[[row]]
name = "words"
ranker = "bm25"
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    folder = tmp_path_factory.mktemp("curves")
    pools = [
        Pool.of(f"ship w{n}?", ["the cape", f"may w{n}", "nothing", "abc"], [0, 1, 0, 0], id=f"p{n}")
        for n in range(12)
    ]
    formats.write_pools(folder / "animals.jsonl", pools)
    trainer = f'siamese(features="words(vectors={toys.vectors()})", loss=pairwise, epochs=2)'
    (folder / "figure1.toml").write_text(
        CURVES.format(data=folder / "animals.jsonl", trainer=trainer), "utf-8"
    )
    return recipe.read_recipe(folder / "figure1.toml")


@pytest.fixture(scope="module")
def results(table: Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    tables.fill(table, folder, (), lambda runs: None)
    return folder


def test_each_size_has_a_cell_with_its_spread(table: Table, results: Path) -> None:
    cells = {(cell.row, cell.column): cell for cell in tables.cells(table, results)}
    assert list(cells) == [(r, f"animals {n}") for r in ("net", "words") for n in (4, 8)]
    assert cells["net", "animals 8"].seeds == 3
    kept = [json.loads(path.read_text()) for path in sorted((results / "toy/figure1/net").iterdir())]
    values = [one["points"]["8"]["fixed"]["MAP"] for one in kept]
    assert cells["net", "animals 8"].mean == pytest.approx(sum(values) / 3)
    assert cells["words", "animals 4"].mean == cells["words", "animals 8"].mean


@pytest.mark.slow
def test_several_processes_give_the_same_figures(
    table: Table, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.fill(table, tmp_path, (), lambda runs: None, workers=2)
    assert list(tables.cells(table, tmp_path)) == list(tables.cells(table, results))
    done: list[int] = []
    monkeypatch.setattr(tables, "prepare", None)  # for what is there, nothing is made
    tables.fill(table, tmp_path, (), done.append, workers=2)
    assert sum(done) == len(list(tables.runs(table)))


def test_what_was_interrupted_goes_on(table: Table, results: Path, tmp_path: Path) -> None:
    done = 0

    def kill(runs: int) -> None:
        nonlocal done
        done += runs
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tables.fill(table, tmp_path, (), kill)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert len(before) == 2
    tables.fill(table, tmp_path, (), lambda runs: None)
    assert all(path.stat().st_mtime_ns == when for path, when in before.items()), (
        "what was done is not redone"
    )
    assert list(tables.cells(table, tmp_path)) == list(tables.cells(table, results))


def test_smaller_subsets_lie_within_larger_ones(table: Table) -> None:
    from demur.experiments.kinds.curves import part

    [step] = cached_models.steps_of(table.row[0], table.column[0], seed=5)
    small, large = (part(step, size, "small", 5) for size in (4, 8))
    ids = [{pool.id for pool in cached_models.pools_of(each.data)} for each in (small, large)]
    assert ids[0] < ids[1] and list(map(len, ids)) == [4, 8]
    assert len(cached_models.pools_of(small.dev)) == 4, "early stopping sees no more than is learnt from"
    assert part(step, 4, "full", 5).dev == step.dev


def test_a_column_sets_what_its_trainers_take(table: Table) -> None:
    [step] = cached_models.steps_of(table.row[0], table.column[0], seed=5)
    assert "margin=0.2" in step.by.spec and "seed=5" in step.by.spec


def test_a_figure_is_drawn(table: Table, results: Path, tmp_path: Path) -> None:
    drawing.draw(table, results, tmp_path / "f.svg")
    picture = (tmp_path / "f.svg").read_text()
    assert (
        "<svg" in picture
        and "labelled questions" in picture
        and f"<!-- {table.column[0].name} -->" in picture
    )
    assert [row.shown for row in table.row if f"<!-- {row.shown} -->" not in picture] == [], (
        "a line for each row"
    )
    with pytest.raises(DemurError, match="no results yet"):
        drawing.draw(table, tmp_path / "none", tmp_path / "g.svg")
    assert not (tmp_path / "g.svg").exists()


def test_the_page_has_a_grid_of_sizes(table: Table, results: Path) -> None:
    section = markdown.section(table, results)
    assert "| MAP, `fixed` | 4 | 8 |" in section and "±" in section


def test_stages_follow_each_other_and_are_kept(table: Table, tmp_path: Path) -> None:
    data = table.column[0].data
    row = Row(
        "two", trainer=table.row[0].trainer, stage=[Stage(data, settings="epochs=1", seed=9), Stage("train")]
    )
    steps = cached_models.steps_of(row, Column("c", data, train=data), seed=1)
    assert "seed=9" in steps[0].by.spec and "seed=1" in steps[1].by.spec
    stood = Path(f"{cached_models.model_folder(steps)}.part")
    stood.mkdir(parents=True)
    (stood / "old.safetensors").write_bytes(b"where a killed run stood")
    folder = cached_models.folder_of(steps)
    assert not stood.exists(), "what a finished model has no use for is not kept"
    stamp = (folder / "ranker.json").stat().st_mtime_ns
    assert cached_models.folder_of(steps) == folder and (folder / "ranker.json").stat().st_mtime_ns == stamp
    ranker = cached_models.ranker_of(steps)
    assert ranker is not None and ranker.fingerprint == demur.open(folder).fingerprint
    shutil.rmtree(cached_models.model_folder(steps[:1]))
    cached_models.folder_of(steps)
    assert not cached_models.model_folder(steps[:1]).exists(), (
        "an earlier stage is not needed once a later one is there"
    )
    shutil.rmtree(folder)
    again = cached_models.ranker_of(steps)
    assert again is not None and again.fingerprint == ranker.fingerprint, "both stages are run again"
    alone = cached_models.steps_of(
        Row("one", trainer=row.trainer, stage=[Stage("train")]), Column("c", data, train=data), 1
    )
    assert cached_models.key(alone) != cached_models.key(steps), "what comes before counts"


def test_the_parts_of_nested_specs_are_known(table: Table) -> None:
    nested = 'fusion(rankers="bm25; concat(folder=x)")', 'siamese(features="words(vectors=v.txt)")'
    found = {*named_in(*nested)}
    assert {"ranker fusion", "ranker bm25", "ranker concat", "ranker siamese", "embedder words"} <= found
    net, words = ({*Run(table, row, table.column[0], 0).editions} for row in table.row)
    assert {"trainer siamese", "ranker siamese", "net siamese", "embedder words", "measure MAP"} <= net
    assert not any(part.startswith("trainer") for part in words)


@pytest.mark.parametrize(
    "change, complaint",
    [
        (('early = "small"', 'early = "never"'), "use small or full"),
        (("sizes = [4, 8]", ""), "needs sizes"),
        (('ranker = "bm25"', 'ranker = "bm25"\nfit = "x"'), "unknown key row"),
        (('[[row.stage]]\ndata = "train"\ndev = "dev"', ""), r"at least one \[\[row.stage\]\]"),
    ],
)
def test_recipes_that_mean_nothing_are_one_line(
    change: tuple[str, str], complaint: str, tmp_path: Path
) -> None:
    text = CURVES.format(data="x.jsonl", trainer="siamese")
    assert change[0] in text
    (tmp_path / "bad.toml").write_text(text.replace(*change), "utf-8")
    with pytest.raises(DemurError, match=complaint):
        recipe.read_recipe(tmp_path / "bad.toml")


def test_verifying_compares_every_size_of_what_learns(table: Table, results: Path, tmp_path: Path) -> None:
    other = tmp_path / "results"
    shutil.copytree(results, other)
    for path in (other / "toy/figure1/net").iterdir():  # all seeds alike, so that they lie no further apart
        kept = json.loads(path.read_text())
        kept["points"]["8"]["fixed"]["MAP"] -= 2.0
        path.write_text(json.dumps(kept))
    for folder, off in ((results, 0.0), (other, 2.0)):
        [(_, one)] = verifying.again(verifying.drawn([table], folder, 1, 0, ["net"]), folder)
        assert one.difference == pytest.approx(off) and one.holds == (off == 0)
        assert off == 0 or one.measure == "MAP 8 fixed"
