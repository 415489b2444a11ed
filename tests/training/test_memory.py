"""Training takes no more memory the longer it lasts, though every batch has another shape.

Torch keeps a kernel for each shape in two caches, which `demur.processor` bounds, and the allocator keeps
what was freed, which training gives back. Without either the cross-encoder fails here on some processors:
after 300 steps it has an eighth to a fifth more than after 100.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demur import processor
from demur.training import trainer
from demur.training.loop.fitting import Schedule
from demur.types import Candidate, Pool
from laws import toys

LOOKED_AT = 100, 300  # after how many steps
STATUS = Path("/proc/self/status")


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.is_file(), reason="this system does not tell what is resident")
@pytest.mark.parametrize("name", ["cross-encoder", "span-reader"])
def test_after_300_steps_there_is_hardly_more_in_memory_than_after_100(name: str) -> None:
    plain = {key: value for key, value in os.environ.items() if key not in processor.KERNELS}
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    env = {**plain, "OMP_NUM_THREADS": "1", "PYTHONPATH": paths}
    command = [sys.executable, "-W", "ignore", "-m", "training.test_memory", name]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    before, after = map(int, done.stdout.split())
    assert 0 < after < 1.1 * before


def resident() -> int:
    """Kilobytes of memory that this process has."""
    found = re.search(r"VmRSS:\s+(\d+)", STATUS.read_text("utf-8"))
    assert found
    return int(found[1])


def base(folder: str) -> str:
    """An encoder of four layers, each 128 wide, that has learnt nothing."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    from demur.embedders.encoders.loading import quietly

    with quietly():
        tokenizer = AutoTokenizer.from_pretrained(toys.bert())
        sizes = {"vocab_size": len(tokenizer), "hidden_size": 128, "intermediate_size": 512}
        config = BertConfig(num_hidden_layers=4, num_attention_heads=4, **sizes)
        BertModel(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


def pools(name: str) -> list[Pool]:
    """Questions with texts of many lengths: two to six each, or a passage to read."""
    draws = np.random.default_rng(0)

    def text() -> str:
        return " ".join(draws.choice(toys.WORDS[:5], int(draws.integers(2, 100))))

    if name == "span-reader":
        extra = {"answers": [{"text": "cape", "answer_start": 0}]}
        read = [(Candidate("0", f"cape {text()}", 1),) for _ in range(1300)]
        return [Pool(str(number), "ship?", passage, extra) for number, passage in enumerate(read)]
    sizes = draws.integers(2, 7, 1300).tolist()
    return [
        Pool.of("ship?", [text() for _ in range(size)], [1] + [0] * (size - 1), id=str(number))
        for number, size in enumerate(sizes)
    ]


def main(name: str) -> None:
    """Train in half precision where this processor has it, and print what was resident then and then."""
    import torch

    class Enough(Exception):
        pass

    rate, steps = Schedule.rate, LOOKED_AT[-1]

    def looking(self: Schedule, step: int, among: int) -> float:
        if step in LOOKED_AT:
            sys.stdout.write(f"{resident()}\n")
        if step == steps:
            raise Enough
        return rate(self, step, among)

    setattr(Schedule, "rate", looking)  # noqa: B010  # it is asked before each step
    half = torch.ops.mkldnn._is_mkldnn_bf16_supported()
    more: dict[str, Any] = {"negatives": 9} if name == "cross-encoder" else {}
    with tempfile.TemporaryDirectory() as folder:
        by = trainer(
            name, base=base(folder), tokens=1024, epochs=9, precision="bf16" if half else "fp32", **more
        )
        try:
            by.train(pools(name))
        except Enough:
            return
    raise AssertionError("there were too few steps")


if __name__ == "__main__":
    main(sys.argv[1])
