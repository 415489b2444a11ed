"""JSON objects, one to a line: what all JSONL formats share."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from demur.data.formats.shared.checks import Place, shown, unwritable
from demur.errors import DataError
from demur.files import decoded, lines, opened, raw_lines, unreadable
from demur.types import Pool

Object = dict[str, Any]

_SPELLED = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")  # one of a pair of codes that only together are a character
_NESTED = frozenset({list, dict})
_KINDS: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def objects(path: str | Path) -> Iterator[tuple[Place, Object]]:
    """Each line's object and its place; blank lines are skipped."""
    for line, text in lines(path):
        if not text or text.isspace():
            continue
        place = Place(path, line)
        yield place, object_of(text, place)


def each_pool(
    path: str | Path, pool_of: Callable[[Object, Place, int], Pool]
) -> Iterator[tuple[int, Pool | DataError]]:
    """The pools of a file that has one to a line, with their lines; for a bad line, what is wrong with it.

    A pool is made of an object, its place, and its number among the lines that are not blank.
    """
    with opened(path) as file:
        rows = ((line, raw) for line, raw in raw_lines(file, path) if raw.strip())
        for number, (line, raw) in enumerate(rows, 1):
            place = Place(path, line)
            try:
                found: Pool | DataError = pool_of(object_of(decoded(raw, line, path), place), place, number)
            except DataError as error:
                found = error
            yield line, found


def object_of(text: str, place: Place) -> Object:
    """The object that a line holds."""
    fix = "write one whole JSON object on each line"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise place.error(f"broken JSON ({error.msg}, column {error.colno})", fix) from None
    except (ValueError, RecursionError) as error:
        raise place.error(f"JSON that cannot be read ({unreadable(error)})", fix) from None
    if type(value) is not dict:
        raise place.error(f"{kind(value)} where a JSON object was expected", fix)
    check_whole(text, value, place)
    return value


def check_whole(text: str, value: object, place: Place) -> None:
    """Refuse half a character in a value that was read from a text: only JSON can spell one."""
    if "\\" not in text or not _SPELLED.search(text):
        return
    waiting = [("", value)]
    while waiting:
        where, one = waiting.pop()
        of = f" of {where}" if where else ""
        if type(one) is dict:
            waiting += [(f"a key{of}", key) for key in one]
            waiting += [(f"{key!r}{of}", each) for key, each in one.items()]
        elif type(one) is list:
            waiting += [(f"item {n}{of}", each) for n, each in enumerate(one, 1)]
        elif type(one) is str and (half := _HALF.search(one)):
            what = f"half a character, U+{ord(half[0]):04X}, in {where}"
            raise place.error(what, "write the character itself")


def kind(value: object) -> str:
    """What a JSON value is, in words; of what JSON lacks, such as a date of Parquet, what Python calls it."""
    return _KINDS.get(type(value)) or f"of the kind {type(value).__name__}"


def text_of(object: Object, key: str, place: Place) -> str:
    """The text under a key."""
    value = need(object, key, place)
    if type(value) is not str:
        raise place.error(f"{key!r} is {kind(value)}, not text", f"write {key!r} in quotes")
    return value


def id_of(object: Object, key: str, place: Place) -> str:
    """The id under a key; a whole number is taken as its text."""
    value = need(object, key, place)
    if type(value) is str:
        return value
    if type(value) is int:
        return str(value)
    raise place.error(f"{key!r} is {kind(value)}, not an id", f"write {key!r} in quotes")


def list_of(object: Object, key: str, place: Place, kind_of_item: type) -> list[Any]:
    """The list under a key, all of whose items are of one kind."""
    value = need(object, key, place)
    if type(value) is not list:
        raise place.error(f"{key!r} is {kind(value)}, not a list", f"write {key!r} as [...]")
    for place_in_list, item in enumerate(value, 1):
        if type(item) is not kind_of_item:
            what = f"item {place_in_list} of {key!r} is {kind(item)}, not {_KINDS[kind_of_item]}"
            raise place.error(what, "leave it out or correct it")
    return value


def need(object: Object, key: str, place: Place) -> Any:
    """The value under a key that must be there."""
    if key not in object:
        has = ", ".join(map(repr, object)) or "nothing"
        fix = f"add {key!r}" if place.inside else f"add {key!r}, or say which format this is"
        raise place.error(f"no {key!r} (it has {shown_list(has)})", fix)
    return object[key]


def shown_list(names: str) -> str:
    """Names as an error message shows them: the first ones, if they are many."""
    return names if len(names) <= 120 else f"{names[:117]}..."


def other_keys(object: Object, known: frozenset[str], place: Place, candidate: int = 0) -> Object:
    """What an object, perhaps a numbered candidate's, holds besides the known keys.

    Numbers that JSON cannot hold are refused.
    """
    others = {key: value for key, value in object.items() if key not in known}
    for key, value in others.items():
        sound = isfinite(value) if type(value) is float else type(value) not in _NESTED or _finite(value)
        if not sound:
            inside = place._replace(inside=f"candidate {candidate}") if candidate else place
            what = f"{key!r} holds NaN, or a number that is infinite or too large"
            raise inside.error(what, "write a number, or leave it out")
    return others


def _finite(value: object) -> bool:
    """Whether all numbers in a JSON value are finite."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) is dict:
            waiting += one.values()
        elif type(one) is list:
            waiting += one
        elif type(one) is float and not isfinite(one):
            return False
    return True


def checked_extra(
    extra: Mapping[str, Any], taken: frozenset[str], pool: Pool, path: str | Path
) -> Mapping[str, Any]:
    """The extra of a pool or candidate as keys of a JSON object, once it is sure to come back the same."""
    if not extra:
        return extra
    for key in extra:
        if key in taken:
            raise unwritable(
                pool, f"has the extra {key!r}, a name this format uses itself", path, "rename it"
            )
    try:
        same = json.loads(json.dumps(dict(extra), allow_nan=False)) == dict(extra)
    except (TypeError, ValueError, RecursionError) as error:
        raise unwritable(pool, f"has an extra that JSON cannot hold ({error})", path, "drop it") from None
    if not same:
        fix = "use lists instead of tuples, and texts as keys"
        raise unwritable(pool, f"has an extra that JSON would change ({shown(dict(extra))})", path, fix)
    return extra


def encoded(object: object) -> str:
    """JSON on one line, as readable as it can be."""
    return json.dumps(object, ensure_ascii=False, allow_nan=False)
