"""Results as they lie under results/: loose, a JSON file for each run, or folded, a line for each run.

A new run lands in a loose file, so that several processes can write and none writes much. ``make fold`` moves
loose files into those of their table:

- ``PAPER/TABLE/COLUMN.jsonl`` has a line for each run of a column, with all but its long lists, which are the
  values of single questions. In place of each such list stands ``{"in values": HASH}``.
- ``PAPER/TABLE/values-HASH.jsonl.gz`` has these lists, ``{HASH: LIST}`` a line, each once however many runs
  share it. A later fold adds such a file and leaves those that are there as they are.

A loose file counts before the folded line of the same run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from demur.errors import DataError
from demur.experiments.kinds.base import Result
from demur.experiments.recipe import slug
from demur.files import lines, replacing

Stamp = tuple[int, ...]
LONG = 50
"""Lists of at least so many numbers, words or nulls lie with the values."""
_PART = 500_000  # characters of lists in one file: packed, that is below 300 KB
_HERE = "in values"


def read_result(results: Path, file: str) -> Result | None:
    """What is kept under a run's file name, such as ``scan/table2/tanda/wikiqa-seed0.json``, if anything."""
    try:
        loose: Result = json.loads((results / file).read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        column, name = _place(results, file)
        text = _folded(column).get(name)
        return None if text is None else _whole(column, text)
    return loose


def there(results: Path, file: str) -> bool:
    """Whether something is kept under a run's file name."""
    column, name = _place(results, file)
    return (results / file).is_file() or name in _folded(column)


def written(results: Path, file: str) -> Stamp:
    """What changes when something else is kept under a run's file name; empty where nothing is."""
    return _stamp(results / file) or _stamp(_place(results, file)[0])


def write_result(results: Path, file: str, kept: Result) -> None:
    """Keep a run in a loose file."""
    place = results / file
    place.parent.mkdir(parents=True, exist_ok=True)
    with replacing(place) as out:
        out.write(_text(kept) + "\n")


def read_results(results: Path) -> Iterator[tuple[str, Result]]:
    """The file name of each run that is kept, and what is kept of it, in order."""
    names = {path.relative_to(results).as_posix() for path in results.glob("*/*/*/*-seed*.json")}
    for column in results.glob("*/*/*.jsonl"):
        table = column.parent.relative_to(results).as_posix()
        names |= {f"{table}/{name}" for name in _folded(column)}
    for file in sorted(names):
        if (kept := read_result(results, file)) is not None:
            yield file, kept


def fold(results: Path, table: str) -> int:
    """How many loose files of a table, such as ``scan/table2``, were moved into its folded ones.

    A loose file goes only after what was folded was read again and is the same, so nothing is lost if this is
    stopped. What is written meanwhile stays loose.
    """
    folder = results / table
    loose = {path: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*/*-seed*.json"))}
    known = {name for part in _parts(folder) for name in part}
    lists: dict[str, str] = {}
    columns: dict[Path, dict[str, str]] = {}
    for path, kept in loose.items():
        column, name = _place(results, path.relative_to(results).as_posix())
        if _name(kept) != name:
            raise DataError(
                f"does not hold what its name says, but {_name(kept)}", path=path, fix="remove one of the two"
            )
        columns.setdefault(column, dict(_folded(column)))[name] = _text(_parted(kept, lists))
    _write_lists(folder, {name: text for name, text in lists.items() if name not in known})
    for column, told in columns.items():
        with replacing(column) as out:
            out.writelines(f"{told[name]}\n" for name in sorted(told, key=_order))
    for path, kept in loose.items():
        column, name = _place(results, path.relative_to(results).as_posix())
        if _text(_whole(column, _folded(column)[name])) != _text(kept):
            raise DataError("was not folded as it is", path=path, fix="keep it, and report this")
        if json.loads(path.read_text("utf-8")) == kept:
            path.unlink()
    _tidy(folder)
    return len(loose)


def _place(results: Path, file: str) -> tuple[Path, str]:
    """The folded file that a run is in, and its name there, such as ``tanda/wikiqa-seed0.json``."""
    table, row, run = file.rsplit("/", 2)
    return results / table / f"{run.rpartition('-seed')[0]}.jsonl", f"{row}/{run}"


def _name(kept: Result) -> str:
    return f"{slug(kept['row'])}/{slug(kept['column'])}-seed{kept['seed']}.json"


def _order(name: str) -> tuple[str, int]:
    """Rows by name, their seeds by number."""
    row, _, seed = name.removesuffix(".json").rpartition("-seed")
    return row, int(seed)


def _stamp(path: Path) -> Stamp:
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return ()
    return stat.st_mtime_ns, stat.st_size, stat.st_ino


def _folded(column: Path) -> dict[str, str]:
    """The lines of a folded file by the names of their runs; they are not to be changed."""
    stamp = _stamp(column)
    return _lines(column, stamp) if stamp else {}


@lru_cache(maxsize=64)
def _lines(column: Path, stamp: Stamp) -> dict[str, str]:
    found = {}
    for number, text in lines(column):
        try:
            found[_name(json.loads(text))] = text
        except (ValueError, KeyError, TypeError):
            raise DataError(
                "is not the line of a run", path=column, line=number, fix="restore the file with git"
            ) from None
    return found


def _parts(folder: Path) -> list[dict[str, str]]:
    """The lists of a table by their hashes, as text, file by file."""
    return [_part(path) for path in sorted(folder.glob("values-*.jsonl.gz"))]


@lru_cache(maxsize=128)  # what a file of this name holds never changes
def _part(path: Path) -> dict[str, str]:
    return {text.split('"', 2)[1]: text for _, text in lines(path)}


def _whole(column: Path, text: str) -> Result:
    """What is kept of a run, from its folded line."""
    parts = _parts(column.parent)

    def filled(one: Result) -> Any:
        if one.keys() != {_HERE}:
            return one
        for part in parts:
            if one[_HERE] in part:
                return json.loads(part[one[_HERE]])[one[_HERE]]
        fix = "restore them with git"
        raise DataError(f"the values {one[_HERE]} are in no file beside it", path=column, fix=fix)

    kept: Result = json.loads(text, object_hook=filled)
    return kept


def _parted(kept: Any, lists: dict[str, str]) -> Any:
    """What is kept with a hash in place of each long list; the text of these is added to `lists`."""
    if isinstance(kept, dict):
        return {name: _parted(value, lists) for name, value in kept.items()}
    if not isinstance(kept, list):
        return kept
    if len(kept) < LONG or any(isinstance(each, dict | list) for each in kept):
        return [_parted(each, lists) for each in kept]
    text = _text(kept)
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    lists[name] = f'{{"{name}":{text}}}'
    return {_HERE: name}


def _write_lists(folder: Path, lists: dict[str, str]) -> None:
    """Add lists to a table's values, in files that are named after them."""
    parts: list[list[str]] = []
    room = 0
    for name, text in lists.items():
        if len(text) > room:
            parts.append([])
            room = _PART
        parts[-1].append(name)
        room -= len(text)
    for part in parts:
        name = hashlib.sha256("".join(part).encode()).hexdigest()[:8]
        with replacing(folder / f"values-{name}.jsonl.gz") as out:
            out.writelines(f"{lists[each]}\n" for each in part)


def _tidy(folder: Path) -> None:
    """Remove folders of rows that are empty now, and files of values that no line names any more."""
    said = "".join(text for column in folder.glob("*.jsonl") for text in _folded(column).values())
    for path in folder.glob("values-*.jsonl.gz"):
        if not any(name in said for name in _part(path)):
            path.unlink()
    for row in folder.iterdir():
        if row.is_dir() and not any(row.iterdir()):
            row.rmdir()


def _text(kept: Any) -> str:
    return json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
