"""In which precision torch computes: the one that is named, or with ``auto`` the one that is quick here.

``auto`` is bf16 where a short race on this very processor shows it to be faster than fp32 by half, and fp32
elsewhere; on a GPU it is bf16, or fp16 where the GPU has no bf16.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from demur import cache as caches
from demur.errors import DemurError, UsageError, require
from demur.files import replacing

AUTO = "auto"
_MOST = 100  # times as fast: a kept number above is no measurement
CHOICES = (AUTO, "bf16", "fp32", "fp16")
FASTER = 1.5
"""How many times as fast bf16 must be for `auto` to take it: less is not worth a score's third digit."""
FEATURES = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY")
"""What in the environment hides features of the processor from torch."""

_ROUNDS = 4
_Found = TypeVar("_Found")
_NOTES: ContextVar[dict[str, set[str]] | None] = ContextVar("notes", default=None)
_MEANING: ContextVar[dict[str, str] | None] = ContextVar("meaning", default=None)
_log = logging.getLogger("demur")


def check(precision: str) -> None:
    """Raise an error if there is no such precision."""
    if precision not in CHOICES:
        raise UsageError(
            f"precision={precision!r} is not known; use precision=auto, bf16 or fp32, or fp16 on a GPU"
        )


def counted(precision: str) -> str:
    """The precision as fingerprints and keys of what is saved count it.

    ``auto`` counts as fp32, the default before it: what processors differ in is no other model.
    """
    return "fp32" if precision == AUTO else precision


def of_made(precision: str) -> str:
    """The precision of a ranker whose trainer has this one: by a trainer that names its own, fp32.

    Half precision is named there for learning; scores stay exact then, as they were before ``auto``.
    """
    return AUTO if precision == AUTO else "fp32"


def taken(precision: str, device: str, what: str = "reading") -> str:
    """The precision that is computed in on a device: bf16, fp16 or fp32. It is noted for who asks."""
    check(precision)
    named = precision != AUTO
    if not named:
        precision = (_MEANING.get() or {}).get(what, AUTO)
    if device.startswith("cuda"):
        found = _of_gpu() if precision == AUTO else precision
    elif precision == "fp16":
        raise UsageError("precision=fp16 is for GPUs; on a processor use precision=auto, bf16 or fp32")
    elif precision == AUTO:
        found = "bf16" if ratio() >= FASTER else "fp32"
    else:
        found = precision
        if precision == "bf16" and named:
            _warn_if_slow()
    note(what, found)
    return found


def dtype(taken: str) -> Any:
    """Torch's name of a precision."""
    torch: Any = require("torch", extra="encoder")
    return {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[taken]


def casting(taken: str, device: str) -> AbstractContextManager[Any]:
    """The context in which a network with weights in fp32 computes in this precision."""
    torch: Any = require("torch", extra="encoder")
    kind = device.partition(":")[0]
    if taken == "bf16" and kind == "cpu" and ratio() < 1:
        from demur import emulated

        return emulated.bf16()
    return nullcontext() if taken == "fp32" else torch.autocast(kind, dtype(taken))


def computed(compute: Callable[[], _Found], taken: str, device: str) -> _Found:
    """What a computation gives in this precision; in fp32, and so it is said, where torch lacks that."""
    try:
        with casting(taken, device):
            return compute()
    except RuntimeError as error:
        if taken == "fp32" or not_of_precision(error):
            raise
        found = compute()  # raises again where it was something else
    missing(taken)
    note("reading", "fp32", instead=taken)
    return found


def not_of_precision(error: RuntimeError) -> bool:
    """Whether an error says that memory is short, which another precision would not help."""
    return type(error).__name__ == "OutOfMemoryError"


@cache
def missing(taken: str) -> None:
    """Say, once, that a layer of a network cannot be computed in a precision here."""
    _log.warning(f"torch cannot compute all of this network in {taken} on this machine; fp32 is taken")


@cache
def _warn_if_slow() -> None:
    if ratio() < 1:
        what = "this processor computes bf16 by way of fp32, which takes longer than fp32 itself"
        _log.warning(f"{what}; precision=auto takes the faster one")


def _of_gpu() -> str:
    torch: Any = require("torch", extra="encoder")
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"


@contextmanager
def auto_is(**meaning: str) -> Iterator[None]:
    """A block in which ``auto`` is always the same, such as ``learning="bf16"``, whatever the processor."""
    before = _MEANING.set(meaning)
    try:
        yield
    finally:
        _MEANING.reset(before)


@contextmanager
def noted() -> Iterator[dict[str, set[str]]]:
    """A block at whose end is known which precisions were taken in it, for ``learning`` and ``reading``."""
    notes: dict[str, set[str]] = {}
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)


