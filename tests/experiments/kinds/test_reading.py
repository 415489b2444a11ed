"""Tables of readers whose answers are doubted."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from demur.data import formats
from demur.doubt.probing.probe_training import ProbeTrainer
from demur.errors import DemurError
from demur.evaluation.readers import evaluate_reader
from demur.evaluation.selective.measures import AURC, AUROC
from demur.experiments import recipe, tables
from demur.experiments.figures import drawing
from demur.experiments.figures.readers import cases
from demur.experiments.kinds.answer_figures import gains, plain, selective
from demur.experiments.kinds.reading import reader_of
from demur.experiments.models import reader_cache
from demur.experiments.pages import markdown
from demur.experiments.recipe import Table
from demur.experiments.runs import Run
from demur.reading.opening import reader
from demur.risk import Predictions
from demur.types import Pool
from laws import toys

TABLE = """
kind = "reading"
paper = "toy"
table = "doubt"
title = "A table"
measures = ["AURC", "gain AURC", "AUROC", "EM", "AD+", "UD", "ms", "extra", "certified coverage@0.2"]
derived = ["E-AURC", "gain E-AURC"]
conventions = ["exact match"]
splits = 3
confidence = 0.9
differs = "Everything."

[[column]]
name = "ships"
data = "{folder}/read.jsonl"
fit = "{folder}/fit.jsonl"
train = "{folder}/fit.jsonl"

[[column]]
name = "elsewhere"

[[row]]
name = "PROBA"
title = "Toy, in another's place: PROBA"
reader = '{reader}'
doubt = "proba"

[[row]]
name = "AES"
reader = '{reader}'
doubt = "averaged"
others = '{other}'

[[row]]
name = "dropout"
reader = '{reader}'
doubt = "averaged(own=false)"
passes = 2

[[row]]
name = "PROBE-CNN"
reader = '{reader}'
doubt = "probe-cnn(epochs=3)"
seeds = [0, 1]

[[row]]
name = "oracle"
reader = '{reader}'
doubt = "oracle"

[[published]]
row = "PROBA"
measure = "AURC"
convention = "exact match"
values = {{ ships = 0.2702, elsewhere = 0.1528 }}

[[published]]
row = "PROBE-CNN"
measure = "AURC"
convention = "exact match"
values = {{ ships = 0.2341 }}

[[published]]
row = "oracle"
measure = "AURC"
convention = "exact match"
values = {{ ships = 0.0792 }}
"""


def questions(count: int, seed: int) -> list[Pool]:
    """Half can be answered; a reader that always answers is right there, and half of those are hard."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        word, golds = ("ship", [{"text": "ship", "answer_start": 0}]) if number % 2 else ("cape", [])
        more = " ".join(generator.choice(["sailed", "round", "bread"], int(generator.integers(0, 3))))
        one = Pool.of("", [f"{word} {more}".strip()], [number % 2])
        found.append(Pool(f"{seed}-{number}", "which ship?", one.candidates, {"answers": golds}))
    return found


def spec(longest: int) -> str:
    return f'span-reader(longest={longest}, model="{toys.answerer()}", threshold=1e6)'


@pytest.fixture
def table(tmp_path: Path) -> Table:
    formats.write_pools(tmp_path / "read.jsonl", questions(40, 0))
    formats.write_pools(tmp_path / "fit.jsonl", questions(60, 1))
    text = TABLE.format(folder=tmp_path, reader=spec(1), other=spec(2))
    (tmp_path / "table.toml").write_text(text)
    return recipe.read_recipe(tmp_path / "table.toml")


