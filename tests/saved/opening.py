"""What saved things say of a few texts."""

from __future__ import annotations

from pathlib import Path

from demur.doubt import doubt_folder
from demur.rankers import ranker
from demur.reading.opening import reader
from demur.risk import Gate
from demur.types import FloatArray, Pool
from risk import questions

HERE = Path(__file__).parent
POOLS = [
    Pool.of("goat eats", ["daily grass", "likes corn", "wants hay"], [1, 0, 0], id="goat"),
    Pool.of("which ship sailed round the cape?", ["the ship sailed in may", "round the cape"], id="ship"),
    Pool.of("the cape in may", ["nothing", "cafe abc the cape", "never corn"], id="cape"),
]
READ = [
    Pool.of("quest sailed?", [f"the {one} sailed round the {other}"], id=f"{one} {other}")
    for one in ("ship", "cafe", "abc")
    for other in ("cape", "may", "ship")
]


def flat(rows: list[FloatArray]) -> list[float]:
    return [float(value) for row in rows for value in row]


def scores(folder: Path) -> list[float]:
    """What the ranker in a folder says."""
    return flat(ranker(folder).score_pools(POOLS))


def doubted(folder: Path) -> list[float]:
    """How sure the doubt beside a reader is."""
    quoting = reader(folder)
    return flat([doubt_folder.open_doubt(quoting).confidence(quoting, READ)])


def gated(file: Path, of: str | Path) -> list[float]:
    """A gate's threshold, and how sure it is of what its ranker answers."""
    gate = Gate.load(file)
    asked = questions.pools(5, seed=9, name="new")
    return [gate.threshold, *flat([gate.confidence_of(ranker(of), asked)])]
