"""Lists every error message of demur as it is in the code, to be read as a list: `make errors`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demur import errors

SOURCE = Path(errors.__file__).parent
KINDS = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.DemurError)
}
TELL = {"error", "unwritable"}  # functions that take what is wrong, and then what to do
COMPLETE = {"UnknownName", "NoThreshold", "MissingExtra"}  # these add by themselves what to do
ADVICE = "; ", " must ", " need", "name ", "write ", "give ", "take ", "pass ", "at least "


@dataclass(frozen=True)
class Message:
    """A message, where it is made, and what to do as far as that is an argument of its own."""

    path: Path
    line: int
    kind: str
    text: str
    fix: str

    @property
    def advises(self) -> bool:
        """Whether it says what to do, or what must be."""
        return self.kind in COMPLETE or bool(self.fix) or any(each in self.text for each in ADVICE)

    def __str__(self) -> str:
        place = f"{self.path.relative_to(SOURCE)}:{self.line}"
        return f"{place}: {self.kind}: {self.text}{'; ' * bool(self.fix)}{self.fix}"


def messages() -> Iterator[Message]:
    """All messages, file by file."""
    for path in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        for top in ast.iter_child_nodes(tree):
            texts = _assigned(top)
            for call in ast.walk(top):
                if isinstance(call, ast.Call) and (kind := _name(call.func)) in KINDS | TELL and call.args:
                    named = {each.arg: each.value for each in call.keywords}
                    second = call.args[1] if kind in TELL and len(call.args) > 1 else None
                    fix = named.get("fix", second)
                    said = "" if fix is None else _text(fix, texts)
                    yield Message(path, call.lineno, kind, _text(call.args[0], texts), said)


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _assigned(top: ast.AST) -> dict[str, list[ast.expr]]:
    """What is assigned to each name."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(top):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    return found


def _text(node: ast.expr, texts: dict[str, list[ast.expr]], depth: int = 0) -> str:
    """A message as far as the code says it; … where only running it would."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, texts, depth) for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, texts, depth)
    if isinstance(node, ast.BinOp):
        return _text(node.left, texts, depth) + _text(node.right, texts, depth)
    if isinstance(node, ast.IfExp):
        return f"{_text(node.body, texts, depth)} | {_text(node.orelse, texts, depth)}"
    if isinstance(node, ast.Name) and depth < 3:
        told = [_text(each, texts, depth + 1) for each in texts.get(node.id, ())]
        return " | ".join(dict.fromkeys(each for each in told if each != "…")) or "…"
    return "…"


if __name__ == "__main__":
    for message in messages():
        print(message)
