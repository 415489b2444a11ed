"""Editions: the small numbers by which code counts in the key of a result.

A result depends on its data, its settings, its seed, and the editions of all parts that it is made by. A
change that leaves figures as they are leaves editions as they are; one that makes other figures raises the
edition of the part that it changes, by hand, in the same commit. The golden runs under tests/golden fail
where that was forgotten; `CONTRIBUTING.md` says what to do then.

A part is spelled as kind and name: ``ranker bm25``, by the name that it had first. What is registered says
its own edition, as a class attribute ``edition``; whatever has no class says it in `RAISED`. Where nothing is
said, it is 1.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeGuard

from demur import registry
from demur.errors import UsageError
from demur.renamed import first_spelled, new_name
from demur.specs import Spec, Spelled, listed, parse

RAISED: dict[str, int] = {
    "net acnn": 2,
    "net adaqa": 2,
    "net quick-mpnet": 2,
    "vectors encoder": 3,
    "vectors ppmi": 2,
}
"""The editions of parts without a class of their own, where they are not 1.

- net acnn, net adaqa: 2 since their filters come from the text alone
- net quick-mpnet: MPNet as it learns with ``quick=true``, which changed nothing in it before 2
- vectors encoder: 2 since the encoder that comes with demur was taught further, 3 since it learns from
  handbooks
- vectors ppmi: 2 since which way a direction points is not left to the processor
"""

NETS = (
    *("acnn", "adaqa", "anmm", "bidaf", "cnn", "comp-agg", "concat", "cross-encoder"),
    *("deep-matching", "drcn", "hyperqa", "match-pyramid", "mini", "multihop", "probe"),
    *("probe-cnn", "quick-mpnet", "re2", "siamese", "span-reader", "support"),
)
OBJECTIVES = (
    *("curriculum", "dan", "debiased", "decorrelation", "distilled", "group-dro", "irgan"),
    *("plain", "scan", "support", "vectors"),
)
_AS_FILES = ("mini",)  # the ranker of that name is not a torch network, but a file made of one
TABLES = ("agreement", "cases", "curves", "gates", "guarantee", "labels", "quoting", "ranking", "reading")
VECTORS = ("cbow", "encoder", "ppmi", "skipgram")

STANDS_ON: dict[str, tuple[str, ...]] = {
    "doubt learned": ("net probe",),
    "doubt probe-cnn": ("net probe", "net probe-cnn"),
    "ranker alignment": ("embedder words",),
    "ranker average": ("embedder words",),
    "ranker encoder": ("embedder encoder",),
    "ranker joint": ("net cross-encoder",),
    "ranker mini-torch": ("net mini",),
    "ranker support": ("net cross-encoder",),
    "trainer adversarial": ("objective irgan",),
    "trainer bi-encoder": ("embedder encoder", "objective vectors"),
    "trainer cnn": ("objective dan",),
    "trainer cross-encoder": ("objective plain",),
    "trainer curriculum": ("objective curriculum", "ranker cross-encoder"),
    "trainer debiased": ("objective debiased", "ranker cross-encoder"),
    "trainer distilled": ("objective distilled", "ranker cross-encoder"),
    "trainer ensemble": ("ranker committee",),
    "trainer group-dro": ("objective group-dro", "ranker cross-encoder"),
    "trainer joint": ("objective plain",),
    "trainer jtt": ("objective plain", "ranker cross-encoder"),
    "trainer members": ("ranker committee",),
    "trainer mini": ("ranker mini-torch",),
    "trainer scan": ("objective scan", "objective decorrelation", "ranker cross-encoder"),
    "trainer support": ("objective support", "objective plain"),
    "vectors encoder": ("embedder encoder",),
}
"""What parts use without naming it in a setting; besides, a ranker uses the net of its name, and a trainer
the ranker of its name."""


def edition(part: str) -> int:
    """The edition of a part such as ``ranker bm25``."""
    if part in RAISED:
        return RAISED[part]
    kind, _, name = part.partition(" ")
    found = registry.find(kind, new_name(kind, name)) if kind in registry.OURS else None
    return found.edition if _is_spelled(found) else 1


def _is_spelled(found: object) -> TypeGuard[type[Spelled]]:
    """Whether this is a class whose spelling builds it, not a dataset or a measure."""
    return isinstance(found, type) and issubclass(found, Spelled)


def editions(parts: Iterable[str]) -> dict[str, int]:
    """The editions of some parts, and of all that they use."""
    found: dict[str, int] = {}
    waiting = list(parts)
    while waiting:
        part = first_spelled(waiting.pop())
        if part not in found:
            found[part] = edition(part)
            waiting += _used_by(part)
    return dict(sorted(found.items()))


def _used_by(part: str) -> list[str]:
    kind, _, name = part.partition(" ")
    used = list(STANDS_ON.get(part, ()))
    if name in _AS_FILES:
        return used + [f"ranker {name}"] * (kind == "reader")
    if kind in ("trainer", "reader") and name in _names("ranker"):
        used.append(f"ranker {name}")
    if kind == "ranker" and name in NETS:
        used.append(f"net {name}")
    return used


@cache
def _names(kind: str) -> frozenset[str]:
    return frozenset(registry.names(kind))


def named_in(*specs: str, kinds: Iterable[str] = ("ranker", "embedder", "trainer")) -> Iterator[str]:
    """The parts that specs name, with those that their settings name in turn, said or not."""
    for spec in specs:
        for text in listed(spec):
            yield from _in(text, tuple(kinds))


def _in(text: str, kinds: tuple[str, ...]) -> Iterator[str]:
    try:
        wanted = parse(text)
    except UsageError:  # a path, or a word
        return
    kind = next((each for each in kinds if new_name(each, wanted.name) in _names(each)), None)
    if kind is None:
        return
    yield first_spelled(f"{kind} {wanted.name}")
    if wanted.settings.get("quick") and wanted.settings.get("base") in _MPNET:
        yield "net quick-mpnet"
    for key, value in _settings(kind, wanted).items():
        yield from named_in(value, kinds=_KINDS.get(key, ("embedder", "ranker")))


_MPNET = ("mpnet", "sentence-transformers/all-mpnet-base-v2")  # an MPNet by a folder's name is not known

_KINDS = {
    **dict.fromkeys(("by", "student"), ("trainer", "doubt")),
    **dict.fromkeys(("teacher", "first", "rankers"), ("ranker",)),
    "reader": ("reader",),
}
"""What kind of part a setting names; others name an embedder, or else a ranker."""


def _settings(kind: str, wanted: Spec) -> dict[str, str]:
    """The settings that are texts, with those that are not said."""
    found = registry.find(kind, wanted.name)
    every = {name: each.default for name, each in inspect.signature(found).parameters.items()}
    every |= wanted.settings
    unsaid = found.unsaid if _is_spelled(found) else {}
    return {name: value or unsaid.get(name, "") for name, value in every.items() if isinstance(value, str)}
