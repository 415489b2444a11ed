"""What Ray costs on one machine: a folder scored by one process, and by one and two workers of Ray.

Run alone, as `make bench-scale`. Each is run at two sizes, which tells what is paid once from what each pair
costs. What a billion pairs would take is reckoned from that and has not been run.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.common import Row, seconds_once, told
from bench.memory import IN_POOL, write

FILES = 8
SIZES = {"bm25": (100_000, 1_000_000), "mini": (2_000, 12_000)}
WAYS = {"demur score": (), "Ray, 1 worker": ("--workers", "1"), "Ray, 2 workers": ("--workers", "2")}
BILLION = 1_000_000_000


def folder(place: Path, pairs: int) -> Path:
    """A folder with so many pairs in some files."""
    made = place / str(pairs)
    made.mkdir()
    for number in range(FILES):
        write(made / f"{number}.jsonl", pairs // FILES // IN_POOL * IN_POOL)
    return made


def scored(source: Path, ranker: str, more: tuple[str, ...]) -> float:
    """Seconds that the whole command took."""
    with tempfile.TemporaryDirectory() as place:
        words = ["score", str(source), "-o", f"{place}/out", "--ranker", ranker]
        command = [sys.executable, "-m", "demur", *words, *(("--engine", "ray", *more) if more else ())]
        return seconds_once(lambda: subprocess.run(command, check=True, capture_output=True))


def run(share: float = 1.0) -> list[Row]:
    """Rows for each ranker and each way, of this share of the pairs."""
    rows: list[Row] = []
    ways = WAYS if importlib.util.find_spec("ray") else {"demur score": ()}
    with tempfile.TemporaryDirectory() as place:
        for ranker, sizes in SIZES.items():
            small, large = (folder(Path(place), int(size * share)) for size in sizes)
            few, many = (int(each.name) for each in (small, large))
            for way, more in ways.items():
                short, long = scored(small, ranker, more), scored(large, ranker, more)
                rate = (many - few) / max(long - short, 1e-9)
                fixed = max(short - few / rate, 0.0)
                what = f"{way}, {ranker}, {many:,} pairs in {FILES} files"
                found = f"{long:.1f} s: {fixed:.1f} s once, then {rate:,.0f} pairs/s"
                rows.append(told(what, found))
                if way == "Ray, 1 worker":
                    hours = BILLION / rate / 3600
                    rows.append(
                        told(f"10⁹ such pairs by {ranker}, on paper", f"{hours:,.0f} hours of a core")
                    )
            for each in (small, large):
                for path in each.iterdir():
                    path.unlink()
                each.rmdir()
    return rows


if __name__ == "__main__":
    for row in run(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0):
        print(row["what"], row["found"], flush=True)
