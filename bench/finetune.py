"""Training of a cross-encoder beside sentence-transformers' own trainer, on the same pairs and threads.

Its trainer needs the packages `datasets` and `accelerate`; without them its rows are left out.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.common import Row, faster, ratio, sentences, told
from demur import data
from demur.embedders.encoders.loading import located, quietly
from demur.training import trainer
from demur.types import Pool

PAIRS, SIZE = 480, 5
WANTED = ("datasets", "accelerate")


def pools() -> list[Pool]:
    """Pools of five labelled answers: of WikiQA, or made up."""
    if os.environ.get("DEMUR_DATA"):
        found = [pool for pool in data.pools("wikiqa/train/clean") if len(pool) >= SIZE]
        cut = [Pool(pool.id, pool.question, _five(pool)) for pool in found]
        return cut[: PAIRS // SIZE]
    texts = sentences(PAIRS + PAIRS // SIZE, 25)
    return [
        Pool.of(texts[n * 6][:40], texts[n * 6 + 1 : n * 6 + 6], [1, 0, 0, 0, 0], id=str(n))
        for n in range(PAIRS // SIZE)
    ]


def _five(pool: Pool) -> tuple[Any, ...]:
    ordered = sorted(pool.candidates, key=lambda one: -(one.label or 0))
    return (*ordered[: SIZE - 1], ordered[-1])


def run() -> list[Row]:
    """All rows."""
    missing = [name for name in WANTED if importlib.util.find_spec(name) is None]
    if missing:
        return [told(f"training beside sentence-transformers: no {', '.join(missing)}", "left out")]
    some = pools()
    ours = _ours(some, freeze=False)
    rows = []
    for precision, goal in (("bf16", 2.0), ("fp32", 0.0)):
        theirs = _theirs(some, precision)
        found, taken = ratio(ours, theirs, turns=3)
        what = f"training, against CrossEncoderTrainer {version('sentence-transformers')} in {precision}"
        rows.append(faster(what, found, goal) if goal else told(what, f"{found:.1f}x"))
        if goal:
            rows.append(told("pairs a second", f"{PAIRS / taken:.0f}"))
    frozen, _ = ratio(_ours(some, freeze=True), ours, turns=3)
    rows.append(told("with word embeddings left as they are, our default", f"{frozen:.2f}x"))
    return rows


def _ours(some: list[Pool], freeze: bool) -> Callable[[], object]:
    words = str(freeze).lower()
    settings = f"loss=pointwise, negatives=9, learning_rate=0.00002, freeze_words={words}, quick=true"
    by = trainer(f"cross-encoder({settings})")
    return lambda: by.train(some)


def _theirs(some: list[Pool], precision: str) -> Callable[[], object]:
    import datasets
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    rows = [(p.question, c.text, float((c.label or 0) > 0)) for p in some for c in p.candidates]
    table = datasets.Dataset.from_dict(
        {
            "question": [q for q, _, _ in rows],
            "answer": [a for _, a, _ in rows],
            "label": [y for *_, y in rows],
        }
    )

    def once() -> None:
        with quietly(), tempfile.TemporaryDirectory() as place:
            model = CrossEncoder(str(located("minilm")), num_labels=1, max_length=128, device="cpu")
            wanted = CrossEncoderTrainingArguments(
                output_dir=str(Path(place)),
                num_train_epochs=1,
                per_device_train_batch_size=32,
                learning_rate=2e-5,
                bf16=precision == "bf16",
                use_cpu=True,
                save_strategy="no",
                logging_strategy="no",
                report_to="none",
                disable_tqdm=True,
            )
            CrossEncoderTrainer(model, wanted, table, loss=BinaryCrossEntropyLoss(model)).train()

    return once
