"""Old spellings of names that users can type or that are in files: they go on to work.

A name in Python that changes works for one minor version more, by a `__getattr__` of its module that warns:
see CONTRIBUTING.md. Names in specs stand in gates and folders of models, so they are understood for ever.
"""

from __future__ import annotations

import logging
import re
from functools import cache

IN_SPECS: dict[str, dict[str, str]] = {"ranker": {"telling": "forum-prior"}}
"""Names in specs that have changed: kind -> old -> new."""

_FIRST = {new: old for names in IN_SPECS.values() for old, new in names.items()}
_NEW = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, _FIRST))})(?![\w/-])")
_log = logging.getLogger("demur")


def new_name(kind: str, name: str, tell: bool = False) -> str:
    """The name that a thing in a spec has now; of an old one, the log can `tell` in a line."""
    new = IN_SPECS.get(kind, {}).get(name, name)
    if tell and new != name:
        _tell(kind, name, new)
    return new


@cache
def _tell(kind: str, old: str, new: str) -> None:
    _log.warning("the %s %s is now called %s; write the new name", kind, old, new)


def first_spelled(text: str) -> str:
    """A text with specs in it, by the names that things had first.

    Keys of results and fingerprints are hashes of this. So a new name changes none of them: what was made
    under the old one, such as a result or a gate, is still known to be of the same thing.
    """
    return _NEW.sub(lambda found: _FIRST[found[1]], text)
