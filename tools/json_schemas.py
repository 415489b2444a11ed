"""The pages of docs/schemas/: what each verb prints with --json, from the types in `demur.cli.printed`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import textwrap
import types
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from demur.cli.printed import VERBS

DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
Schema = dict[str, Any]


def name(verb: str) -> str:
    """The file of a verb, below docs/."""
    return f"schemas/{verb.replace(' ', '-')}.json"


def page(verb: str) -> str:
    """The schema of a verb as a file."""
    return json.dumps(schema(verb), indent=1, ensure_ascii=False) + "\n"


def schema(verb: str) -> Schema:
    """What a verb prints."""
    parts: dict[str, Schema] = {}
    kinds = [_of(kind, parts) for kind in VERBS[verb]]
    what = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    return {"$schema": DIALECT, "title": f"demur {verb} --json", **what, "$defs": dict(sorted(parts.items()))}


def _of(hint: Any, parts: dict[str, Schema]) -> Schema:
    """The schema of a type; those of classes go into `parts`."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if origin is Literal:
        return {"enum": list(inside)}
    if origin in (Union, types.UnionType):
        kinds = [_of(each, parts) for each in inside]
        if all(list(kind) == ["type"] for kind in kinds):
            return {"type": [kind["type"] for kind in kinds]}
        return {"anyOf": kinds}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _of(inside[1], parts)}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": _of(inside[0], parts)}
    if not (is_typeddict(hint) or dataclasses.is_dataclass(hint)):
        raise TypeError(f"{hint} is no type that JSON has; see {__name__}")
    if hint.__name__ not in parts:
        parts[hint.__name__] = {}  # it may hold itself
        parts[hint.__name__] = _class(hint, parts)
    return {"$ref": f"#/$defs/{hint.__name__}"}


def _class(kind: Any, parts: dict[str, Schema]) -> Schema:
    hints = get_type_hints(kind, include_extras=True)
    if dataclasses.is_dataclass(kind):
        hints = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    about = _about(kind)
    properties, required = {}, []
    for key, hint in hints.items():
        if get_origin(hint) is NotRequired:
            (hint,) = get_args(hint)
        else:
            required.append(key)
        said = {"description": about[key]} if key in about else {}
        properties[key] = {**_of(hint, parts), **said}
    what = (inspect.getdoc(kind) or "").replace("``", "`")
    return {"description": what, "type": "object", "properties": properties, "required": required}


def _about(kind: type) -> dict[str, str]:
    """What the strings below its fields say of them."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    lines = body.body if isinstance(body, ast.ClassDef) else []
    return {
        field.target.id: " ".join(said.value.value.split())
        for field, said in pairwise(lines)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(said, ast.Expr)
        and isinstance(said.value, ast.Constant)
        and isinstance(said.value.value, str)
    }
