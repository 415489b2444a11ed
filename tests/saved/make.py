"""Makes the saved things beside this file, with the code as it is: see README.md before running it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import demur
from demur.doubt import doubt as named_doubt
from demur.doubt import doubt_folder, observe
from demur.export.export import export
from demur.rankers import Ranker, ranker
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.rankers.opening import save
from demur.reading.opening import reader
from demur.reading.readers.mini_torch import MiniTorch
from demur.reading.readers.span_reader import SpanReader
from demur.training import trainer
from golden.trained import taught
from laws import toys
from risk import questions
from saved.opening import READ, doubted, gated, scores
from training import made

MODELS = (*("bidaf", "concat", "cross-encoder", "ensemble", "joint", "mini", "self", "siamese"),)
MATCHING = {
    "match-pyramid": {"filters": 2},
    "deep-matching": {"hidden": 3, "question_words": 5, "answer_words": 6},
    "multihop": {"hidden": 3},
}
RIGHT = np.arange(len(READ)) % 3 > 0


def matching(name: str) -> Ranker:
    """A net that matches words, as small as it can be."""
    vectors = made.words().removeprefix("words(vectors=").removesuffix(")")
    settings: dict[str, Any] = {
        "vectors": vectors,
        "epochs": 1,
        "early": "none",
        "buckets": 9,
        **MATCHING[name],
    }
    return trainer(name, **settings).train(made.pools(10))


def voting() -> Ranker:
    """A committee of two states of a net, made against an adversary."""
    spec = "adversarial(epochs=1, pool=6, shown=2, take=all, early=none)"
    return trainer(spec).train(made.pools(10), start=matching("match-pyramid"))


def make(folder: Path) -> None:
    """Write every saved thing into a folder, and what each says into its scores.json."""
    for name in MODELS:
        save(taught(name), folder / name)
    for name in MATCHING:
        save(matching(name), folder / name)
    save(voting(), folder / "committee")
    export(CrossEncoder(model=toys.classifier()), folder / "onnx", "fp32")
    export(MiniTorch(model=toys.mini()), folder / "onnx-mini", "fp32")
    export(ranker(folder / "match-pyramid"), folder / "onnx-match")
    for page in folder.rglob("README.md"):
        page.unlink()
    many = questions.pools(120, wrong=0.2)
    demur.calibrate("bm25", many, risk=0.4).save(folder / "gate.json")
    demur.calibrate(ranker(folder / "siamese"), many, risk=0.9, qualifier="softmax").save(
        folder / "siamese" / "gate.json"
    )
    gate = folder / "siamese" / "gate.json"  # it is to name no place on this machine
    gate.write_text(gate.read_text("utf-8").replace(str(folder.absolute()), "saved"), "utf-8")
    quoting = reader(SpanReader(model=toys.answerer(), max_length=32, stride=8, threshold=1e6))
    save(quoting, folder / "doubted")
    quoting = reader(folder / "doubted")
    fitted = named_doubt("learned(features='proba; margin')").fit(observe(quoting, READ), RIGHT)
    doubt_folder.save(doubt_folder.TrainedDoubt(fitted), quoting)
    names = [*MODELS, *MATCHING, "committee", "doubted", "onnx", "onnx-mini", "onnx-match"]
    found: dict[str, object] = {name: scores(folder / name) for name in names}
    found["doubt of a reader"] = doubted(folder / "doubted")
    found["gate"] = gated(folder / "gate.json", "bm25")
    found["gate of a model"] = gated(folder / "siamese", folder / "siamese")
    (folder / "scores.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]))
