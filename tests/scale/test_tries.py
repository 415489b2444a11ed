"""Workers that die of a row: after three deaths it is left out, and nothing else is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from demur.data import formats
from demur.scale.items import Files, Item, stamp_of
from demur.scale.tries import survived
from demur.scale.work import Outcome, Shard, cut
from demur.scoring import Scorer
from scale.jobs import Dying, made
from scored import RANKER

CHILD = """
import json, os, sys
from demur.scale.items import Item
from demur.scale.tries import survived
from demur.scale.work import cut
from demur.scoring import Scorer
from scale.jobs import Dying
shard = next(cut(Item(**json.loads(sys.argv[1])), 30))
for run in sys.argv[2:]:
    if not (child := os.fork()):
        survived(Scorer(Dying()), shard, run)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


def item(place: Path, *dying: int) -> Item:
    (place / "in").mkdir()
    pools = [replace(pool, question="dies") if n in dying else pool for n, pool in enumerate(made(10))]
    formats.write_pools(place / "in" / "a.jsonl", pools)
    (found,) = Files.of(str(place / "in"), str(place / "out"), None).items
    return found


def shard_of(found: Item) -> Shard:
    return next(cut(found, 30))


def deaths(found: Item, *runs: str) -> list[bool]:
    """Whether a worker dies of the file's first shard, one worker after another."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    words = [sys.executable, "-c", CHILD, json.dumps(asdict(found)), *runs]
    done = subprocess.run(
        words, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and set(done.stdout.split()) <= {"0", "9"}, done.stderr
    return [status == "9" for status in done.stdout.split()]


def test_the_row_is_left_out_after_three_deaths(tmp_path: Path) -> None:
    found = item(tmp_path, 4)
    assert deaths(found, *"rrrr") == [True, True, True, False]
    (told,) = found.bad()
    assert told["row"] == 5 and told["problem"].startswith(
        f"{found.source}:5: three workers died of this row"
    )
    assert "(3 candidates); if it is sound, give workers more memory" in told["problem"]
    sound = [pool for n, pool in enumerate(made(10)) if n != 4]
    written = list(formats.read_pools(found.parts.shard(0), "jsonl"))
    assert written == Scorer(RANKER).pools(sound)
    assert sorted(path.name for path in Path(found.folder).iterdir()) == ["000000.bad.jsonl", "000000.jsonl"]


def test_each_row_that_kills_is_found(tmp_path: Path) -> None:
    found = item(tmp_path, 0, 9)
    assert deaths(found, *"rrrrr") == [True, True, True, True, False]
    assert [told["row"] for told in found.bad()] == [1, 10]


def test_one_death_is_forgiven_and_stopped_runs_do_not_count(tmp_path: Path) -> None:
    found = item(tmp_path, 4)
    assert deaths(found, *"aabbc") == [True] * 5
    found = item_again(found)
    outcome = survived(Scorer(Dying()), shard_of(found), "c")
    assert outcome == Outcome(0, 10, 30) and not found.bad()
    assert survived(Scorer(Dying()), shard_of(found), "d") == Outcome(0, 10, 30, resumed=10)


def test_a_shard_that_kills_without_any_of_its_rows_stops_the_job(tmp_path: Path) -> None:
    found = item(tmp_path)
    Path(found.folder).mkdir(parents=True)
    tries = found.note(0, "tries")
    tries.write_text("r whole 0\nr whole 0\nr last 0\nr last 0\n")
    outcome = survived(Scorer(Dying()), shard_of(found), "r")
    assert outcome.stopped.startswith(f"{found.source}, rows 1 to 10: workers died of these rows together")
    assert "run the same again to resume" in outcome.stopped
    tries.write_text("r whole 0\nr whole 0\n" + "".join(f"r row {n}\n" for n in range(1, 12)))
    found = item_again(found)
    outcome = survived(Scorer(Dying()), shard_of(found), "r")
    assert "workers died of 11 rows here, such as 1" in outcome.stopped


def item_again(found: Item) -> Item:
    formats.write_pools(found.source, made(10))
    return replace(found, stamp=stamp_of(found.source))


@pytest.mark.parametrize("failed", ["broken"])
def test_a_file_that_cannot_be_read_is_no_try(tmp_path: Path, failed: str) -> None:
    found = item(tmp_path)
    assert survived(Scorer(Dying()), Shard(found, 3, (), (), failed), "r") == Outcome(0, failed="broken")
    assert not found.note(3, "tries").exists()
