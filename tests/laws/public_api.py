"""The public names with their signatures, a line each; `make api` writes them into public_api.txt.

`inspect` reads what users get, lazy names and dataclasses included, and needs nothing to be installed.
griffe reads the source instead, and would have to be told where our lazy names lead.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import demur
from demur.kb.folder import KnowledgeBase

GOLDEN = Path(__file__).with_name("public_api.txt")
ROOMS: tuple[str, ...] = (
    *("advice", "asking", "data", "doubt", "embedders", "errors", "evaluation", "kb", "rankers", "reading"),
    *("risk", "scale", "scoring", "training"),
)


def lines() -> list[str]:
    """Each public name of demur and its rooms, and each public method of their classes."""
    found = [line for name in demur.__all__ for line in _lines(f"demur.{name}", getattr(demur, name))]
    for room in ROOMS:
        module = importlib.import_module(f"demur.{room}")
        names = getattr(module, "__all__", None) or _own(module)
        found += [line for name in names for line in _lines(f"demur.{room}.{name}", getattr(module, name))]
    found += _lines("demur.kb.KnowledgeBase", KnowledgeBase)
    return sorted(set(found))


def _own(module: Any) -> list[str]:
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    ]


def _lines(name: str, thing: Any) -> Iterator[str]:
    if not callable(thing) or (inspect.ismodule(thing) and name != "demur.kb"):
        yield f"{name}: {type(thing).__name__}"
        return
    if not inspect.isclass(thing):
        yield f"{name}{_signature(thing)}"
        return
    yield f"class {name}{_signature(thing)}"
    fields = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    for own in sorted(dir(thing)):
        value = inspect.getattr_static(thing, own)
        ours = any(own in vars(base) for base in thing.__mro__ if base.__module__.startswith("demur"))
        if own.startswith("_") or own in fields or not ours:
            continue
        if isinstance(value, property) or not callable(getattr(thing, own)):
            yield f"{name}.{own}"
        else:
            yield f"{name}.{own}{_signature(getattr(thing, own))}"


def _signature(thing: Any) -> str:
    if getattr(thing, "_is_protocol", False):
        return ""
    try:
        said = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return ""
    said = re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", said)  # annotations are texts; defaults stay in quotes
    said = re.sub(r"ForwardRef\('([^']*)'[^)]*\)", r"\1", said)
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"<\1>", said)


if __name__ == "__main__":
    GOLDEN.write_text("\n".join(lines()) + "\n", "utf-8")
