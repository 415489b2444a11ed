"""Puts the weights of a packaged mini back into a network that can go on learning.

    python -m tools.unpack_mini build/mini-network

So a new mini need not learn again, in hours, what the last one knows. Weights come out as the bytes say them,
which is near enough: the scores of both agree, and the report says how well.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx.numpy_helper import to_array

from demur.embedders.encoders.loading import MINILM, located
from demur.export.graph import Array
from demur.nets.readers.mini import _QUICKER, Mini
from demur.rankers import opening
from demur.rankers.cross_encoders.onnx import MODEL
from demur.reading.readers import mini as packaged
from demur.reading.readers.mini_torch import MiniTorch
from demur.types import Pool

_ASKED = "Which of the ships came home in spring?"
_PASSAGES = ("The Ada came home in May, and no other ship did.", "It rained all day.", "Ships are boats.")


def weights_of(model: Any) -> dict[str, Array]:
    """The weights of the network that this file was made from, by the names that torch gives them."""
    constants = {each.name: to_array(each) for each in model.graph.initializer}
    nodes = list(model.graph.node)
    by_output = {node.output[0]: node for node in nodes}

    def kind(op: str) -> Iterator[Any]:
        return (node for node in nodes if node.op_type == op)

    def held(name: str) -> Array:
        """A constant, perhaps one that the graph makes a float of first."""
        found = constants[name] if name in constants else constants[by_output[name].input[0]]
        return found.astype(np.float32)

    def dense(node: Any) -> tuple[Array, Array]:
        whole, steps, bias = (constants[node.input[at]] for at in (1, 3, 6))
        weight = whole.T.astype(np.float32) * steps[:, None]
        before = by_output[by_output[node.input[0]].input[0]]  # of the bytes: what evens channels, if any
        if before.op_type == "Mul":
            weight = weight * constants[before.input[1]]
        return weight, bias.astype(np.float32)

    found: dict[str, Array] = {}

    def put(name: str, weight: Array, bias: Array) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = weight, bias

    norms = [(constants[node.input[1]], constants[node.input[2]]) for node in kind("LayerNormalization")]
    products, gemms = [dense(node) for node in kind("MatMulIntegerToFloat")], list(kind("Gemm"))
    layers = len(products) // 6
    width = len(norms[0][0])
    words, scale = [constants[node.input[0]] for node in kind("Gather") if node.input[0] in constants][:2]
    kinds = next(constants[n.input[0]] for n in kind("Gather") if n.input[1] == "token_type_ids")
    places = next(held(node.input[0]) for node in kind("Slice") if held_is(node, constants, by_output))
    put("bert.embeddings.LayerNorm", *norms[0])
    for name, array in (("word", words.astype(np.float32) * scale), ("position", places)):
        found[f"bert.embeddings.{name}_embeddings.weight"] = array
    found["bert.embeddings.token_type_embeddings.weight"] = kinds
    for number in range(layers):
        place = f"bert.encoder.layer.{number}"
        query, key, value, out, wide, back = products[6 * number : 6 * number + 6]
        put(f"{place}.attention.self.query", *query)
        put(f"{place}.attention.self.key", *key)
        heads = len(value[1]) - width  # behind each head's values stands a 1
        keep = np.arange(len(value[1])) % (width // heads + 1) < width // heads
        put(f"{place}.attention.self.value", value[0][keep], value[1][keep])
        put(f"{place}.attention.output.dense", *out)
        first, second = gemms[2 * number : 2 * number + 2]  # the few channels that stay floats
        put(
            f"{place}.intermediate.dense",
            np.concatenate([held(first.input[1]), wide[0]]),
            np.concatenate([held(first.input[2]), wide[1]]),
        )
        put(f"{place}.output.dense", np.concatenate([held(second.input[1]), back[0]], 1), back[1])
        put(f"{place}.attention.output.LayerNorm", *norms[1 + 2 * number])
        put(f"{place}.output.LayerNorm", *norms[2 + 2 * number])
    span, pooled, score = gemms[2 * layers :]
    put("span", held(span.input[1]), held(span.input[2]))
    put("bert.pooler.dense", held(pooled.input[1]), held(pooled.input[2]))
    put("classifier", held(score.input[1]), held(score.input[2]))
    probes = [constants[n.input[1]] for n in kind("MatMul") if n.input[1] in constants]
    found["probes"] = np.stack(probes) / _QUICKER
    return found


def held_is(node: Any, constants: dict[str, Array], by_output: dict[str, Any]) -> bool:
    """Whether a slice is of a constant, as that of the positions is."""
    source = node.input[0]
    return source in constants or (source in by_output and by_output[source].input[0] in constants)


def network(folder: Path, base: str = "") -> MiniTorch:
    """The packaged mini of a folder as a network of torch, shaped as MiniLM or as another base."""
    weights = weights_of(onnx.load(folder / MODEL))
    was = opening.open_model(folder)
    assert isinstance(was, packaged.Mini)
    begun = MiniTorch(
        model=base or str(located(MINILM)), precision="fp32", max_length=was.max_length, stride=was.stride
    )
    made, tokenizer = begun.fresh()
    assert isinstance(made, Mini)
    own = ("span.", "probes")
    named = {(name if name.startswith(own) else f"scorer.{name}"): array for name, array in weights.items()}
    state = made.state_dict()
    for name, array in named.items():
        if state[name].shape != array.shape:
            raise SystemExit(f"{name} is {array.shape}, not {tuple(state[name].shape)}")
        state[name] = torch.from_numpy(np.array(array, np.float32))
    made.load_state_dict(state)
    return begun.holding(made, tokenizer)


def main() -> None:
    """Do it, and say how near both are."""
    said = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    said.add_argument("output", type=Path)
    said.add_argument("--mini", type=Path, default=packaged.PACKAGED, help="the folder of the packaged one")
    asked = said.parse_args()
    made = network(asked.mini)
    pool = Pool.of(_ASKED, _PASSAGES)
    ours = made.score_pools([pool])[0]
    theirs = packaged.Mini(folder=str(asked.mini)).score_pools([pool])[0]
    print(f"scores {ours.round(2)} for {theirs.round(2)}", file=sys.stderr)
    opening.save(made, asked.output, {"from": packaged.Mini(folder=str(asked.mini)).fingerprint})


if __name__ == "__main__":
    main()
