"""Old spellings of names that users can type: they work for one version, and a warning says the new one."""

from __future__ import annotations

import logging
import re
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

IN_SPECS: dict[str, dict[str, str]] = {"ranker": {"telling": "forum-prior"}}
"""Names in specs that have changed: kind -> old -> new."""

_FIRST = {new: old for names in IN_SPECS.values() for old, new in names.items()}
_NEW = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, _FIRST))})(?![\w/-])")
_log = logging.getLogger("demur")


def old_method(old: str, new: str) -> Callable[..., Any]:
    """A method by its old name."""

    def called(self: Any, *given: Any, **named: Any) -> Any:
        what = f"{type(self).__name__}.{old} is now called {new}; the old name goes with demur 0.2"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return getattr(self, new)(*given, **named)

    return called


def new_name(kind: str, name: str, tell: bool = False) -> str:
    """The name that a thing in a spec has now; of an old one, the log can `tell` in a line."""
    new = IN_SPECS.get(kind, {}).get(name, name)
    if tell and new != name:
        _tell(kind, name, new)
    return new


@cache
def _tell(kind: str, old: str, new: str) -> None:
    _log.warning("the %s %s is now called %s; the old name goes with demur 0.2", kind, old, new)


def first_spelled(text: str) -> str:
    """A text with specs in it, by the names that things had first.

    Keys of results and fingerprints are hashes of this. So a new name changes none of them: what was made
    under the old one, such as a result or a gate, is still known to be of the same thing.
    """
    return _NEW.sub(lambda found: _FIRST[found[1]], text)


def old_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a module in which names have changed, from old to new."""

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        what = f"{module}.{name} is now called {names[name]}; the old name goes with demur 0.2"
        warnings.warn(what, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return find
