"""Models as ONNX files with a tokenizer beside them, opened without torch or transformers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from demur.errors import DataError, require


def session(path: Path) -> Any:
    """ONNX Runtime's session of a model, on one thread: batches are what runs side by side."""
    runtime: Any = require("onnxruntime", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has errors of its own
        raise _refused(path, error) from None


def tokenizer(path: Path) -> Any:
    """The tokenizer of a model, which neither cuts nor fills up."""
    tokenizers: Any = require("tokenizers", extra="onnx")
    try:
        found = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # so has tokenizers
        raise _refused(path, error) from None
    found.no_truncation()
    found.no_padding()
    return found


def stamp(folder: Path, names: Iterable[str]) -> tuple[tuple[int, int], ...]:
    """What changes when one of the files does."""
    names = list(names)
    try:
        stats = [(folder / name).stat() for name in names]
    except OSError:
        what, fix = f"lacks one of {', '.join(names)}", "make them with demur export MODEL -o DIR"
        raise DataError(what, path=folder, fix=fix) from None
    return tuple((stat.st_size, stat.st_mtime_ns) for stat in stats)


def _refused(path: Path, error: Exception) -> DataError:
    why = " ".join(str(error).split())[:160]
    return DataError(f"cannot be opened ({why})", path=path, fix="export the model again")
