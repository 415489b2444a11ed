"""JSON objects, one to a line: what all JSONL formats share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from demur.data.formats.shared.checks import Place, shown, unwritable
from demur.files import lines
from demur.types import Pool

Object = dict[str, Any]

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


def object_of(text: str, place: Place) -> Object:
    """The object that a line holds."""
    fix = "write one whole JSON object on each line"
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise place.error(f"broken JSON ({error.msg}, column {error.colno})", fix) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, lists 10,000 deep
        raise place.error(f"JSON that cannot be read ({error})", fix) from None
    if type(value) is not dict:
        raise place.error(f"{kind(value)} where a JSON object was expected", fix)
    return value


def kind(value: object) -> str:
    """What a JSON value is, in words."""
    return _KINDS[type(value)]


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


def other_keys(object: Object, known: frozenset[str]) -> Object:
    """What an object holds besides the known keys."""
    return {key: value for key, value in object.items() if key not in known}


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
