"""A job on Ray (``pip install 'demur[ray]'``): readers cut files into shards, actors score them.

Workers read and write the files themselves, so every machine must see them under the same paths. What passes
between them are shards as JSON. The driver only counts.
"""

from __future__ import annotations

import json
import logging
import os
import re
import uuid
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from demur import processor
from demur.errors import DemurError, require
from demur.scale.cluster import Cluster
from demur.scale.items import Item
from demur.scale.recipe import Recipe
from demur.scale.tries import survived
from demur.scale.work import Outcome, Shard, cut, join, known_outcome, why
from demur.scoring import Scorer
from demur.types import Candidate, Pool

_RAISED = re.compile(r"\s*(?!ray\.)[\w.]*(Error|Exception): ")  # the cause, not what Ray wraps it in


class OnRay(Cluster):
    """Workers that score, on a cluster or on this machine."""

    def __init__(self, recipe: Recipe, address: str | None = None, workers: int | None = None) -> None:
        super().__init__(address, workers)
        self.recipe = recipe
        require("ray.data", extra="ray")

    def score(self, scorer: Scorer, items: Sequence[Item], pairs: int) -> Iterator[Outcome]:
        """What became of each shard of these files, as it comes."""
        if not items:
            return
        workers = self._begin()
        recipe, run = self.recipe.of(scorer), uuid.uuid4().hex
        shards = self._items(items).map_batches(
            _cut,
            fn_kwargs={"pairs": pairs},
            compute=self.ray.data.TaskPoolStrategy(size=workers),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=0,  # or readers would wait for workers, who wait for them
        )
        outcomes = shards.map_batches(
            Worker,
            fn_constructor_args=(recipe, run),
            compute=self.ray.data.ActorPoolStrategy(size=workers),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=1,
        )
        yield from self._outcomes(outcomes)

    def join(self, files: Sequence[tuple[Item, int, int]], write_as: str) -> Iterator[Outcome]:
        """What became of joining each file."""
        if not files:
            return
        workers = self._begin()
        items = self._items([each[0] for each in files], [each[1:] for each in files])
        joined = items.map_batches(
            _join,
            fn_kwargs={"write_as": write_as},
            compute=self.ray.data.TaskPoolStrategy(size=workers),
            batch_size=1,
            batch_format="pyarrow",
            num_cpus=0,
        )
        yield from self._outcomes(joined)

    def _outcomes(self, dataset: Any) -> Iterator[Outcome]:
        """The rows of a dataset of outcomes, as they come."""
        try:
            for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
                yield from (Outcome(**row) for row in batch.to_pylist())
        except Exception as error:  # Ray has many, and they tell whole stacks
            raised = [line for line in str(error).splitlines() if _RAISED.match(line)]
            said = raised[-1].strip()[:300] if raised else why(error)
            what = f"Ray stopped the job ({said})"
            raise DemurError(f"{what}; run the same again to resume") from error

    def _begin(self) -> int:
        """How many workers there are to be, once Ray is there."""
        workers = self.begin()
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        warnings.filterwarnings("ignore", module=r"ray\.data")  # such as of fewer files than workers
        context = self.ray.data.DataContext.get_current()
        context.enable_progress_bars = context.print_on_execution_start = False
        context.target_max_block_size = 1  # a shard is sent on as soon as it is cut
        return workers

    def _items(self, items: Sequence[Item], more: Sequence[tuple[int, ...]] = ()) -> Any:
        """The items as a dataset, a block each."""
        pyarrow = require("pyarrow", extra="ray")
        rows = zip(items, more or [()] * len(items), strict=True)
        return self.ray.data.from_arrow(
            [pyarrow.table({"item": [json.dumps(asdict(item))], "more": [list(each)]}) for item, each in rows]
        )


class Worker:
    """An actor that loads its models once, at its first shard."""

    def __init__(self, recipe: Recipe, run: str) -> None:
        os.environ[processor.THREADS] = "1"  # there is a worker for each core
        self.recipe, self.run = recipe, run
        self.scorer: Scorer | None = None

    def __call__(self, batch: Any) -> Any:
        """What became of a shard."""
        (row,) = batch.to_pylist()
        item = _item(row)
        if row["known"]:
            return _table([Outcome(**json.loads(row["known"]))])
        try:
            self.scorer = self.scorer or self.recipe.made()
            shard = Shard(item, row["number"], _pools(row["pools"]), row["rows"])
            return _table([survived(self.scorer, shard, self.run)])
        except Exception as error:
            return _table([Outcome(item.number, stopped=why(error))])


def _cut(batch: Any, pairs: int) -> Iterator[Any]:
    """The shards of a file, each as a table of one row; of those that are done only what is known."""
    pyarrow = require("pyarrow", extra="ray")
    (row,) = batch.to_pylist()
    for shard in cut(_item(row), pairs):
        known = known_outcome(shard)
        pools = "[]" if known else _packed(shard.pools)
        columns = {
            "item": pyarrow.array([row["item"]], pyarrow.string()),
            "number": pyarrow.array([shard.number], pyarrow.int64()),
            "rows": pyarrow.array([list(shard.rows)], pyarrow.list_(pyarrow.int64())),
            "pools": pyarrow.array([pools], pyarrow.large_string()),
            "known": pyarrow.array([json.dumps(asdict(known)) if known else ""], pyarrow.string()),
        }
        yield pyarrow.table(columns)


def _join(batch: Any, write_as: str) -> Any:
    """What became of joining a file."""
    (row,) = batch.to_pylist()
    item = _item(row)
    try:
        pools, pairs = row["more"]
        return _table([join(item, pools, pairs, write_as)])
    except Exception as error:
        return _table([Outcome(item.number, stopped=why(error))])


def _packed(pools: Sequence[Pool]) -> str:
    """Pools as JSON, whatever they hold; a pickle would do, but demur loads none."""
    return json.dumps(
        [
            [pool.id, pool.question, [[c.id, c.text, c.label, c.extra] for c in pool.candidates], pool.extra]
            for pool in pools
        ]
    )


def _pools(packed: str) -> list[Pool]:
    return [
        Pool(id, question, tuple(Candidate(*each) for each in candidates), extra)
        for id, question, candidates, extra in json.loads(packed)
    ]


def _item(row: dict[str, Any]) -> Item:
    return Item(**json.loads(row["item"]))


def _table(outcomes: Sequence[Outcome]) -> Any:
    pyarrow = require("pyarrow", extra="ray")
    return pyarrow.table(
        {each.name: [getattr(outcome, each.name) for outcome in outcomes] for each in fields(Outcome)}
    )
