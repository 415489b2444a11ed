"""The formats over the real datasets: counts as published, files that come back the same."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from demur.data import formats

DATA = Path(os.environ.get("DEMUR_DATA", ""))
pytestmark = pytest.mark.data


@pytest.mark.parametrize(
    ("name", "pools", "pairs"),
    [
        ("wikiqa/WikiQA-dev.tsv.gz", 296, 2733),
        ("selqa/selqa-ass-dev.tsv.gz", 785, 9377),
        ("antique/scan-test.tsv.gz", 200, 6589),
        ("trecqa/train-all.tsv.gz", 1229, 53417),
    ],
)
def test_answer_selection_tsv(name: str, pools: int, pairs: int) -> None:
    found = list(formats.read_pools(DATA / name))
    assert (len(found), sum(map(len, found))) == (pools, pairs)


@pytest.mark.parametrize(("name", "count"), [("test", (200, 6589)), ("train", (2426, 27422))])
def test_antique_judgements(name: str, count: tuple[int, int]) -> None:
    qrels = formats.read_qrels(DATA / f"antique/antique-{name}.qrel.gz")
    assert (len(qrels), sum(map(len, qrels.values()))) == count


@pytest.mark.parametrize(("name", "count", "impossible"), [("dev-v1.1", 10570, 0), ("dev-v2.0", 11873, 5945)])
def test_squad_comes_back_the_same(tmp_path: Path, name: str, count: int, impossible: int) -> None:
    path = DATA / f"squad/{name}.json.gz"
    pools = list(formats.read_pools(path))
    assert (len(pools), sum(pool.labels == [0] for pool in pools)) == (count, impossible)
    formats.write_pools(tmp_path / "again.json", pools)
    assert json.loads((tmp_path / "again.json").read_text()) == json.loads(gzip.decompress(path.read_bytes()))


@pytest.mark.parametrize("format", ["jsonl", "tsv", "csv", "parquet", "beir", "tevatron"])
def test_wikiqa_survives_every_format(tmp_path: Path, format: str) -> None:
    pools = list(formats.read_pools(DATA / "wikiqa/WikiQA-dev.tsv.gz"))
    formats.write_pools(tmp_path / "again", pools, format)
    assert list(formats.read_pools(tmp_path / "again", format)) == pools
