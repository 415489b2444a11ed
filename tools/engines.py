"""The function that scores a batch, called by engines that know nothing of demur: each must give the same.

Run as ``python -m tools.engines daft dask ray spark``, where these are installed, as by ``make engines``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow

from demur.scale import open_scorer

MINE = range(50)
ROWS: dict[str, list[Any]] = {
    "question": [f"ape w{n}" for n in MINE],
    "answers": [[f"w{n} ape bee", "ape", f"cat {n}"][: n % 4] for n in MINE],
    "mine": list(MINE),
}
Found = list[tuple[list[float], list[int]]]


def wanted() -> Found:
    """Scores and ranks as the function itself gives them."""
    return _found(open_scorer("bm25")(ROWS))


def ray() -> Found:
    """What Ray Data gives."""
    import ray as engine

    class Scores:
        def __init__(self) -> None:
            self.scorer = open_scorer("bm25")

        def __call__(self, batch: Any) -> Any:
            return self.scorer(batch)

    engine.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    pools = engine.data.ActorPoolStrategy(size=1)
    data = engine.data.from_arrow(pyarrow.table(ROWS))
    scored = data.map_batches(Scores, batch_format="pyarrow", batch_size=7, compute=pools)
    return _of_rows(scored.take_all())


def spark() -> Found:
    """What Spark gives."""
    from pyspark.sql import SparkSession

    def score(batches: Iterator[Any]) -> Iterator[Any]:
        scorer = open_scorer("bm25")
        for batch in batches:
            yield scorer(batch)

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    columns = "question string, answers array<string>, mine long"
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    scored = session.createDataFrame(rows, columns).mapInArrow(
        score, f"{columns}, scores array<double>, ranks array<long>"
    )
    return _of_rows([row.asDict() for row in scored.collect()])


def daft() -> Found:
    """What Daft gives."""
    import daft as engine

    number, place = engine.DataType.float64(), engine.DataType.int64()
    both = engine.DataType.struct(
        {"scores": engine.DataType.list(number), "ranks": engine.DataType.list(place)}
    )

    @engine.cls
    class Scores:
        def __init__(self) -> None:
            self.scorer = open_scorer("bm25")

        @engine.method.batch(return_dtype=both)  # type: ignore[untyped-decorator]
        def __call__(self, question: Any, answers: Any) -> list[dict[str, Any]]:
            found = self.scorer({"question": question.to_pylist(), "answers": answers.to_pylist()})
            pairs = zip(found["scores"], found["ranks"], strict=True)
            return [{"scores": scores.tolist(), "ranks": ranks.tolist()} for scores, ranks in pairs]

    frame = engine.from_pydict(ROWS)
    scored = frame.with_column("found", Scores()(frame["question"], frame["answers"])).to_pydict()
    return [(each["scores"], each["ranks"]) for each in scored["found"]]


def dask() -> Found:
    """What Dask gives."""
    import dask as engine
    import dask.dataframe
    import pandas

    def score(part: Any) -> Any:
        return pandas.DataFrame(open_scorer("bm25")({name: part[name].to_numpy() for name in part}))

    engine.config.set({"dataframe.convert-string": False})  # or it makes one text of each list
    frame = pandas.DataFrame(ROWS)
    scored = engine.dataframe.from_pandas(frame, npartitions=3).map_partitions(
        score, meta=score(frame.head(2))
    )
    return _of_rows(scored.compute().to_dict("records"))


def _of_rows(rows: list[dict[str, Any]]) -> Found:
    rows = sorted(rows, key=lambda row: int(row["mine"]))
    return _found({name: [row[name] for row in rows] for name in ("scores", "ranks")})


def _found(columns: dict[str, Any]) -> Found:
    pairs = zip(columns["scores"], columns["ranks"], strict=True)
    return [([float(each) for each in scores], [int(each) for each in ranks]) for scores, ranks in pairs]


ENGINES: dict[str, Callable[[], Found]] = {"daft": daft, "dask": dask, "ray": ray, "spark": spark}


def main(names: list[str]) -> int:
    """Ask each engine; 1 if one gives something else."""
    different = [name for name in names if ENGINES[name]() != wanted()]
    for name in names:
        print(f"{name}: {'something else' if name in different else f'the same for {len(MINE)} questions'}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or sorted(ENGINES)))
