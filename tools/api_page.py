"""`docs/api.md`: every public name with its signature, and what the classes behind them have."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import demur
from demur import asking, data, evaluation, rankers, risk
from demur.kb.folder import KnowledgeBase

_CLASSES = {
    "demur.data.Dataset": data.Dataset,
    "demur.data.Pools": data.Pools,
    "demur.rankers.Ranker": rankers.Ranker,
    "demur.evaluation.Report": evaluation.Report,
    "demur.evaluation.Comparison": evaluation.Comparison,
    "demur.risk.Gate": risk.Gate,
    "demur.kb.folder.KnowledgeBase": KnowledgeBase,
    "demur.asking.Session": asking.Session,
}
_INTRODUCTION = """# The classes behind them

What those names give: `demur.load` a `Dataset` or `Pools`, `demur.ranker` a `Ranker`, `demur.evaluate` a
`Report`, `demur.compare` a `Comparison`, `demur.calibrate` a `Gate`, and `demur.kb` a `KnowledgeBase`.
"""


def api() -> str:
    """The page without its notice."""
    parts = ["# The Python names\n"]
    for name in demur.__all__:
        thing = getattr(demur, name)
        hidden = inspect.isclass(thing) and issubclass(thing, Exception)
        said = "" if hidden else _signature(thing)
        parts.append(f"## `demur.{name}`\n\n```python\n{name}{said}\n```\n\n{inspect.getdoc(thing)}\n")
    parts.append(_INTRODUCTION)
    for name, thing in _CLASSES.items():
        rows = "\n".join(_members(thing))
        parts.append(
            f"## `{name}`\n\n{inspect.getdoc(thing)}\n\n| it has | what it is |\n|---|---|\n{rows}\n"
        )
    return "\n".join(parts)


def _members(thing: type) -> Iterator[str]:
    for own in sorted(dir(thing)):
        value = inspect.getattr_static(thing, own)
        if own.startswith("_") or not any(own in vars(each) for each in thing.__mro__ if _ours(each)):
            continue
        about = (inspect.getdoc(value) or "").partition("\n")[0]
        if isinstance(value, property) and about:
            yield f"| `{own}` | {about} |"
        elif callable(getattr(thing, own)) and about:
            yield f"| `{own}({_names(getattr(thing, own))})` | {about} |"


def _ours(base: type) -> bool:
    return base.__module__.startswith("demur")


def _signature(thing: Any) -> str:
    return re.sub(r"<function (\S+) at 0x[0-9a-f]+>", r"\1", str(inspect.signature(thing)))


def _names(thing: Any) -> str:
    """The names of what a method takes."""
    taken = [each for each in inspect.signature(thing).parameters.values() if each.name != "self"]
    return ", ".join("**" * (each.kind is inspect.Parameter.VAR_KEYWORD) + each.name for each in taken)