def note(what: str, taken: str, instead: str = "") -> None:
    """Tell a block of `noted` around this what was taken, `instead` of what had been told before."""
    if (notes := _NOTES.get()) is not None:
        notes.setdefault(what, set()).add(taken)
        notes[what].discard(instead)


@cache
def ratio() -> float:
    """How many times as fast bf16 is here as fp32: raced for once, then kept in the cache."""
    place: Path | None = None
    with suppress(
        DemurError, OSError, ValueError, TypeError, LookupError, RecursionError
    ):  # or a broken file
        place = caches.folder("precision") / f"{_here()}.json"
        kept = float(json.loads(place.read_text("utf-8"))["bf16 against fp32"])
        if 0 <= kept < _MOST:
            return kept
    found = round(race(), 2)
    with suppress(DemurError, OSError):
        if place is not None:
            with replacing(place) as out:
                json.dump({"bf16 against fp32": found}, out)
    return found


def _here() -> str:
    """A hash of what the race depends on: the processor, what of it torch may use, and torch."""
    torch: Any = require("torch", extra="encoder")
    said = [torch.__version__, platform.machine(), platform.processor()]
    said += [torch.backends.cpu.get_cpu_capability(), *(os.environ.get(name, "") for name in FEATURES)]
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        named = "model", "flags", "Features", "CPU part"
        said += sorted({line for line in lines if line.startswith(named)})
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def race() -> float:
    """How many times as fast bf16 is as fp32 in a layer of a small transformer, cast as in training.

    One thread runs and its own time counts, so that neither other programs nor the number of threads tell.
    Where bf16 is but imitated it takes fifty times as long: then a small product has said enough.
    """
    torch: Any = require("torch", extra="encoder")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            found = _raced(_product(torch))
            return found if found < 0.5 else _raced(_layer(torch))
    except RuntimeError:  # no bf16 at all
        return 0.0
    finally:
        torch.set_num_threads(threads)


def _raced(compute: Callable[[], object]) -> float:
    """The time in fp32 by the time in torch's own bf16: the best of some turns, after one to warm up."""
    torch: Any = require("torch", extra="encoder")
    times: dict[str, list[float]] = {"fp32": [], "bf16": []}
    for _ in range(1 + _ROUNDS):
        for name, found in times.items():
            began = time.thread_time()
            with torch.autocast("cpu", torch.bfloat16, enabled=name == "bf16"):
                compute()
            found.append(time.thread_time() - began)
    best = {name: max(min(found[1:]), 1e-9) for name, found in times.items()}
    return best["fp32"] / best["bf16"]


def _product(torch: Any) -> Callable[[], object]:
    x, w = torch.ones(32, 384), torch.ones(384, 384)
    return lambda: torch.nn.functional.linear(x, w)


def _layer(torch: Any) -> Callable[[], object]:
    """A layer of MiniLM's size over 512 tokens."""
    from torch.nn import functional as f

    texts, length, heads, d = 8, 64, 12, 384
    draw = torch.Generator().manual_seed(0)  # of its own: nobody's random numbers move
    x = torch.randn(texts, length, d, generator=draw)
    ins, outs, ups, downs = (
        torch.randn(*shape, generator=draw) / 20 for shape in ((3 * d, d), (d, d), (4 * d, d), (d, 4 * d))
    )

    def compute() -> object:
        parts = f.linear(x, ins).view(texts, length, 3, heads, d // heads).permute(2, 0, 3, 1, 4)
        seen = f.scaled_dot_product_attention(*parts).transpose(1, 2).reshape(texts, length, d)
        y = f.layer_norm(x + f.linear(seen, outs), (d,))
        return f.layer_norm(y + f.linear(f.gelu(f.linear(y, ups)), downs), (d,))

    return compute
