"""Models as ONNX files with a tokenizer beside them, opened without torch or transformers."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from demur.errors import DataError, require

SAFE = "saturation"
"""The fact in an ONNX file's head that says ``safe``: its products cannot overflow on any processor."""
WIDE = "session.x64quantprecision"
"""The option that keeps products of bytes exact: older processors add them in pairs in 16 bits, and cut."""
_SINCE = (1, 13)  # the first ONNX Runtime that surely knows the option

_log = logging.getLogger("demur")


def session(model: Path | bytes, threads: int = 1) -> Any:
    """ONNX Runtime's session of a model's file or bytes, with the same numbers on every processor.

    It has one thread unless told otherwise: batches are what runs side by side.
    """
    runtime: Any = require("onnxruntime", extra="onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    options.add_session_config_entry(WIDE, "1")
    source = model if isinstance(model, bytes) else str(model)
    try:
        opened = runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has errors of its own
        raise _refused(Path("model") if isinstance(model, bytes) else model, error) from None
    facts = opened.get_modelmeta().custom_metadata_map
    if facts.get("precision") == "int8" and facts.get(SAFE) != "safe":
        _warn_if_old(runtime.__version__)
    return opened


@cache
def _warn_if_old(version: str) -> None:
    """Say once that this runtime may get the scores of byte models wrong."""
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers < _SINCE:
        _log.warning(
            f"onnxruntime {version} does not know the option that keeps int8 scores right on processors "
            "without VNNI, and this model needs it; pip install -U onnxruntime, or export the model again"
        )


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
