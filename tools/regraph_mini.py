"""Puts the weights of the packaged model into today's graph (`python -m tools.regraph_mini`).

The bytes stay as training left them. What stands on its scores is made again: confidence, gates and card.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import onnx
from onnx.numpy_helper import from_array, to_array

from demur import store, toml
from demur.export.bert_graph import with_one
from demur.export.graph import Array
from demur.export.mini_graph import _Mini, _Small
from demur.rankers.cross_encoders.onnx import MODEL, TOKENIZER
from demur.reading import confidence
from demur.reading.mini import PACKAGED, Mini
from demur.training.recipes.stages import Recipe
from tools import mini_card
from tools.make_mini import QUESTIONS, RECIPE, gated, held_out

HEADS, EPSILON = 12, 1e-12


def regraph(model: Any) -> int:
    """How many attentions now divide by a sum that a product makes; those that did before are left alone."""
    graph = model.graph
    by_output = {node.output[0]: node for node in graph.node}
    constants = {each.name: each for each in graph.initializer}
    old = [node for node in graph.node if node.op_type == "Attention"]
    if not old:
        return 0
    drawn = _Small(nodes=list(graph.node), constants=list(graph.initializer))
    width = to_array(constants[by_output[by_output[old[0].input[0]].input[0]].input[1]]).shape[1]
    made = _Mini(drawn, {}, width, HEADS, EPSILON)
    made.rows = drawn.whole(-1, width)
    made.shapes()
    order: list[Any] = [*drawn.nodes[len(graph.node) :]]
    gone: set[str] = set()
    instead: dict[str, list[Any]] = {}
    for attention in old:
        shaped = [by_output[name] for name in attention.input[:3]]  # rows as pairs × tokens
        after = next(node for node in graph.node if attention.output[0] in node.input)
        _widen(by_output[shaped[2].input[0]], constants)
        first = len(drawn.nodes)
        made.gathered(*(node.input[0] for node in shaped))
        new = drawn.nodes[first:]
        new[-1].output[0] = after.output[0]
        instead[after.output[0]] = new
        gone |= {node.output[0] for node in (*shaped, attention, after)}
    for node in graph.node:
        order += instead.get(node.output[0], []) if node.output[0] in gone else [node]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(order)
    graph.initializer.extend(drawn.constants)
    return len(old)


def _widen(node: Any, constants: dict[str, Any]) -> None:
    """Let a product in bytes put a 1 behind each head's values."""
    weight, steps, bias = (to_array(constants[node.input[at]]) for at in (1, 3, 6))
    wide, ones = with_one(weight.T, bias, HEADS)
    scales, _ = with_one(steps[:, None], bias, HEADS)
    new: tuple[Array, ...] = (wide.T, scales[:, 0] + (scales[:, 0] == 0).astype(scales.dtype), ones)
    for at, array in zip((1, 3, 6), new, strict=True):
        constants[node.input[at]].CopyFrom(from_array(array.copy(order="C"), node.input[at]))


def main() -> None:
    """Do it, whole or not at all."""
    model = onnx.load(PACKAGED / MODEL)
    if not regraph(model):
        raise SystemExit("the graph is today's already")
    before = store.opened(PACKAGED)
    page = (PACKAGED / "README.md").read_text("utf-8")
    with tempfile.TemporaryDirectory() as beside:
        for name in (TOKENIZER, confidence.FILE):
            shutil.copyfile(PACKAGED / name, Path(beside) / name)
        made = {**before.made, "graph": "today's, by tools.regraph_mini"}
        with store.saving(PACKAGED, before.spec, made) as place:
            onnx.save(model, place / MODEL)
            for name in (TOKENIZER, confidence.FILE):
                shutil.copyfile(Path(beside) / name, place / name)
            (place / "README.md").write_text(page, "utf-8")
    _, proof = held_out(toml.read(Recipe, RECIPE), QUESTIONS)
    gates = gated(Mini(), proof)
    if gates is not None:
        gates.save(PACKAGED)
    gate = None if gates is None else gates.of()
    start, end = page.index("## How well it ranks"), page.index("## Limits")
    text = page[:start] + mini_card.measured(Mini(), gate) + "\n\n" + page[end:]
    (PACKAGED / "README.md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
