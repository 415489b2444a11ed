"""BERT with one output as an ONNX graph that does no more than a score needs.

All pairs of a batch are of one length, so there is no padding and no mask. Of the last layer only the first
token is asked for: its query goes to the tokens themselves, and neither their keys nor values are made.
A softmax is divided by a sum that a product makes, as products come out the same to the last bit on all
processors with AVX2; onnxruntime's own Softmax adds in another order on each.
In bytes, the few channels of a layer's middle that grow large are left as floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from demur.export.graph import MICROSOFT, Array, Graph, Range

if TYPE_CHECKING:
    import torch

INPUTS = ("input_ids", "token_type_ids")
FLOAT = 1  # ONNX's number of float32
_LARGE = 24  # one channel of so many stays a float


def is_bert(network: torch.nn.Module) -> bool:
    """Whether the graph below is this network's."""
    config: Any = network.config
    known = type(network).__name__ == "BertForSequenceClassification" and config.num_labels == 1
    kind = getattr(config, "position_embedding_type", None) or "absolute"
    return known and config.hidden_act == "gelu" and kind == "absolute"


def graph(network: torch.nn.Module, seen: Mapping[str, Range] | None = None) -> Graph:
    """The graph of a network, in bytes where `seen` holds what calibration met."""
    config: Any = network.config
    weights = {name: value.detach().float().cpu().numpy() for name, value in network.state_dict().items()}
    return _Bert.built(Graph(seen or {}), weights, config)


