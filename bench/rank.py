"""Cross-encoders on a CPU: ours beside sentence-transformers, plain onnxruntime, fastembed and FlashRank.

All score the same pairs with the same weights, on two threads, in turn. `DEMUR_MODEL` names the folder of a
cross-encoder; without it one of MiniLM's size is made up. Peers that are not installed are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import demur
from bench.common import Row, faster, seconds_once, sentences, told
from demur import data
from demur.embedders.encoders.loading import quietly
from demur.export import torch_graph
from demur.export.export import export
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.types import Pool

PAIRS, THREADS, TURNS, LENGTH = 1500, 2, 2, 128
Score = Callable[[], object]


def pools() -> list[Pool]:
    """The first pools of SelQA's dev set, or made-up ones of about their size."""
    if not os.environ.get("DEMUR_DATA"):
        texts = sentences(PAIRS, 22)
        return [Pool.of(texts[at][:50], texts[at : at + 10], id=str(at)) for at in range(0, PAIRS, 10)]
    found: list[Pool] = []
    for pool in data.stream("selqa/dev"):
        found.append(pool)
        if sum(map(len, found)) >= PAIRS:
            break
    return found


def model(folder: Path) -> str:
    """The folder of the cross-encoder."""
    if os.environ.get("DEMUR_MODEL"):
        return os.environ["DEMUR_MODEL"]
    from demur.embedders.encoders.loading import located

    CrossEncoder(model=str(located("minilm"))).save(folder / "model")
    return str(folder / "model")


def run() -> list[Row]:
    """All rows."""
    import torch

    torch.set_num_threads(THREADS)
    some = pools()
    pairs = [(pool.question, answer) for pool in some for answer in pool.answers]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        named = model(folder)
        network = demur.ranker(named)
        assert isinstance(network, CrossEncoder)
        for precision in ("int8", "fp32"):
            export(network, folder / precision, precision)
        int8, fp32 = (demur.ranker(folder / each, threads=THREADS) for each in ("int8", "fp32"))
        skipped: list[Row] = []
        scorers: dict[str, Score] = {
            "ours int8": lambda: int8.score_pools(some),
            "ours fp32": lambda: fp32.score_pools(some),
        }
        plain_files(network, folder)
        for make in (_sentence_transformers, _ort, _fastembed, _flashrank):
            try:
                scorers |= make(folder, named, some, pairs)
            except ImportError as error:
                skipped.append(told(make.__name__[1:], f"skipped: {error.name} is not installed"))
        return _rows(scorers, len(pairs)) + skipped


def _rows(scorers: dict[str, Score], pairs: int) -> list[Row]:
    times: dict[str, list[float]] = {name: [] for name in scorers}
    scorers["ours int8"]()
    for _ in range(TURNS):
        for name, score in scorers.items():
            times[name].append(seconds_once(score))
    rows = []
    goals = {"sentence-transformers predict": 4.5, "fastembed int8": 2.0, "FlashRank int8": 2.0}
    for name, found in times.items():
        speed = f"{name}: {pairs / statistics.median(found):.0f} pairs a second"
        both = zip(found, times["ours int8"], strict=True)
        ratio = statistics.median(theirs / ours for theirs, ours in both)
        if name in goals:
            rows.append(faster(f"{speed}; ours int8 against it", ratio, goals[name]))
        else:
            rows.append(told(f"{speed}; ours int8 against it", f"{ratio:.1f}x"))
    return rows


