"""The version of the code that a result depends on: nothing else makes an old result stale."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
from collections.abc import Iterable
from pathlib import Path

_APART = (
    *("demur.data", "demur.embedders.skipgram", "demur.embedders.counting"),  # what they make has a version
    *("demur.errors", "demur.files", "demur.cache", "demur.registry", "demur.store", "demur.rankers.opening"),
    *("demur.embedders.shelf", "demur.embedders.kept", "demur.processor"),  # they keep, and change no figure
    *(
        "demur.nets.attention",
        "demur.nets.dropout",
        "demur.training.groups",
    ),  # of training, where a setting or an edition says so
)
"""What a result does not hang on."""
_THROUGH = "demur.training"
"""Each trainer has an edition, which is a part of the key; but a result hangs on the ranker it makes."""


def version(modules: Iterable[str]) -> str:
    """A hash of these modules of demur and of all that they import from it; comments and docstrings apart."""
    digest = hashlib.sha256()
    for module in sorted(_reachable(modules)):
        digest.update(f"{module}\0{_meaning(module)}\0".encode())
    return digest.hexdigest()[:16]


def _reachable(modules: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found and not module.startswith(_APART) and _source(module) is not None:
            found.add(module)
            waiting += imports(module)
    return {module for module in found if not module.startswith(_THROUGH)}


@functools.cache
def imports(module: str) -> list[str]:
    """The modules of demur that a module imports, wherever in it."""
    names: list[str] = []
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in dict.fromkeys(names) if name.startswith("demur.") and _source(name) is not None]


@functools.cache
def _meaning(module: str) -> str:
    tree = _tree(module)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def _tree(module: str) -> ast.Module:
    source = _source(module)
    return ast.parse(source.read_text("utf-8") if source else "")


@functools.cache
def _source(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # an attribute of a module, not a module
        return None
    return Path(spec.origin) if spec and spec.origin else None
