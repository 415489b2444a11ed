"""Training of a 110M encoder by batches of 3,072 tokens: its memory, and what bounding it costs in time.

Its base is `mpnet`; tools/assemble_mpnet.py puts it together where there is no network. Each training is a
process of its own: as demur does it, and with as many kernels kept as torch and oneDNN keep without demur.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from bench.common import Row, at_most, memory, told
from bench.finetune import SIZE, pools
from demur import processor
from demur.embedders.encoders.loading import kept_model
from demur.training import trainer

TOKENS, PAIRS, TURNS = 3072, 480, 2
MOST = 5.0  # gigabytes
SLOWER = 1.05
USUAL = dict.fromkeys(processor.KERNELS, "1024")
"""What torch and oneDNN keep of their own."""


def run() -> list[Row]:
    """All rows: the highest memory of any turn, and times taken in turn."""
    if not kept_model("mpnet").is_dir():
        return [told("training of 110M: no mpnet, see tools/assemble_mpnet.py", "left out")]
    turns = [(_apart({}), _apart(USUAL)) for _ in range(TURNS)]
    bounded, usual = (max(turn[which][0] for turn in turns) for which in (0, 1))
    slower = sorted(ours[1] / theirs[1] for ours, theirs in turns)[TURNS // 2]
    what = f"110M, batches of {TOKENS:,} tokens"
    return [
        at_most(f"{what}: memory at most", bounded, MOST),
        told(f"{what}: with all kernels kept", f"{usual:.2f} GB"),
        Row(
            what=f"{what}: time, beside that with all kernels kept",
            found=f"{slower:.2f}x",
            goal=f"<= {SLOWER:g}x",
            met=slower <= SLOWER,
        ),
        told(f"{what}: pairs a second", f"{PAIRS / min(turn[0][1] for turn in turns):.1f}"),
    ]


def _apart(kept: dict[str, str]) -> tuple[float, float]:
    """Gigabytes at most, and seconds, of one training in a process of its own."""
    env = {name: value for name, value in os.environ.items() if name not in processor.KERNELS} | kept
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.large"], env=env, stdout=subprocess.PIPE, check=True
    )
    gigabytes, seconds = json.loads(done.stdout.splitlines()[-1])
    return gigabytes, seconds


def measured() -> tuple[float, float]:
    """The same of this process, which is to do nothing else."""
    by = trainer(f"cross-encoder(base=mpnet, loss=pointwise, negatives=9, tokens={TOKENS}, quick=true)")
    some = pools()[: PAIRS // SIZE]
    began = time.perf_counter()
    by.train(some)
    seconds = time.perf_counter() - began
    return memory(), seconds


if __name__ == "__main__":
    print(json.dumps(measured()))
