"""What is sent to workers: names of which the same scorer comes, and pools that lose nothing."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict
from pathlib import Path

import pyarrow
import pytest

import demur
from demur.data import formats
from demur.errors import DemurError
from demur.scale import on_ray, work
from demur.scale.items import Files
from demur.scale.recipe import Recipe
from demur.types import Candidate, Pool
from scored import RANKER, made


def test_a_worker_makes_the_same_scorer() -> None:
    recipe = Recipe("bm25").of(Recipe("bm25").made())
    assert recipe.facts == {"ranker": RANKER.fingerprint} and recipe.prepared is None
    assert pickle.loads(pickle.dumps(recipe)).made().pools(made(2)) == Recipe("bm25").made().pools(made(2))


def test_words_are_counted_once_for_all_workers() -> None:
    scorer = Recipe("bm25(stats=dataset)").made()
    ready = demur.ranker("bm25", stats="dataset").prepare(made(5))
    sent = Recipe("bm25(stats=dataset)").of(type(scorer)(ready))
    found = pickle.loads(pickle.dumps(sent)).made()
    assert found.ranker.fingerprint == ready.fingerprint
    assert found.pools(made(2)) == type(scorer)(ready).pools(made(2))


def test_folders_are_named_so_that_a_worker_finds_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RANKER.save(tmp_path / "model")
    demur.calibrate("bm25", made(100), risk=0.1).save(tmp_path / "gate.json")
    monkeypatch.chdir(tmp_path)
    recipe = Recipe("model", gate="gate.json")
    sent = recipe.of(recipe.made())
    monkeypatch.chdir("/")
    assert sent.ranker == str(tmp_path / "model") and sent.made().facts == sent.facts


def test_another_model_on_a_worker_is_one_line(tmp_path: Path) -> None:
    RANKER.save(tmp_path / "model")
    recipe = Recipe(str(tmp_path / "model"))
    sent = recipe.of(recipe.made())
    (tmp_path / "model").rename(tmp_path / "old")
    demur.ranker("bm25", k1=0.9).save(tmp_path / "model")
    with pytest.raises(DemurError, match=r"on a worker the ranker .*model is another one than where the job"):
        sent.made()


def test_what_is_known_is_not_sent_again(tmp_path: Path) -> None:
    formats.write_pools(tmp_path / "a.jsonl", made(20))
    (item,) = Files.of(str(tmp_path / "a.jsonl"), str(tmp_path / "out.jsonl"), None).items
    given = pyarrow.table({"item": [json.dumps(asdict(item))]})
    first, second = (table.to_pylist()[0] for table in on_ray._cut(given, 30))
    assert (first["known"], second["known"]) == ("", "") and on_ray._pools(second["pools"]) == made(20)[10:]
    work.score_shard(Recipe("bm25").made(), next(work.cut(item, 30)))
    first, second = (table.to_pylist()[0] for table in on_ray._cut(given, 30))
    assert first["pools"] == "[]" and json.loads(first["known"])["resumed"] == 10 and second["known"] == ""
    told = on_ray.Worker(Recipe("none"), "r")(pyarrow.Table.from_pylist([first]))
    assert told.to_pylist() == [asdict(work.Outcome(0, 10, 30, resumed=10))], "and no model is loaded"
    told = on_ray.Worker(Recipe("none"), "r")(pyarrow.Table.from_pylist([second]))
    assert told.to_pylist()[0]["stopped"].startswith("unknown ranker 'none'"), (
        "what a worker raises is a line"
    )


def test_pools_lose_nothing_on_their_way() -> None:
    odd = [
        Pool(
            "é\u2028",
            "half \ud800",
            (Candidate("0", "\n\r", 2**70, {"id": 1, "score": 0.1}),),
            {"text": [None]},
        ),
        Pool("", "", ()),
        *made(2),
    ]
    assert on_ray._pools(on_ray._packed(odd)) == odd
