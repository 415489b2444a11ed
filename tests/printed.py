"""Whatever JSON a verb prints in a test of this process is held against the schema in docs/schemas/."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from typer import Typer

SCHEMAS = Path(__file__).parents[1] / "docs" / "schemas"


def watch() -> None:
    """Let `emit` check what it is given; to be called before any verb has imported it."""
    from demur.cli import console

    console.emit = checking(console.emit)


def checking(emit: Callable[..., None]) -> Callable[..., None]:
    """The same function, which raises an error if the verb that calls it should print something else."""

    @functools.wraps(emit)
    def checked(value: Any, indent: int | None = 2) -> None:
        if (verb := _verb()) is not None:
            check(verb, json.loads(json.dumps(value)))  # first, so that no test is content with what it reads
        emit(value, indent)

    return checked


def check(verb: str, value: Any) -> None:
    """Raise an error unless a verb may print this."""
    errors = [f"{each.json_path}: {each.message[:300]}" for each in validator(verb).iter_errors(value)]
    fix = "change demur.cli.printed if that was on purpose, and run make docs"
    assert not errors, f"demur {verb} --json is not as its schema says: {errors}; {fix}"


@functools.cache
def validator(verb: str) -> Any:
    """What validates the output of a verb; keys that the schema does not describe are refused too."""
    from jsonschema import Draft202012Validator

    schema = json.loads((SCHEMAS / f"{verb.replace(' ', '-')}.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(strict(schema))


def strict(part: Any) -> Any:
    """The schema, but that an object may have no other keys than those described."""
    if isinstance(part, list):
        return [strict(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {"additionalProperties": False} if isinstance(part.get("required"), list) else {}
    return {key: strict(each) for key, each in part.items()} | closed


def _verb() -> str | None:
    """The verb that is being run, by the functions on the stack."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code in _codes():
            return _codes()[frame.f_code]
        frame = frame.f_back
    return None


@functools.cache
def _codes() -> dict[CodeType, str]:
    return {callback.__code__: verb for verb, callback in verbs()}


def verbs(of: Typer | None = None, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each verb with its function."""
    from demur.cli.main import app

    of = of or app
    for command in of.registered_commands:
        assert command.callback is not None
        yield above + (command.name or command.callback.__name__.replace("_", "-")), command.callback
    for group in of.registered_groups:
        yield from verbs(group.typer_instance, f"{above}{group.name} ")