@dataclass
class _Bert:
    graph: Graph
    weights: Mapping[str, Array]
    width: int
    heads: int
    epsilon: float

    @classmethod
    def built(cls, graph: Graph, weights: Mapping[str, Array], config: Any) -> Graph:
        """The graph with all nodes of a network of these weights."""
        made = cls(graph, weights, config.hidden_size, config.num_attention_heads, config.layer_norm_eps)
        made.build(config.num_hidden_layers)
        return graph

    def build(self, layers: int) -> None:
        """Shapes are pairs × tokens × width, or rows × width where a product follows."""
        g = self.graph
        self.shapes()
        x = g.add("Reshape", self._embedded(), self.rows)
        for number in range(layers):
            place = f"bert.encoder.layer.{number}"
            last = number == layers - 1
            rest, context = self._first(x, place) if last else (x, self._attended(x, place))
            context = self._dense(context, f"{place}.attention.output.dense")
            x = self._norm(g.add("Add", rest, context), f"{place}.attention.output")
            x = self._norm(g.add("Add", x, self._middle(x, place)), f"{place}.output")
        if "bert.pooler.dense.weight" in self.weights:  # else the head reads the first token itself
            x = g.add("Tanh", g.floats(x, *self._both("bert.pooler.dense")))
        x = g.floats(x, *self._both("classifier"))
        g.add("Reshape", x, g.whole(-1), name="score")

    def shapes(self) -> None:
        """Make what names the shapes of a batch."""
        g = self.graph
        self.rows = g.whole(-1, self.width)
        self.size = g.add("Shape", INPUTS[0])
        self.batch = g.add("Concat", self.size, g.whole(self.width), axis=0)
        self.split = g.add("Concat", self.size, g.whole(self.heads, -1), axis=0)

    def _embedded(self) -> str:
        g = self.graph
        words, places, kinds = (
            self.weights[f"bert.embeddings.{name}_embeddings.weight"]
            for name in ("word", "position", "token_type")
        )
        found = self._small(words) if g.seen else g.add("Gather", g.constant(words), INPUTS[0])
        length = g.add("Shape", INPUTS[0], start=1, end=2)
        place = g.add("Slice", g.half(places), g.whole(0), length, g.whole(0))
        kind = g.add("Gather", g.constant(kinds), INPUTS[1])
        return self._norm(g.add("Add", g.add("Add", found, place), kind), "bert.embeddings")

    def _small(self, words: Array) -> str:
        """The vectors of a batch's words from half the size, exact to the fourth digit."""
        g = self.graph
        return g.add("Cast", g.add("Gather", g.constant(words.astype(np.float16)), INPUTS[0]), to=FLOAT)

    def _attended(self, x: str, place: str) -> str:
        """What each token gathers from all tokens: rows × width."""
        g = self.graph
        names = [f"{place}.attention.self.{name}" for name in ("query", "key", "value")]
        weights, biases = zip(*(self._both(name) for name in names), strict=True)
        summing = with_one(weights[2], biases[2], self.heads)
        found = g.dense(x, names[0], [*weights[:2], summing[0]], [*biases[:2], summing[1]])
        return self.gathered(*found)

    def gathered(self, query: str, key: str, value: str) -> str:
        """Attention of rows × width; values have a 1 behind what each head has of them."""
        g, each = self.graph, self.width // self.heads
        by_head: dict[str, Any] = {"perm": [0, 2, 1, 3]}  # pairs × heads × tokens × …, and back
        parts = [g.add("Reshape", rows, self.split) for rows in (query, key, value)]
        query, key, value = (g.add("Transpose", part, **by_head) for part in parts)
        root = float(np.sqrt(each))
        alike = g.add("FusedMatMul", query, key, domain=MICROSOFT, transB=1, alpha=1 / root)
        found = self._mean(g.add("MatMul", self._shares(alike), value), each)
        return g.add("Reshape", g.add("Transpose", found, **by_head), self.rows)

    def _shares(self, alike: str) -> str:
        """What a softmax has above its fraction bar."""
        g = self.graph
        most = g.add("ReduceMax", alike, g.whole(-1), keepdims=1)
        return g.add("Exp", g.add("Sub", alike, most))

    def _mean(self, summed: str, width: int) -> str:
        """Sums divided by the last of them, which is that of the shares."""
        g = self.graph
        zero, end, after, axis = (g.whole(each) for each in (0, width, width + 1, -1))
        sums, shares = g.add("Slice", summed, zero, end, axis), g.add("Slice", summed, end, after, axis)
        return g.add("Div", sums, shares)

    def _first(self, x: str, place: str) -> tuple[str, str]:
        """The first tokens, and what they gather from all: pairs × width both.

        q·(Kx) is (K'q)·x, a key's bias is the same for all tokens, and shares add up to one.
        """
        g, heads, each = self.graph, self.heads, self.width // self.heads
        tokens = g.add("Reshape", x, self.batch)
        first = g.add("Gather", tokens, g.constant(np.int64(0)), axis=1)
        weight, bias = self._both(f"{place}.attention.self.query")
        root = np.float32(np.sqrt(each))
        query = g.dense(first, f"{place}.attention.self.query", [weight / root], [bias / root])[0]
        by_head: dict[str, Any] = {"perm": [1, 0, 2]}  # heads × pairs × …, and back
        query = g.add("Transpose", g.add("Reshape", query, g.whole(-1, heads, each)), **by_head)
        key = self._both(f"{place}.attention.self.key")[0].reshape(heads, each, self.width)
        asked = g.add("Transpose", g.add("MatMul", query, g.constant(key)), **by_head)
        alike = g.add("FusedMatMul", asked, tokens, domain=MICROSOFT, transB=1)  # pairs × heads × tokens
        one = g.add(
            "Expand", g.constant(np.ones(1, np.float32)), g.add("Concat", self.size, g.whole(1), axis=0)
        )
        beside = g.add("Concat", tokens, one, axis=2)
        taken = self._mean(g.add("MatMul", self._shares(alike), beside), self.width)  # pairs × heads × width
        value, bias = self._both(f"{place}.attention.self.value")
        value = value.reshape(heads, each, self.width).transpose(0, 2, 1)
        found = g.add("MatMul", g.add("Transpose", taken, **by_head), g.constant(value))
        found = g.add("Reshape", g.add("Transpose", found, **by_head), self.rows)
        return first, g.add("Add", found, g.constant(bias))

    def _middle(self, x: str, place: str) -> str:
        """The wide layer between two norms: rows × width."""
        g, after = self.graph, f"{place}.output.dense"
        first, first_bias = self._both(f"{place}.intermediate.dense")
        second, second_bias = self._both(after)
        if after not in g.seen:
            wide = self._gelu(g.dense(x, f"{place}.intermediate.dense", [first], [first_bias])[0])
            return g.dense(wide, after, [second], [second_bias])[0]
        seen = g.seen[after]
        order = np.argsort(-seen.high, kind="stable")
        count = max(1, len(order) // _LARGE)
        large, rest = np.sort(order[:count]), np.sort(order[count:])
        few = self._gelu(g.floats(x, first[large], first_bias[large]))
        many = g.dense(x, f"{place}.intermediate.dense", [first[rest]], [first_bias[rest]])[0]
        found = g.uneven(self._gelu(many), seen[rest], second[:, rest], second_bias)
        return g.floats(few, second[:, large], found)

    def _gelu(self, x: str) -> str:
        return self.graph.add("Gelu", x, domain=MICROSOFT)

    def _dense(self, x: str, name: str) -> str:
        weight, bias = self._both(name)
        return self.graph.dense(x, name, [weight], [bias])[0]

    def _norm(self, x: str, name: str) -> str:
        scale, shift = (self.graph.constant(each) for each in self._both(f"{name}.LayerNorm"))
        return self.graph.add("LayerNormalization", x, scale, shift, axis=-1, epsilon=self.epsilon)

    def _both(self, name: str) -> tuple[Array, Array]:
        return self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]


def with_one(weight: Array, bias: Array, heads: int) -> tuple[Array, Array]:
    """A layer that puts a 1 behind what each head has of it."""
    rows = np.pad(weight.reshape(heads, -1, weight.shape[1]), ((0, 0), (0, 1), (0, 0)))
    ones = np.pad(bias.reshape(heads, -1), ((0, 0), (0, 1)), constant_values=1)
    return rows.reshape(-1, weight.shape[1]), ones.reshape(-1)
