"""What a small fault in a module is: another comparison, sign, number, order or condition in one place."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
_CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "log": "log1p",
    "any": "all",
}


@dataclass(frozen=True)
class Fault:
    """One change of a module: where it is, what becomes of what, and which of its places it is."""

    module: str
    number: int
    line: int
    said: str
    what: str

    @property
    def known_as(self) -> tuple[str, str, str]:
        """What `survivors.toml` calls it."""
        return self.module, self.said, self.what

    def drawn_by(self, seed: int) -> str:
        """What faults are ordered by to draw some: other code changes nothing in it."""
        return hashlib.sha256(f"{seed} {self.known_as}".encode()).hexdigest()


def changed(node: ast.AST) -> ast.AST | None:
    """The node with a fault in it; None where there is nothing to change."""
    other = copy.deepcopy(node)
    match other:
        case ast.Compare(ops=[op]) if type(op) in _SWAPS:
            other.ops = [_SWAPS[type(op)]()]  # type: ignore[list-item]
        case ast.BinOp(op=op) | ast.BoolOp(op=op) if type(op) in _SWAPS:
            other.op = _SWAPS[type(op)]()  # type: ignore[assignment]
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            return other.operand
        case ast.IfExp():
            other.body, other.orelse = other.orelse, other.body
        case ast.Constant(value=bool()):
            other.value = not other.value
        case ast.Constant(value=int() | float() as number):
            other.value = number + 1 if isinstance(number, int) else number * 1.5 + 0.1
        case ast.Call(func=ast.Attribute() as called) if called.attr in _CALLS:
            called.attr = _CALLS[called.attr]
        case ast.Call(func=ast.Name() as called) if called.id in _CALLS:
            called.id = _CALLS[called.id]
        case ast.If(orelse=[]):
            other.test = ast.UnaryOp(ast.Not(), other.test)
        case _:
            return None
    return other


def faults(module: str, source: str) -> Iterator[Fault]:
    """Each fault of a module."""
    lines, tree = source.splitlines(), ast.parse(source)
    passed = {part for node in ast.walk(tree) for part in _told(node)}
    for number, (_, _, node) in enumerate(_places(tree)):
        if node not in passed and (other := changed(node)) is not None:
            line = getattr(node, "lineno", 1)
            what = f"{_short(node)}  ->  {_short(other)}"
            yield Fault(module, number, line, lines[line - 1].strip(), what)


def with_fault(source: str, fault: Fault) -> str:
    """The module's text with the fault in it."""
    tree = ast.parse(source)
    parent, name, node = list(_places(tree))[fault.number]
    other, value = changed(node), getattr(parent, name)
    put = [other if each is node else each for each in value] if isinstance(value, list) else other
    setattr(parent, name, put)
    return ast.unparse(ast.fix_missing_locations(tree))


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, ast.AST]]:
    """Each node below the tree, with the field of its parent that it stands in."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, ast.AST):
                    yield parent, name, each


def _told(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of errors, annotations, checks of zip and decorators of classes: no figure rests on them."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        yield from ast.walk(node)
    if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: a check of ourselves
        yield from ast.walk(node)
    if isinstance(node, ast.ClassDef):
        for each in node.decorator_list:
            yield from ast.walk(each)
    for name in ("annotation", "returns"):
        if isinstance(part := getattr(node, name, None), ast.AST):
            yield from ast.walk(part)


def _short(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:60]
