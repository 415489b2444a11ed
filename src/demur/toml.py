"""Recipes: a TOML file as a frozen dataclass, checked key by key; an unknown key is an error."""

from __future__ import annotations

import dataclasses
import tomllib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from demur.errors import DataError, UsageError
from demur.files import whole

T = TypeVar("T")


def read_toml(kind: type[T], path: str | Path) -> T:
    """The dataclass that a file describes; what is wrong with it is one line with the file's name."""
    text = whole(path)
    try:
        return build(kind, tomllib.loads(text))
    except UsageError as error:
        raise DataError(str(error), path=path) from None
    except (ValueError, RecursionError) as error:  # thousands of digits or brackets are no TOMLDecodeError
        raise DataError(f"not TOML ({error})", path=path, fix="correct the recipe") from None


def build(kind: type[T], values: Mapping[str, Any], where: str = "") -> T:
    """A dataclass from a TOML table, checked key by key."""
    hints = typing.get_type_hints(kind)
    fields = {each.name: each for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in values:
        if key not in fields:
            raise UsageError(f"unknown key {where}{key}; known: {', '.join(fields)}")
    for name, each in fields.items():
        required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        if required and name not in values:
            raise UsageError(f"the key {where}{name} is missing; add it")
    return kind(**{key: _value(hints[key], value, f"{where}{key}") for key, value in values.items()})


def _value(hint: Any, value: Any, where: str) -> Any:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is list and isinstance(value, list):
        return [_value(inner[0], each, f"{where}[{number}]") for number, each in enumerate(value)]
    if origin is dict and isinstance(value, dict):
        return {key: _value(inner[1], each, f"{where}.{key}") for key, each in value.items()}
    if origin is list and isinstance(value, dict):
        raise UsageError(f"{where} is one table, and may be several; write [[{where}]], with two brackets")
    for one in (hint, *inner):  # also where it may be left out
        if dataclasses.is_dataclass(one) and isinstance(one, type) and isinstance(value, dict):
            return build(one, value, f"{where}.")
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is Any or type(value) is hint or (origin not in (list, dict) and type(value) in inner):
        return value
    raise UsageError(f"{where} is {value!r}, which must be of type {getattr(hint, '__name__', hint)}")
