"""A byte model says the same on older processors: two products, added in 16 bits, never overflow."""

from __future__ import annotations

import ast
import base64
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur import processor, runtime
from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
from demur.reading.readers.mini import PACKAGED
from laws import toys

SOURCE = Path(demur.__file__).parent
TOOLS = SOURCE.parents[1] / "tools"
LARGEST = 32767  # of 16 bits


def test_one_place_opens_sessions() -> None:
    places = [*SOURCE.rglob("*.py"), *TOOLS.rglob("*.py")]
    assert len(places) > 200
    found = {
        path.name
        for path in places
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if "InferenceSession" in (getattr(node, "attr", ""), getattr(node, "id", ""))
    }
    assert found == {"runtime.py"}


def test_sessions_keep_products_exact_where_they_would_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "overflows", lambda: True)
    options = runtime.session(PACKAGED / "model.onnx").get_session_options()
    assert options.get_session_config_entry(runtime.WIDE) == "1"
    monkeypatch.setattr(runtime, "overflows", lambda: False)
    options = runtime.session(PACKAGED / "model.onnx").get_session_options()
    with pytest.raises(
        RuntimeError, match=runtime.WIDE
    ):  # it is not set: it costs time where nothing overflows
        options.get_session_config_entry(runtime.WIDE)


def test_the_trial_would_overflow() -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.load_from_string(base64.b85decode(runtime._PROBE))
    weight, product = model.graph.node
    assert product.op_type == "MatMulIntegerToFloat"
    values = onnx.numpy_helper.to_array(weight.attribute[0].t)
    assert values.dtype == np.int8 and sums(np.full((16, 16), values[0])) > LARGEST
    if "VNNI" in processor.this_processor().features:
        assert not runtime.overflows()


def exported(kind: str, folder: Path) -> Path:
    """A model in bytes by each way that the project can write one."""
    from demur.export.export import export
    from demur.reading.readers.mini_torch import MiniTorch
    from export.test_export import classifier

    network: Any
    if kind == "encoder":
        from demur.embedders.encoders.encoder import Encoder
        from demur.export.encoder import export as export_encoder

        texts = [f"the ship sailed round cape {n}" for n in range(9)]
        export_encoder(Encoder(model=toys.bert("mean_tokens", normalize=True)), folder / "out", texts)
        return folder / "out" / "model.onnx"
    if kind == "mini":
        network = MiniTorch(model=toys.mini())
    else:
        network = CrossEncoder(
            model=toys.classifier() if kind == "bert" else classifier(kind, folder / "net")
        )
    export(network, folder / "out", "int8")
    return folder / "out" / "model.onnx"


def sums(weight: np.ndarray[Any, Any]) -> int:
    """The largest sum of two products of neighbours that such a weight (inputs × outputs) can make."""
    padded = np.pad(weight.astype(np.int64), ((0, len(weight) % 2), (0, 0)))
    both = [np.clip(sign * padded, 0, None) for sign in (1, -1)]
    return int(255 * max((each[::2] + each[1::2]).max() for each in both))


def assert_safe(path: Path) -> None:
    """Check that all products of bytes in a file are safe wherever it is run, and that it says so."""
    onnx = pytest.importorskip("onnx")
    from onnx.numpy_helper import to_array

    model = onnx.load(path)
    constants = {each.name: to_array(each) for each in model.graph.initializer}
    products = [node for node in model.graph.node if node.op_type.startswith("MatMulInteger")]
    others = {
        node.op_type for node in model.graph.node if "Integer" in node.op_type or "QLinear" in node.op_type
    }
    assert others <= {"MatMulInteger", "MatMulIntegerToFloat"}, "the law knows no other product of bytes"
    weights = [constants[node.input[1]] for node in products]
    assert weights and all(each.dtype == np.int8 for each in weights)
    assert max(map(sums, weights)) <= LARGEST
    assert {each.key: each.value for each in model.metadata_props}[runtime.SAFE] == "safe"


@pytest.mark.extras
@pytest.mark.parametrize("kind", ["bert", "mini", "distilbert", "roberta", "encoder"])
def test_exported_files_are_safe_in_any_runtime(kind: str, tmp_path: Path) -> None:
    assert_safe(exported(kind, tmp_path))
    assert sums(np.array([[127], [2]], np.int8)) > LARGEST, "larger ones are told"


@pytest.mark.extras
@pytest.mark.parametrize("name", ["mini", "encoder"])
def test_packaged_files_are_safe_in_any_runtime(name: str) -> None:
    assert_safe(PACKAGED.parent / name / "model.onnx")


@pytest.mark.extras
def test_bytes_come_near_their_weights() -> None:
    from demur.export.graph import in_bytes

    drawn = np.random.default_rng(0)
    for shape in ((3, 1), (8, 7), (64, 384)):
        weight = drawn.standard_t(3, shape).astype(np.float32)
        steps, whole = in_bytes(weight)
        assert np.abs(whole * steps[:, None] - weight).max() <= steps.max() / 2 * 1.001
        assert sums(whole.T) <= LARGEST
        assert (steps <= np.abs(weight).max(axis=1) / 63).all(), "no coarser than seven bits would be"
    assert not in_bytes(np.zeros((2, 4), np.float32))[1].any()


def test_an_old_runtime_is_told_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    monkeypatch.setattr(onnxruntime, "__version__", "1.12.1")
    runtime._warn_if_old.cache_clear()
    model = (PACKAGED / "model.onnx").read_bytes()
    unknown = model.replace(runtime.SAFE.encode(), b"x" * len(runtime.SAFE))  # says not that it is safe
    assert unknown != model
    with caplog.at_level(logging.WARNING):
        runtime.session(model)
        assert not caplog.text
        runtime.session(unknown)
        runtime.session(unknown)
    assert caplog.text.count("onnxruntime 1.12.1 does not know the option") == 1
    assert "pip install -U onnxruntime" in caplog.text


@pytest.mark.extras
def test_a_safe_file_needs_no_option(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnxruntime

    path = exported("bert", tmp_path)
    monkeypatch.setattr(onnxruntime, "__version__", "1.12.1")
    runtime._warn_if_old.cache_clear()
    with caplog.at_level(logging.WARNING):
        runtime.session(path)
    assert "does not know" not in caplog.text
