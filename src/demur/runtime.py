"""Models as ONNX files with a tokenizer beside them, opened without torch or transformers."""

from __future__ import annotations

import base64
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

import numpy as np

from demur import processor
from demur.errors import DataError, require
from demur.types import IntArray

_Batch = TypeVar("_Batch")
_STOP: ContextVar[Event | None] = ContextVar("stop", default=None)

SAFE = "saturation"
"""The fact in an ONNX file's head that says ``safe``: its products cannot overflow on any processor."""
WIDE = "session.x64quantprecision"
"""The option that keeps products of bytes exact: older processors add them in pairs in 16 bits, and cut."""
_SINCE = (1, 13)  # the first ONNX Runtime that surely knows the option
_PROBE = (
    "2nZ4YI^qEeH3|iDXkl<=5(al=X=iA3A`e4vZgX^DZgfv(Q)ppuWhxU21$JR<b!93C2mufSN&$bM0R#$03I$?$bY*i226ts?X"
    "J~W^1aov{a0&!-bY*Z71aoz5b0QQ?VRTJ(Y)Ni(WoKn_RBuLXZ((#g4P$R@E^TRJa&L2QW^@t(XDS^C0uTp61#@U&aAism5C"
    "8xG000005C8xG00000Dh?0<LIiVkWpGLa004kLS{DihVtI6Ba}o{;3<v@e2nqrS2nqrS5MmYz1aoz5a}o{;3<v=d2nqrS2nq"
    "rS5JChB01y#E5ef}sZ*4AZX=8G4b8lvJ5CH"
)
"""A model of one product of bytes, 8×16 by 16×16 weights of 127, which overflows where that can happen."""

_log = logging.getLogger("demur")


def session(model: Path | bytes, threads: int = 1) -> Any:
    """ONNX Runtime's session of a model's file or bytes, with the same numbers on every processor.

    It has one thread unless told otherwise: batches are what runs side by side.
    """
    runtime: Any = require("onnxruntime", extra="onnx")
    opened = _opened(runtime, model, threads, exact=overflows())
    facts = opened.get_modelmeta().custom_metadata_map
    if facts.get("precision") == "int8" and facts.get(SAFE) != "safe":
        _warn_if_old(runtime.__version__)
    return opened


@cache
def overflows() -> bool:
    """Whether products of bytes overflow on this processor, tried on some that would.

    The option is set only there: with AMX it takes almost three times as long, for the same scores.
    """
    runtime: Any = require("onnxruntime", extra="onnx")
    largest = {"bytes": np.full((8, 16), 255, np.uint8)}
    sums = _opened(runtime, base64.b85decode(_PROBE), threads=1, exact=False).run(None, largest)[0]
    return bool((sums != 16 * 255 * 127).any())


def _opened(runtime: Any, model: Path | bytes, threads: int, exact: bool) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    if exact:
        options.add_session_config_entry(WIDE, "1")
    source = model if isinstance(model, bytes) else str(model)
    try:
        return runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has errors of its own
        raise _refused(Path("model") if isinstance(model, bytes) else model, error) from None


@cache
def _warn_if_old(version: str) -> None:
    """Say once that this runtime may get the scores of byte models wrong."""
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers < _SINCE:
        _log.warning(
            f"onnxruntime {version} does not know the option that keeps int8 scores right on processors "
            "without VNNI, and this model needs it; pip install -U onnxruntime, or export the model again"
        )


def side_by_side(run: Callable[[_Batch], None], batches: Sequence[_Batch], threads: int = 0) -> None:
    """Run each batch, in so many threads; 0 is as many as may be used, see `demur.processor`."""
    threads, stop = min(threads or processor.threads(), len(batches)), _STOP.get()

    def run_if_wanted(batch: _Batch) -> None:
        go_on(stop)
        run(batch)

    if threads <= 1:
        for batch in batches:
            run_if_wanted(batch)
    else:  # a batch to each core is faster than two cores to a batch
        with ThreadPoolExecutor(threads) as workers:
            list(workers.map(run_if_wanted, batches))


class Stopped(Exception):
    """Nobody wants the result any more."""


def alike(lengths: IntArray, budget: int) -> Iterator[IntArray]:
    """Places in batches of one length and of about `budget` tokens at most; the longest come first."""
    order = np.argsort(-lengths, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if len(group):
            together = max(1, budget // max(int(lengths[group[0]]), 1))
            yield from np.array_split(group, -(-len(group) // together))


@contextmanager
def until(stop: Event) -> Iterator[None]:
    """A block whose batches end with `Stopped` once `stop` is set."""
    before = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(before)


def go_on(stop: Event | None = None) -> None:
    """Raise `Stopped` if this event, or that of the block around, is set."""
    stop = stop or _STOP.get()
    if stop is not None and stop.is_set():
        raise Stopped


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