def plain_files(network: CrossEncoder, folder: Path) -> None:
    """What the peers read: torch's export, and onnxruntime's dynamic bytes of it, with a tokenizer."""
    import onnx

    loaded, tokenizer = network.fresh()
    net: Any = loaded
    for precision in ("fp32", "int8"):
        place = folder / "peers" / precision
        place.mkdir(parents=True)
        with quietly():
            tokenizer.save_pretrained(place)
            net.config.save_pretrained(place)
        tokens = {
            f"{kind}_token": getattr(tokenizer, f"{kind}_token") for kind in ("cls", "sep", "pad", "unk")
        }
        (place / "special_tokens_map.json").write_text(json.dumps(tokens))
        facts = json.loads((place / "tokenizer_config.json").read_text())
        facts["model_max_length"] = LENGTH
        (place / "tokenizer_config.json").write_text(json.dumps(facts))
        if precision == "fp32":
            torch_graph.write_graph(
                net, ["input_ids", "attention_mask", "token_type_ids"], place / "model.onnx"
            )
            made = onnx.load(place / "model.onnx")  # peers look for pairs × 1
            made.graph.node.append(onnx.helper.make_node("Unsqueeze", ["score", "one"], ["logits"]))
            made.graph.initializer.append(onnx.numpy_helper.from_array(np.array([1]), "one"))
            del made.graph.output[:]
            kind = onnx.TensorProto.FLOAT
            made.graph.output.append(onnx.helper.make_tensor_value_info("logits", kind, ["pairs", 1]))
            onnx.save(made, place / "model.onnx")
        else:
            shutil.copy(folder / "peers" / "fp32" / "model.onnx", place / "model.onnx")
            torch_graph.to_bytes(place / "model.onnx")


def _sentence_transformers(
    folder: Path, named: str, some: list[Pool], pairs: list[tuple[str, str]]
) -> dict[str, Score]:
    with quietly():
        from sentence_transformers import CrossEncoder as Theirs

        net = Theirs(named, device="cpu", max_length=LENGTH)
    return {
        "sentence-transformers predict": lambda: net.predict(pairs, batch_size=32, show_progress_bar=False),
        "sentence-transformers rank": lambda: [
            net.rank(pool.question, list(pool.answers), show_progress_bar=False) for pool in some
        ],
    }


def _ort(folder: Path, named: str, some: list[Pool], pairs: list[tuple[str, str]]) -> dict[str, Score]:
    """Plain onnxruntime as many write it: sorted by length, 32 at a time, padded."""
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "peers" / "fp32" / "tokenizer.json"))
    tokenizer.enable_truncation(LENGTH)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS

    def scorer(precision: str) -> Score:
        file = str(folder / "peers" / precision / "model.onnx")
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])

        def score() -> None:
            order = sorted(pairs, key=lambda pair: -len(pair[0]) - len(pair[1]))
            for at in range(0, len(order), 32):
                batch = tokenizer.encode_batch(order[at : at + 32])
                given = {
                    "input_ids": np.array([each.ids for each in batch]),
                    "attention_mask": np.array([each.attention_mask for each in batch]),
                    "token_type_ids": np.array([each.type_ids for each in batch]),
                }
                session.run(None, given)

        return score

    return {f"plain onnxruntime {precision}": scorer(precision) for precision in ("fp32", "int8")}


def _fastembed(folder: Path, named: str, some: list[Pool], pairs: list[tuple[str, str]]) -> dict[str, Score]:
    encoders: Any = import_module("fastembed.rerank.cross_encoder").TextCrossEncoder
    source: Any = import_module("fastembed.common.model_description").ModelSource
    found: dict[str, Score] = {}
    for precision in ("fp32", "int8"):
        encoders.add_custom_model(f"demur/{precision}", source(hf="demur/none"), model_file="model.onnx")
        path = str(folder / "peers" / precision)
        net = encoders(f"demur/{precision}", specific_model_path=path, threads=THREADS)
        found[f"fastembed {precision}"] = lambda net=net: list(net.rerank_pairs(pairs, batch_size=32))  # type: ignore[misc]
    return found


def _flashrank(folder: Path, named: str, some: list[Pool], pairs: list[tuple[str, str]]) -> dict[str, Score]:
    flashrank: Any = import_module("flashrank")
    files = import_module("flashrank.Config").model_file_map
    name = "ms-marco-MiniLM-L-12-v2"
    place = folder / "flashrank" / name
    shutil.copytree(folder / "peers" / "int8", place)
    (place / "model.onnx").rename(place / files[name])
    net = flashrank.Ranker(name, str(place.parent), max_length=LENGTH, log_level="ERROR")

    def score() -> None:
        for pool in some:
            passages = [{"id": number, "text": text} for number, text in enumerate(pool.answers)]
            net.rerank(flashrank.RerankRequest(query=pool.question, passages=passages))

    return {"FlashRank int8": score}
