"""Mini as an ONNX graph: BERT's with all tokens of the last layer, heads, and a probe of each layer below.

In bytes it is small enough to come with demur: each word's embedding has a scale of its own, and what stays a
float lies in the file with half its digits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.export import bert_graph
from demur.export.bert_graph import FLOAT, INPUTS, _Bert
from demur.export.graph import Array, Graph, Range

if TYPE_CHECKING:
    from demur.nets.readers.mini import Mini


def is_known(network: Mini) -> bool:
    """Whether the graph below is this network's."""
    return bert_graph.is_bert(network.scorer)


def graph(network: Mini, seen: Mapping[str, Range] | None = None) -> Graph:
    """The graph of a network, in bytes where `seen` holds what calibration met."""
    config: Any = network.config
    weights = {
        name.removeprefix("scorer."): value.detach().float().cpu().numpy()
        for name, value in [*network.state_dict().items(), ("probes", network.heads())]
    }
    return _Mini.built(SmallGraph(seen or {}), weights, config)


class SmallGraph(Graph):
    """A graph whose floats have half their digits in the file, if it is one of bytes."""

    def half(self, array: Array) -> str:
        """The name of a constant."""
        if not self.seen:
            return self.constant(array)
        return self.add("Cast", self.constant(array.astype(np.float16)), to=FLOAT)


@dataclass
class _Mini(_Bert):
    def build(self, layers: int) -> None:
        """Shapes are pairs × tokens × width, or rows × width where a product follows."""
        g = self.graph
        self.shapes()
        self.pair = g.add("Concat", self.size, g.whole(2), axis=0)
        x = g.add("Reshape", self._embedded(), self.rows)
        probed = []
        for number in range(layers):
            x = self._layer(x, f"bert.encoder.layer.{number}")
            if number < layers - 1:
                shown = g.add("MatMul", x, g.constant(self.weights["probes"][number]))
                probed.append(g.add("Unsqueeze", self._spans(shown), g.whole(1)))
        weight, bias = self._both("span")
        spans = self._spans(g.add("Gemm", x, g.constant(weight), g.constant(bias), transB=1))
        for name, which in (("start", 0), ("end", 1)):
            g.add("Gather", spans, g.constant(np.int64(which)), axis=1, name=name)
        g.add("Concat", *probed, axis=1, name="layers")
        x = g.add("Gather", g.add("Reshape", x, self.batch), g.constant(np.int64(0)), axis=1)
        x = g.add("Tanh", g.floats(x, *self._both("bert.pooler.dense")))
        g.add("Reshape", g.floats(x, *self._both("classifier")), g.whole(-1), name="score")

    def _layer(self, x: str, place: str) -> str:
        """What comes out of a layer: rows × width."""
        context = self._dense(self._attended(x, place), f"{place}.attention.output.dense")
        x = self._norm(self.graph.add("Add", x, context), f"{place}.attention.output")
        return self._norm(self.graph.add("Add", x, self._middle(x, place)), f"{place}.output")

    def _spans(self, x: str) -> str:
        """Rows × 2 as pairs × 2 × tokens."""
        return self.graph.add("Transpose", self.graph.add("Reshape", x, self.pair), perm=[0, 2, 1])

    def _small(self, words: Array) -> str:
        """The vectors of a batch's words from a byte per number, and one scale for each word."""
        g = self.graph
        scale = (np.maximum(np.abs(words).max(axis=1, keepdims=True), 1e-9) / 127).astype(np.float32)
        rounded = g.constant(np.round(words / scale).astype(np.int8))
        found = g.add("Cast", g.add("Gather", rounded, INPUTS[0]), to=FLOAT)
        return g.add("Mul", found, g.add("Gather", g.constant(scale), INPUTS[0]))
