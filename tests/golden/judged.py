"""Golden runs of what judges: measures, conventions, doubts, kinds of tables, and the gate's promise."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from demur import editions, registry
from demur.data import formats
from demur.doubt import doubt
from demur.evaluation import evaluate
from demur.evaluation.conventions import CONVENTIONS
from demur.evaluation.selective.measures import Selective
from demur.experiments import tables
from demur.experiments.kinds.reading import COSTS
from demur.experiments.recipe import Column, Row, Stage, Table
from demur.nets.readers.probe import Probe
from demur.risk.thresholds.guarantee import tried
from demur.risk.thresholds.populations import populations
from demur.types import FloatArray, Pool
from doubt import seen
from golden import rankers
from golden.rankers import flat
from laws import toys
from training import made


@cache
def drawn() -> tuple[list[Pool], list[FloatArray]]:
    """Pools of 0 to 6 candidates, graded and some without a positive, and scores with many ties."""
    generator = np.random.default_rng(3)
    pools, scores = [], []
    for number in range(40):
        size = int(generator.integers(0, 7))
        labels = generator.choice([0, 0, 0, 1, 2], size).tolist()
        pools.append(Pool.of("q?", [f"a{n}" for n in range(size)], labels, id=f"q{number}"))
        scores.append(generator.choice([-1.0, 0.0, 0.5, 2.0], size))
    return pools, scores


def measured(name: str, convention: str = "fixed") -> list[float]:
    """The mean and its interval, at each kind of cut-off."""
    thing: Any = registry.find("measure", name)
    selective = isinstance(thing, Selective)
    cuts = ["@0.2", "@0.8"] if selective else ["@1", "@3"]
    specs = [name] * (not thing.needs_cutoff) + [
        f"{name}{cut}" for cut in cuts if thing.needs_cutoff or not selective
    ]
    pools, scores = drawn()
    found = [evaluate(scores, pools, spec, convention).measures.values() for spec in specs]
    return flat([[one.mean, one.low, one.high] for each in found for one in each])


def by_convention(name: str) -> list[float]:
    return [value for each in ("MAP", "RR", "nDCG") for value in measured(each, name)]


def doubted(name: str) -> list[float]:
    """How sure it is of answers that were made up, after it has seen others if it learns."""
    asked, _ = seen.made(12)
    how = doubt("probe-cnn(epochs=2)" if name == "probe-cnn" else name)
    if how.needs_fitting:
        how = how.fit(*seen.made(40, seed=1))
    others = [seen.made(12)[0].__class__.load(_saved(asked))] if name == "averaged" else []
    return flat([how.confidence_of(asked, others)])


def _saved(asked: Any) -> Path:
    file = toys.folder() / "seen.npz"
    asked.save(file)
    return file


def probe() -> list[float]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = Probe([torch.full((4,), 2.0), torch.linspace(1, 2, 7)], spread=1.0)
        states = [torch.linspace(-1, 1, 20).view(1, 5, 4), torch.linspace(-1, 1, 35).view(1, 5, 7).sin()]
        with torch.inference_mode():
            return flat(net(states, torch.ones(1, 5, dtype=torch.bool)).reshape(-1, 5).tolist())


def guarantee() -> list[float]:
    found = tried(populations(0.1)[0], 200, 0.1, draws=20)
    return flat([[cell.violations, cell.abstained, cell.coverage] for cell in found])


def table(kind: str) -> list[float]:
    """The cells of a small table of that kind, filled from nothing."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        built = TABLES[kind](folder)
        tables.fill(built, folder / "results", (), lambda runs: None)
        cells = [cell for cell in tables.cells(built, folder / "results") if cell.measure not in COSTS]
    return [-1.0 if value is None else value for cell in cells for value in (cell.mean, cell.low, cell.high)]


def _table(kind: str, measures: Sequence[str], column: Column, row: Row, **more: Any) -> Table:
    said: dict[str, Any] = {"conventions": ["fixed"], "differs": "Everything.", **more}
    return Table("golden", kind, "A table", list(measures), column=[column], row=[row], kind=kind, **said)


def _animals(folder: Path) -> str:
    formats.write_pools(folder / "animals.jsonl", made.pools(24))
    return str(folder / "animals.jsonl")


def _passages(folder: Path) -> str:
    from golden.trained import passages

    formats.write_pools(folder / "read.jsonl", passages())
    return str(folder / "read.jsonl")


