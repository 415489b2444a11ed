"""An ONNX graph as it grows: nodes, constants, and matrix products of floats or of bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demur.errors import require

Array = NDArray[Any]
OPSET, IR = 23, 10
MICROSOFT = "com.microsoft"  # onnxruntime's own operators
_SMOOTH = 0.75
LARGEST = 128
"""The most that two neighbours of a weight may come to: without VNNI both products are added in 16 bits."""


def in_bytes(weight: Array) -> tuple[Array, Array]:
    """The step of each row, and the row in whole steps, no two neighbours of one sign above `LARGEST`.

    So products with 0 … 255 never overflow, whichever kernel a runtime takes; see decision 024.
    """
    largest = np.abs(weight).max(axis=1)
    signed = np.stack([weight, -weight]).clip(0)
    signed = np.pad(signed, ((0, 0), (0, 0), (0, weight.shape[1] % 2)))
    both = (signed[..., ::2] + signed[..., 1::2]).max(axis=(0, 2))
    steps = np.maximum(largest / 127, both / (LARGEST - 1))  # rounding may add one
    steps = np.maximum(steps, 1e-9).astype(np.float32)
    return steps, np.round(weight / steps[:, None]).astype(np.int8)


@dataclass(frozen=True)
class Range:
    """The lowest and the highest number that calibration met at a place, channel by channel."""

    low: Array
    high: Array

    def __or__(self, other: Range) -> Range:
        return Range(np.minimum(self.low, other.low), np.maximum(self.high, other.high))

    def __getitem__(self, channels: Array) -> Range:
        return Range(self.low[channels], self.high[channels])


@dataclass
class Graph:
    """What was added so far. Where `seen` knows a place, products there are of bytes, else of floats."""

    seen: Mapping[str, Range] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)  # what goes into products, by place
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    numbers: dict[tuple[int, ...], str] = field(default_factory=dict)

    def add(self, op: str, *inputs: str, domain: str = "", name: str = "", **settings: Any) -> str:
        """The name of a new node's output."""
        helper = require("onnx.helper", extra="export")
        name = name or f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **settings))
        return name

    def constant(self, array: Any) -> str:
        """The name of a constant."""
        name = f"constant_{len(self.constants)}"
        helper = require("onnx.numpy_helper", extra="export")
        self.constants.append(helper.from_array(np.asarray(array, order="C"), name))
        return name

    def whole(self, *values: int) -> str:
        """The name of a constant of whole numbers; the same ones stand once."""
        if values not in self.numbers:
            self.numbers[values] = self.constant(np.array(values, np.int64))
        return self.numbers[values]

    def half(self, array: Array) -> str:
        """The name of a constant, of which a smaller graph keeps half the digits."""
        return self.constant(array)

    def floats(self, x: str, weight: Array, bias: Array | str) -> str:
        """``x @ weight.T + bias``."""
        bias = bias if isinstance(bias, str) else self.constant(bias)
        return self.add("Gemm", x, self.half(weight), bias, transB=1)

    def dense(self, x: str, place: str, weights: Sequence[Array], biases: Sequence[Array]) -> list[str]:
        """``x @ weight.T + bias`` for each pair of them, at a place that calibration watches."""
        self.places[place] = x
        if place not in self.seen:
            return [self.floats(x, *both) for both in zip(weights, biases, strict=True)]
        return self.evened(x, self.seen[place], weights, biases)

    def evened(self, x: str, seen: Range, weights: Sequence[Array], biases: Sequence[Array]) -> list[str]:
        """The same from bytes: one fixed scale for all of `x`, so that no score depends on its company.

        Channels are evened out first, at the cost of the weights', as SmoothQuant (2022) does.
        """
        largest = np.maximum(np.maximum(-seen.low, seen.high), 1e-5)
        against = np.maximum(np.abs(np.concatenate(list(weights))).max(axis=0), 1e-5)
        even = largest**_SMOOTH / against ** (1 - _SMOOTH)
        even = (even / np.exp(np.log(even).mean())).astype(np.float32)
        x = self.add("Mul", x, self.constant(1 / even))
        return self._bytes(
            x, Range(seen.low / even, seen.high / even), [each * even for each in weights], biases
        )

    def uneven(self, x: str, seen: Range, weight: Array, bias: Array) -> str:
        """The same from bytes, channels left as they are."""
        return self._bytes(x, seen, [weight], [bias])[0]

    def _bytes(self, x: str, seen: Range, weights: Sequence[Array], biases: Sequence[Array]) -> list[str]:
        low, high = min(float(seen.low.min()), 0.0), max(float(seen.high.max()), 0.0)
        step = max(high - low, 1e-6) / 255
        scale, zero = self.constant(np.float32(step)), self.constant(np.uint8(round(-low / step)))
        x = self.add("QuantizeLinear", x, scale, zero)
        found = []
        for weight, bias in zip(weights, biases, strict=True):
            steps, whole = in_bytes(weight)
            rounded = self.constant(whole.T)
            inputs = (x, rounded, scale, self.constant(steps), zero, "", self.constant(bias))
            found.append(self.add("MatMulIntegerToFloat", *inputs, domain=MICROSOFT))
        return found

    def model(self, inputs: Sequence[str], outputs: Sequence[str], facts: Mapping[str, str]) -> bytes:
        """The file; `inputs` are pairs × tokens, of whole numbers."""
        helper, kinds = require("onnx.helper", extra="export"), require("onnx", extra="export").TensorProto
        graph = helper.make_graph(
            self.nodes,
            "demur",
            [helper.make_tensor_value_info(name, kinds.INT64, ["pairs", "tokens"]) for name in inputs],
            [helper.make_tensor_value_info(name, kinds.FLOAT, None) for name in outputs],
            self.constants,
        )
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        made = helper.make_model(graph, opset_imports=sets, ir_version=IR, producer_name="demur")
        helper.set_model_props(made, dict(facts))
        written: bytes = made.SerializeToString()
        return written
