"""Two workers of Ray on this machine: the same to the last byte, whoever is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

import demur
from demur import scoring
from demur.asking import packaged
from demur.data import formats
from demur.scale import open_scorer
from demur.scoring import Scorer
from demur.types import Pool
from scale.jobs import folder, made, same
from scored import RANKER

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed; pip install 'demur[ray]'"),
]
TESTS = Path(__file__).parents[1]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Where workers find the ranker that dies: as one from another package."""
    facts = tmp_path / "plugin" / "dying-0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: dying\nVersion: 0\n")
    (facts / "entry_points.txt").write_text("[demur.ranker]\ndying = scale.jobs:Dying\n")
    paths = [str(tmp_path / "plugin"), str(TESTS), str(Path(demur.__file__).parents[1])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


Process = subprocess.Popen[str]


def start(environment: dict[str, str], source: Path, target: Path, *more: object) -> Process:
    words = ["score", source, "-o", target, "--engine", "ray", "--json", *more]
    if "--address" not in more:
        words += ["--workers", 2]
    command = [sys.executable, "-m", "demur", *map(str, words)]
    return subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def ended(process: Process, code: int = 0) -> tuple[dict[str, object], str]:
    """What a job told, and what it wrote to stderr."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == code, err
    return (json.loads(out) if out else {}), err


def test_two_workers_give_what_one_process_gives(tmp_path: Path, environment: dict[str, str]) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    with (source / "b.jsonl").open("ab") as file:
        file.write(b'{"id": 3}\n\xff\n')
    (source / "d.jsonl.gz").write_bytes(b"\x1f\x8bno")
    told, err = ended(start(environment, source, target, "--ranker", "bm25(stats=dataset)"), code=1)
    assert (told["files"], told["pools"], told["pairs"], told["bad_rows"]) == (3, 180, 540, 2)
    bad = [json.loads(line)["row"] for line in Path(f"{target}.bad.jsonl").read_text("utf-8").splitlines()]
    assert bad == [61, 62]
    lines = err.splitlines()
    assert "d.jsonl.gz: broken gzip file" in lines[0] and "b.jsonl:61: no 'question'" in lines[1]
    assert len(lines) == 4, "and nothing from Ray"
    (source / "d.jsonl.gz").unlink()
    formats.write_pools(source / "b.jsonl", made(60, 60))
    ranker = demur.ranker("bm25", stats="dataset").prepare(made(180))
    same(source, target, Scorer(ranker), scoring.SHARD)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out", "out.bad.jsonl", "plugin"]


@pytest.mark.skipif(not packaged.there(), reason="the packaged model is not here")
def test_a_network_a_reader_and_a_gate_come_out_the_same(tmp_path: Path, environment: dict[str, str]) -> None:
    source = tmp_path / "in"
    source.mkdir()
    pools = [pool for pool in demur.load("example/questions") if isinstance(pool, Pool)][:40]
    formats.write_pools(source / "one.jsonl", pools[:25])
    formats.write_pools(source / "two.parquet", pools[25:])
    gate = Path(demur.__file__).parent / "models" / "mini"
    more = ("--ranker", "mini", "--reader", "mini", "--gate", gate)
    told, _ = ended(start(environment, source, tmp_path / "out", *more))
    assert told["pools"] == len(pools)
    same(source, tmp_path / "out", open_scorer("mini", reader="mini", gate=gate), scoring.SHARD)


def many(place: Path) -> Path:
    """Files of several shards each, as shards have 16,000 pairs."""
    (place / "in").mkdir()
    for n in range(2):
        pools = [
            Pool.of(f"ape w{k}", [f"w{k % 7} ape {'bee ' * (k % 5)}{m}" for m in range(4000)], id=f"q{n}-{k}")
            for k in range(24)
        ]
        formats.write_pools(place / "in" / f"f{n}.parquet", pools)
    return place / "in"


def shards(place: Path) -> int:
    return len(list(place.glob("out.parts/*/0*[0-9].jsonl")))


def test_a_killed_driver_loses_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    source, target = many(tmp_path), tmp_path / "out"
    words = ("--ranker", "dying(seconds=1)")
    first = start(environment, source, target, *words)
    while shards(tmp_path) < 4:
        assert first.poll() is None, first.communicate()
        time.sleep(0.05)
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert not target.exists() and 4 <= shards(tmp_path) < 12
    time.sleep(3)  # its workers end, too
    kept = shards(tmp_path)
    told, _ = ended(start(environment, source, target, *words))
    assert told["pools"] == 48 and kept * 4 <= int(str(told["resumed_pools"])) < 48
    same(source, target, Scorer(RANKER), scoring.SHARD)
    assert not (tmp_path / "out.parts").exists()


def test_a_killed_worker_is_replaced(tmp_path: Path, environment: dict[str, str]) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    pools = made(60, 60)
    pools[30] = replace(pools[30], question="dies once")
    formats.write_pools(source / "b.jsonl", pools)
    told, err = ended(start(environment, source, target, "--ranker", f"dying(once='{tmp_path}/died')"))
    assert (tmp_path / "died").exists(), "it did die"
    assert (told["pools"], told["bad_rows"]) == (180, 0)
    assert "demur: " not in err and "left out" not in err
    same(source, target, Scorer(RANKER), scoring.SHARD)


def test_a_row_that_kills_every_worker_is_left_out(tmp_path: Path, environment: dict[str, str]) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    pools = made(60, 60)
    formats.write_pools(source / "b.jsonl", [*pools[:30], replace(pools[30], question="dies"), *pools[31:]])
    told, err = ended(start(environment, source, target, "--ranker", "dying"))
    assert (told["pools"], told["bad_rows"]) == (179, 1)
    (line,) = (line for line in err.splitlines() if line.startswith("left out ") and "bad row" not in line)
    assert line.startswith(f"left out {source / 'b.jsonl'}:31: three workers died of this row")
    formats.write_pools(source / "b.jsonl", [*pools[:30], *pools[31:]])
    same(source, target, Scorer(RANKER), scoring.SHARD)


CLUSTER = """
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
print(cluster.address, flush=True)
input()
cluster.shutdown()
"""


@pytest.fixture
def cluster(environment: dict[str, str]) -> Iterator[str]:
    """The address of a cluster of two nodes, which are both on this machine."""
    quiet = {**environment, "RAY_USAGE_STATS_ENABLED": "0"}
    for _ in range(3):  # a node that is not up within 30 seconds is given up by Ray
        process = subprocess.Popen(
            [sys.executable, "-c", CLUSTER],
            env=quiet,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        lines = (line.strip() for line in process.stdout)
        address = next((line for line in lines if re.fullmatch(r"[\d.]+:\d+", line)), None)
        if address is not None:
            break
        process.wait()
    else:
        pytest.fail("no cluster of Ray could be started on this machine")
    try:
        yield address
    finally:
        process.communicate("\n", timeout=300)


def test_a_cluster_that_is_there_is_used(tmp_path: Path, environment: dict[str, str], cluster: str) -> None:
    source, target = folder(tmp_path), tmp_path / "out"
    told, err = ended(start(environment, source, target, "--address", cluster))
    assert told["pools"] == 180 and err == ""
    same(source, target, Scorer(RANKER), scoring.SHARD)
    _, err = ended(start(environment, source / "b.jsonl", tmp_path / "b.parquet", "--address", cluster))
    assert err == "" and (tmp_path / "b.parquet").read_bytes() == (target / "b.parquet").read_bytes()
    _, err = ended(start(environment, source, tmp_path / "2", "--address", cluster, "--workers", 9), code=2)
    assert "9 workers need as many cores, and Ray has 2; ask for fewer with --workers" in err


def test_a_cluster_that_is_not_there_is_one_line(tmp_path: Path, environment: dict[str, str]) -> None:
    source = folder(tmp_path)
    _, err = ended(start(environment, source, tmp_path / "out", "--address", "127.0.0.1:1"), code=2)
    assert err.startswith("demur: there is no Ray cluster at 127.0.0.1:1") and err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "plugin"]


BREAKS = """
from demur.errors import DemurError
from demur.scale.on_ray import OnRay
from demur.scale.recipe import Recipe

def breaks(row):
    raise LookupError("nothing there")

with OnRay(Recipe("bm25"), workers=1) as engine:
    engine._begin()
    try:
        list(engine._outcomes(engine.ray.data.range(1).map(breaks)))
    except DemurError as error:
        said = str(error)
print(said)
"""


def test_what_ray_raises_is_one_line(environment: dict[str, str]) -> None:
    words = [sys.executable, "-c", BREAKS]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.startswith("Ray stopped the job (") and done.stdout.count("\n") == 1, done.stdout
    assert "LookupError: nothing there" in done.stdout and "run the same again to resume" in done.stdout