def _curves(folder: Path) -> Table:
    data = _animals(folder)
    column = Column("animals", data, train=data, dev=data, sizes=[4, 8])
    trainer = f'siamese(features="{made.words()}", epochs=2, early=none)'
    return _table(
        "curves", ["MAP"], column, Row("net", trainer=trainer, stage=[Stage("train")], early="full")
    )


def _gates(folder: Path) -> Table:
    data = _animals(folder)
    row = Row("bm25", ranker="length", qualifier="margin", risk=0.75)
    measures = ["coverage", "risk", "violations", "AURC"]
    more = {"conventions": ["ltt", "naive"], "splits": 4, "confidence": 0.9}
    return _table("gates", measures, Column("animals", data, fit=data), row, **more)


def _agreement(folder: Path) -> Table:
    golds = {"answers": [{"text": "ape"}]}
    formats.write_pools(folder / "data.jsonl", [Pool(f"{number}", "who?", (), golds) for number in range(8)])
    said = {"one": ["ape"] * 6 + ["bee", ""], "other": ["ape"] * 4 + ["bee"] * 3 + ["ape"]}
    for name, texts in said.items():
        (folder / f"{name}.json").write_text(json.dumps(dict(zip("01234567", texts, strict=True))))
    rows = [Row(name, answers=str(folder / f"{name}.json"), agreement="overlap") for name in said]
    measures = ["EM", "AD+", "risk", "AUROC", "certified coverage@0.5"]
    column = Column("squad", str(folder / "data.jsonl"))
    found = _table("agreement", measures, column, rows[0], splits=4, confidence=0.5)
    found.row.append(rows[1])
    return found


def _cases(folder: Path) -> Table:
    measures = ["questions", "wrong", "no shared words", "mended", "broken"]
    column = Column("handbook", "example/questions")
    found = _table("cases", measures, column, Row("bm25", ranker="bm25"), baseline="bm25")
    found.row.append(Row("length", ranker="length"))
    return found


def _doubtful(folder: Path) -> str:
    said = ["the ape of the wood is in a big tree", "the ape in the wood is in a big tree", "nothing"]
    pools = [Pool.of("where is it?", said, [1, label, 0], id=str(label)) for label in (0, 1)]
    formats.write_pools(folder / "doubtful.jsonl", pools)
    return str(folder / "doubtful.jsonl")


def _reader() -> str:
    return f'span-reader(model="{toys.answerer()}", threshold=1e6)'


TABLES: dict[str, Callable[[Path], Table]] = {
    "agreement": _agreement,
    "cases": _cases,
    "curves": _curves,
    "gates": _gates,
    "labels": lambda folder: _table(
        "labels",
        ["judged", "labels", "pairs", "same_words", "questions"],
        Column("animals", _doubtful(folder)),
        Row("near-duplicates", labels="near-duplicates"),
    ),
    "quoting": lambda folder: _table(
        "quoting", ["EM", "F1"], Column("ships", _passages(folder)), Row("reader", reader=_reader())
    ),
    "ranking": lambda folder: _table(
        "ranking", ["MAP", "P@1"], Column("handbook", "example/questions"), Row("bm25", ranker="bm25")
    ),
    "reading": lambda folder: _table(
        "reading",
        ["AURC", "gain AURC", "EM", "AD+"],
        Column("ships", _passages(folder), fit=_passages(folder), train=_passages(folder)),
        Row("PROBA", reader=_reader(), doubt="proba"),
        splits=3,
        confidence=0.9,
    ),
}
RUNS: dict[str, Callable[[], list[float]]] = {
    **{f"measure {name}": partial(measured, name) for name in registry.OURS["measure"]},
    **{f"convention {name}": partial(by_convention, name) for name in CONVENTIONS},
    **{f"doubt {name}": partial(doubted, name) for name in registry.OURS["doubt"]},
    **{f"table {name}": partial(table, name) for name in TABLES},
    **{f"vectors {name}": partial(rankers.vectors, name) for name in editions.VECTORS},
    **{
        f"net {name}": partial(rankers.net, name)
        for name in editions.NETS
        if name not in ("probe", "probe-cnn", "quick-mpnet")
    },
    "net probe": probe,
    "net probe-cnn": lambda: doubted("probe-cnn"),
    "table guarantee": guarantee,
}
