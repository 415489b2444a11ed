"""The process that reads strangers' files: a path comes in on a line, passages go out as lines of JSON.

What is said on either side: see `demur.kb.files.apart`, which starts this and ends it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from demur import files
from demur.errors import DataError, DemurError
from demur.kb.files.limits import Limits, more
from demur.kb.passages import Passage

Reader = Callable[[bytes, str, Limits], Iterator[Passage]]
"""What makes passages of a file's bytes, its path, and the limits."""

_HALVES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


def main() -> None:
    """Read files until there is nothing more to be asked."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)  # what a library prints is no answer
    limits = Limits(**json.loads(sys.stdin.buffer.readline()))
    _restrict(limits.memory)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        try:
            for passage in _read(asked["reader"], asked["path"], limits):
                _say(
                    out,
                    [
                        passage.id,
                        passage.text,
                        passage.source,
                        passage.line,
                        passage.heading,
                        passage.question,
                    ],
                )
            told: dict[str, object] = {"end": True}
        except DemurError as error:
            told = {"error": str(error)}
        except MemoryError:
            told = {"memory": True}
        except Exception as error:  # of a library, on a file that nobody has foreseen
            why = " ".join(f"{type(error).__name__}: {error}".split())[:160]
            what = f"cannot be read ({why})"
            told = {"error": str(DataError(what, path=asked["path"], fix="save or download it again"))}
        _say(out, told)
        out.flush()


def _read(reader: str, path: str, limits: Limits) -> Iterator[Passage]:
    module, _, name = reader.partition(":")
    read = cast(Reader, getattr(importlib.import_module(module), name))
    most = limits.unpacked << 20
    with files.opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        what = f"has more than {limits.unpacked:,} MB"
        raise DataError(what, path=path, fix=more("unpacked"))
    yield from read(content, str(Path(path)), limits)


def _say(out: Any, told: object) -> None:
    out.write(json.dumps(told, ensure_ascii=False).translate(_HALVES) + "\n")


def _restrict(megabytes: int) -> None:
    """Let the system refuse memory beyond the limit, and any writing to files."""
    with suppress(ImportError, OSError, ValueError):  # Windows, or a system that knows no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


if __name__ == "__main__":
    main()
