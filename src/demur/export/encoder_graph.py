"""A sentence encoder as an ONNX graph: mini's without its heads, the vectors of all tokens added up.

The sum is a matrix product, as in attention, so that it is the same on all processors. Whoever runs the graph
divides by the length of the vector, so a mean would come to the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.export.bert_graph import INPUTS
from demur.export.graph import Graph, Range
from demur.export.mini_graph import SmallGraph, _Mini

if TYPE_CHECKING:
    import torch

VECTOR = "vector"


def is_known(network: torch.nn.Module) -> bool:
    """Whether the graph below is this network's."""
    config: Any = network.config
    kind = getattr(config, "position_embedding_type", None) or "absolute"
    return type(network).__name__ == "BertModel" and config.hidden_act == "gelu" and kind == "absolute"


def graph(network: torch.nn.Module, seen: Mapping[str, Range] | None = None) -> Graph:
    """The graph of a network, in bytes where `seen` holds what calibration met."""
    config: Any = network.config
    weights = {
        f"bert.{name}": value.detach().float().cpu().numpy() for name, value in network.state_dict().items()
    }
    return _Encoder.built(SmallGraph(seen or {}), weights, config)


@dataclass
class _Encoder(_Mini):
    def build(self, layers: int) -> None:
        """Shapes are texts × tokens × width, or rows × width where a product follows."""
        g = self.graph
        self.shapes()
        x = g.add("Reshape", self._embedded(), self.rows)
        for number in range(layers):
            x = self._layer(x, f"bert.encoder.layer.{number}")
        tokens = g.add("Slice", self.size, g.whole(1), g.whole(2), g.whole(0))
        shape = g.add("Concat", g.whole(1), tokens, axis=0)
        ones = g.add("Expand", g.constant(np.ones((1, 1), np.float32)), shape)
        summed = g.add("MatMul", ones, g.add("Reshape", x, self.batch))  # texts × 1 × width
        g.add("Reshape", summed, g.whole(-1, self.width), name=VECTOR)


__all__ = ["INPUTS", "VECTOR", "graph", "is_known"]