def test_a_table_of_doubts(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    tables.fill(table, results, (), lambda runs: None)
    cells = {(c.row, c.measure): c for c in tables.cells(table, results) if c.column == "ships"}
    rows = [row.name for row in table.row]
    assert len({cells[row, "EM"].mean for row in rows}) == 1, "all rows doubt one prediction"
    lowest = cells["oracle", "AURC"].mean
    assert lowest is not None and cells["oracle", "AUROC"].mean == 1
    for row in rows:
        mean = cells[row, "AURC"].mean
        assert mean is not None and lowest <= mean + 1e-9
        gain, base = cells[row, "gain AURC"].mean, cells["PROBA", "AURC"].mean
        if cells[row, "AURC"].seeds == 1:
            assert gain is not None and base is not None and gain == pytest.approx(1 - mean / base)
        assert (cells[row, "ms"].mean is None) == (row == "oracle")
        above, share = cells[row, "E-AURC"].mean, cells[row, "gain E-AURC"].mean
        assert above is not None
        assert above == pytest.approx(mean - lowest, abs=2e-3) and base is not None and share is not None
        assert share == pytest.approx(1 - above / (base - lowest), abs=1e-2), "of what is kept"
        assert cells[row, "AURC"].readers == 1, "however many seeds its doubt has"
    assert cells["PROBE-CNN", "gain E-AURC"].published == pytest.approx(0.189, abs=5e-4), "the paper's 13 %"
    assert cells["PROBE-CNN", "gain AURC"].published == pytest.approx(0.134, abs=5e-4)
    assert cells["PROBA", "E-AURC"].published == pytest.approx(0.191)
    assert cells["AES", "gain E-AURC"].published is None and cells["PROBA", "gain AURC"].published is None
    assert (cells["PROBA", "gain AURC"].low, cells["PROBA", "gain AURC"].high) == (0, 0)
    assert cells["PROBE-CNN", "AURC"].seeds == 2 and cells["PROBA", "AURC"].published == 0.2702
    assert cells["AES", "AURC"].mean == pytest.approx(cells["PROBA", "AURC"].mean), "the same network twice"
    files = {file: file.stat().st_mtime_ns for file in results.rglob("*.json")}
    tables.fill(table, results, (), lambda runs: None)
    assert all(file.stat().st_mtime_ns == time for file, time in files.items()), "nothing is run again"


def test_its_page_says_what_rows_are_and_what_was_not_run(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    tables.fill(table, results, ["Toy, in another's place: PROBA", "oracle"], lambda runs: None)
    assert {path.parent.name for path in results.rglob("*.json")} == {"proba", "oracle"}, "files go by names"
    assert not list(results.rglob("elsewhere*")), "a column without data is not run"
    page = markdown.section(table, results)
    here, _, there = page.partition("### elsewhere (not run)")
    assert "| Toy, in another's place | PROBA † |" in here and "BERT" not in page
    assert ", 1 reader</sub> *0.270*" in here
    assert "one that never answers" in here and "1 reader: all answers" in here
    assert "| PROBA | – *0.153* |" in there and "gain" not in there and "oracle" not in there
    with pytest.raises(DemurError, match="neither data nor published"):
        dataclasses.replace(table, column=[*table.column, dataclasses.replace(table.column[1], name="x")])
    with pytest.raises(DemurError, match="E-AUROC"):
        list(tables.cells(dataclasses.replace(table, derived=["E-AUROC"]), results))


def test_its_figures(table: Table, tmp_path: Path) -> None:
    results = tmp_path / "results"
    with pytest.raises(DemurError, match="no results yet"):
        drawing.draw(table, results, tmp_path / "f.svg")
    tables.fill(table, results, (), lambda runs: None)
    drawing.draw(table, results, tmp_path / "f.svg")
    names = {path.name for path in tmp_path.glob("*.svg")}
    told = {"f-proba.svg", "f-aes.svg", "f-dropout.svg", "f-probe-cnn.svg"}
    assert names == {"f.svg", "f-layers.svg"} | told
    two = dataclasses.replace(table, row=[dataclasses.replace(r, group=r.name) for r in table.row])
    with pytest.raises(DemurError, match="say --only PROBA or"):
        drawing.draw(two, results, tmp_path / "g.svg")


def test_its_figures_without_making_anything(
    table: Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    results = tmp_path / "results"
    tables.fill(table, results, ["PROBA"], lambda runs: None)
    drawing.draw(table, results, tmp_path / "f.svg", make=False)
    assert (tmp_path / "f-layers.svg").is_file() and not caplog.text, "the cache has what readers said"

    def never(*given: object, **more: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(reader_cache, "observe", never)
    monkeypatch.setattr(ProbeTrainer, "train", never)
    monkeypatch.setenv("DEMUR_CACHE", str(tmp_path / "empty"))
    drawing.draw(table, results, tmp_path / "g.svg", make=False)
    assert (tmp_path / "g.svg").is_file() and not (tmp_path / "g-layers.svg").exists()
    assert "the reader's probes must be made anew, so g-layers.svg is not; leave out --cached" in caplog.text
    caplog.clear()
    row = dataclasses.replace(table.row[0], reader=str(tmp_path / "gone"))
    gone = dataclasses.replace(table, row=[row], published=table.published[:1])
    with pytest.raises(reader_cache.NotKeptError, match="the reader"):
        reader_of(Run(gone, gone.row[0], gone.column[0], 0), make=False)


QUOTING = """
kind = "quoting"
paper = "toy"
table = "readers"
title = "A table"
measures = ["EM", "F1", "HasAns-EM", "NoAns-EM", "best F1"]
conventions = ["squad-2.0"]
differs = "Everything."

[[column]]
name = "ships"
data = "{folder}/read.jsonl"

[[row]]
name = "always"
reader = '{reader}'
"""


def test_a_table_of_what_readers_quote(table: Table, tmp_path: Path) -> None:
    (tmp_path / "quoting.toml").write_text(QUOTING.format(folder=tmp_path, reader=spec(1)))
    quoting, results = recipe.read_recipe(tmp_path / "quoting.toml"), tmp_path / "results"
    tables.fill(quoting, results, (), lambda runs: None)
    found = {cell.measure: cell.mean for cell in tables.cells(quoting, results)}
    told = evaluate_reader(reader(spec(1)), list(formats.read_pools(tmp_path / "read.jsonl")))
    for measure in ("EM", "F1", "HasAns-EM", "NoAns-EM"):
        assert found[measure] == pytest.approx(told.report.measures[measure].mean)
    assert found["best F1"] == pytest.approx(told.best["F1"].mean)
    assert found["NoAns-EM"] == 0, "this reader always answers"


def test_a_share_in_hindsight_is_not_shown_as_a_count() -> None:
    assert [markdown.counted(figure) for figure in (0.5809, 5928.0, 3214.3, 0.0)] == [
        *("0.581", "5,928", "3,214", "0")
    ]


def test_one_case_of_each_outcome_is_shown(table: Table) -> None:
    opened = reader(spec(1))
    pools = questions(30, 2)
    probes = ProbeTrainer(epochs=1).train(opened, pools)
    found = cases(reader_cache.predictions(opened, pools, probes), pools)
    assert list(found) == ["AD+: right", "AD−: wrong", "UD: there is no answer"]
    for case in found.values():
        assert 0 < case.first <= case.last < len(case.picture) and case.picture.shape[2] == len(
            probes.weights
        )


def test_observations_and_probes_are_made_once(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = reader(spec(1))
    data = table.column[0].train
    probes = reader_cache.probes_of(opened, data, ProbeTrainer(seed=7))
    seen = reader_cache.predictions(opened, questions(6, 3), probes)

    def never(*given: object, **more: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(reader_cache, "observe", never)
    monkeypatch.setattr(ProbeTrainer, "train", never)
    again = reader_cache.probes_of(opened, data, ProbeTrainer(seed=7))
    assert all((a == b).all() for a, b in zip(probes.weights, again.weights, strict=True))
    kept = reader_cache.predictions(opened, questions(6, 3), again)
    assert (kept.pictures == seen.pictures).all() and kept.ids == seen.ids
    for other in ({"dropout": 1}, {"fixed": seen}, {"probes": None}):
        with pytest.raises(AssertionError, match="read again"):
            reader_cache.predictions(opened, questions(6, 3), **{"probes": again, **other})  # type: ignore[arg-type]


def test_gains_are_shares_of_the_base_with_an_interval_that_knows_of_pairs() -> None:
    generator = np.random.default_rng(0)
    right = generator.uniform(size=400) < 0.6
    ids, every = tuple(map(str, range(400))), np.ones(400, np.bool_)
    weak, strong = (right + spread * generator.normal(size=400) for spread in (2.0, 0.7))
    base, ours = (Predictions(ids, sure, right, every, every) for sure in (weak, strong))
    found = gains(["gain AURC", "gain AUROC"], base, ours)
    for name, mean in (
        ("gain AURC", 1 - AURC.of(strong, ~right) / AURC.of(weak, ~right)),
        ("gain AUROC", AUROC.of(strong, ~right) / AUROC.of(weak, ~right) - 1),
    ):
        row = found[name]
        assert row is not None and row[0] == pytest.approx(mean)
        assert row[1] is not None and row[2] is not None and 0 < row[1] < mean < row[2]
    assert gains(["gain AURC"], base, base)["gain AURC"] == (0, 0, 0)
    sure = Predictions(ids, weak, every, every, every)
    assert gains(["gain AURC"], sure, sure)["gain AURC"] is None, "nothing is wrong, so nothing can be better"
    assert plain(base)["EM"] and selective(["AURC"], base)["AURC"]
    with pytest.raises(DemurError, match="not a measure of answers"):
        selective(["MAP"], base)
