"""Whatever a file holds, its reader ends, with what it has read or with one clear line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import registry
from demur.asking import read_documents
from demur.data import formats
from demur.data.candidates import read_candidates
from demur.embedders.word_vectors.tables import table
from demur.evaluation import Report
from demur.evaluation.comparison.cases import cases as cases_of
from demur.evaluation.comparison.compare import compare
from demur.experiments.recipe import read_recipe
from demur.reading.published import read_answers
from demur.risk.gates.several import open_gates
from demur.risk.sets import AnswerSets
from demur.toml import read_toml
from demur.training.recipes.stages import Recipe
from fuzz.cases import cases, refused_well
from fuzz.damage import damaged, other_json, other_toml, parts_of_zip, tensors
from fuzz.world import pools, world
from golden.datasets import TEXTS

Damage = Callable[[bytes], st.SearchStrategy[bytes]]


def _pools(path: Path) -> list[Any]:
    """What a file of pools holds, read in both ways."""
    with refused_well():
        list(formats.each_row(path))
    return list(formats.read_pools(path))


def _named(format: str) -> Callable[[Path], Any]:
    return lambda path: list(formats.read_pools(path, format))


def _report(path: Path) -> Any:
    both = {"a": Report.read(path), "b": Report.read(world() / "b.json")}
    with refused_well():
        cases_of(both, pools(), data="small")
    return compare(both)


def _recipe(path: Path) -> Any:
    recipe = read_toml(Recipe, path)
    return [recipe.by(stage) for stage in recipe.stage]


READERS: dict[str, tuple[str, Damage, Callable[[Path], Any]]] = {
    **{
        name: (name, damaged, lambda path: list(read_documents(path)))
        for name in ("faq.md", "faq.csv", "faq.txt", "page.html", "page.docx", "page.pdf")
    },
    "parts of page.docx": ("page.docx", parts_of_zip, lambda path: list(read_documents(path))),
    "documents of jsonl": ("faq.jsonl", other_json, lambda path: list(read_documents(path))),
    "pools.csv": ("pools.csv", damaged, _pools),
    "pools.tsv": ("pools.tsv", damaged, _pools),
    "pools.jsonl": ("pools.jsonl", other_json, _pools),
    "pools.parquet": ("pools.parquet", damaged, _pools),
    "squad.json": ("squad.json", other_json, _pools),
    **{
        name: ("pools.jsonl", other_json, _named(name))
        for name in ("tevatron", "bge", "sentence-transformers")
    },
    "scores.run": ("scores.run", damaged, lambda path: list(formats.read_run(path))),
    "qrels.txt": ("qrels.txt", damaged, formats.read_qrels),
    "candidates.txt": ("candidates.txt", damaged, lambda path: list(read_candidates(str(path)))),
    "candidates of jsonl": ("faq.jsonl", other_json, lambda path: list(read_candidates(str(path)))),
    "candidates of csv": ("faq.csv", damaged, lambda path: list(read_candidates(str(path)))),
    "answers.json": ("answers.json", other_json, lambda path: read_answers(str(path))),
    "vectors.txt": ("vectors.txt", damaged, lambda path: table(path).width),
    "vectors.bin": ("vectors.bin", damaged, lambda path: table(path).width),
    "vectors.npz": ("vectors.npz", damaged, lambda path: table(path).width),
    "vectors.safetensors": ("vectors.safetensors", tensors, lambda path: table(path).width),
    "gate.json": ("gate.json", other_json, open_gates),
    "sets.json": ("sets.json", other_json, AnswerSets.load),
    "a.json": ("a.json", other_json, _report),
    "recipe.toml": ("recipe.toml", other_toml, _recipe),
    "experiments/toy/table1.toml": ("experiments/toy/table1.toml", other_toml, read_recipe),
}


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_refuses_well(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    file, damage, read = READERS[name]
    content = (world() / file).read_bytes()
    path = tmp_path_factory.mktemp("fuzz") / Path(file).name
    path.write_bytes(content)

    @cases(0.4 if name in APART else 1.4)
    @given(damage(content))
    def tried(other: bytes) -> None:
        path.write_bytes(other)
        with refused_well():
            read(path)

    with refused_well():
        read(path)
    tried()


APART = ("page.html", "page.docx", "parts of page.docx", "page.pdf")
"""Read in a process apart, of which there is a new one after each that is refused."""
BEIR = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")


@pytest.mark.parametrize("file", BEIR)
def test_a_folder_of_beir_is_read_or_refused_well(file: str, tmp_path: Path) -> None:
    for name in BEIR:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes((world() / "beir" / name).read_bytes())
    content = (tmp_path / file).read_bytes()

    @cases(1)
    @given(damaged(content) if file.endswith("tsv") else other_json(content))
    def tried(other: bytes) -> None:
        (tmp_path / file).write_bytes(other)
        with refused_well():
            _pools(tmp_path)

    tried()


@pytest.mark.parametrize("name", registry.OURS["dataset"])
def test_a_dataset_is_read_or_refused_well(name: str, tmp_path: Path) -> None:
    splits = list(registry.find("dataset", name).splits.values()) if name in TEXTS else []

    @cases(1)
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        split = data.draw(st.sampled_from(splits))
        bad = data.draw(st.sampled_from(split.files))
        places = [
            tmp_path / f"{number}-{Path(file).name.removesuffix('.gz')}"
            for number, file in enumerate(split.files)
        ]
        for file, place in zip(split.files, places, strict=True):
            content = TEXTS[name](file).encode()
            if file == bad:
                content = data.draw(other_json(content) if content[:1] in b"[{" else damaged(content))
            place.write_bytes(content)
        with refused_well():
            list(split.read(*places))

    if splits:
        tried()
