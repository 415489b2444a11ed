"""Small faults put into the code one at a time: lists those that no test finds.

A fault is another comparison, sign, number, order or condition in one place of a module. Modules are changed
in a copy of this folder, where the tests named for them are run. What is told is either a test that is
missing, code that is superfluous, or a change that makes no difference. Those of the last kind that were
looked into stand in `survivors.toml` beside this file, each with its reason; they are not tried again.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from demur import toml

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {  # what figures and promises rest on, and the tests that should notice
    "evaluation/measures": "evaluation/test_measures.py laws/test_measures.py",
    "evaluation/judged": "evaluation/test_measures.py evaluation/test_report.py",
    "evaluation/conventions": "evaluation/test_conventions.py",
    "evaluation/selective/measures": "evaluation/selective/test_measures.py",
    "evaluation/comparison/significance": "evaluation/comparison/test_significance.py",
    "evaluation/intervals": "evaluation/test_intervals.py",
    "risk/thresholds/bounds": "risk/thresholds/test_bounds.py",
    "risk/thresholds/control": "risk/thresholds/test_control.py",
    "risk/thresholds/learn_then_test": "risk/thresholds/test_control.py",
    "risk/sets": "risk/test_sets.py",
    "training/objectives/pool_losses": "training/test_by_hand.py training/test_loop.py",
    "training/objectives/robust": "training/cross_encoders/test_robust.py training/test_by_hand.py",
    "training/objectives/scan": "training/cross_encoders/test_scan.py training/test_by_hand.py",
    "training/objectives/reweighting": (
        "training/cross_encoders/test_scan.py training/objectives/test_decorrelation.py"
    ),
    "training/objectives/decorrelation": "training/objectives/test_decorrelation.py",
    "training/committees/irgan": "training/committees/test_adversarial_loop.py training/test_by_hand.py",
    "training/committees/irgan_rules": (
        "training/committees/test_adversarial_loop.py training/committees/test_adversarial.py"
    ),
    "training/objectives/distilled": "training/cross_encoders/test_distilled.py training/test_by_hand.py",
    "training/objectives/mini": "training/readers/test_mini.py training/test_by_hand.py",
    "doubt/probing/probes": "doubt/test_probes.py",
    "nets/readers/probe": "doubt/test_probes.py",
    "nets/readers/probe_cnn": "doubt/test_probe_cnn.py",
}
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
class Survivor:
    """A fault that no test can notice, in a line of a module, and why."""

    module: str
    line: str
    fault: str
    why: str


@dataclass(frozen=True)
class Explained:
    """All faults that were looked into."""

    survivor: list[Survivor]


def explained() -> set[tuple[str, str, str]]:
    """The module, line and fault of those that make no difference."""
    found = toml.read_toml(Explained, Path(__file__).with_name("survivors.toml"))
    return {(each.module, each.line, each.fault) for each in found.survivor}


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


def mutants(source: str) -> Iterator[tuple[int, str, str]]:
    """Each fault of a module: its line, what was changed into what, and the module's text with it."""
    tree = ast.parse(source)
    passed = {part for node in ast.walk(tree) for part in _told(node)}
    for node in ast.walk(tree):
        if node in passed or (other := changed(node)) is None:
            continue
        for parent in ast.walk(tree):
            for name, value in ast.iter_fields(parent):
                places = value if isinstance(value, list) else [value]
                if not any(each is node for each in places):
                    continue
                put = [other if each is node else each for each in places]
                setattr(parent, name, put if isinstance(value, list) else put[0])
                text = ast.unparse(ast.fix_missing_locations(tree))
                setattr(parent, name, value)
                yield getattr(node, "lineno", 0), f"{_short(node)}  ->  {_short(other)}", text


def _told(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of errors, annotations and decorators of classes, which no figure rests on."""
    if isinstance(node, ast.Raise | ast.JoinedStr):
        yield from ast.walk(node)
    if isinstance(node, ast.ClassDef):
        for each in node.decorator_list:
            yield from ast.walk(each)
    for name in ("annotation", "returns"):
        if isinstance(part := getattr(node, name, None), ast.AST):
            yield from ast.walk(part)


def _short(node: ast.AST) -> str:
    return ast.unparse(node).splitlines()[0][:60]


def survivors(target: str, tests: list[str], copied: Path, most: int, seed: int) -> tuple[int, list[str]]:
    """How many faults were tried in a module, and those that its tests did not notice."""
    path = copied / "src" / "demur" / f"{target}.py"
    source = path.read_text("utf-8")
    lines, known = source.splitlines(), explained()
    every = [one for one in mutants(source) if (target, lines[one[0] - 1].strip(), one[1]) not in known]
    drawn = sorted(random.Random(seed).sample(every, min(most, len(every))))
    began = time.monotonic()
    if not _pass(tests, copied, 600):
        raise SystemExit(f"{target}: its tests fail as it is")
    limit = 4 * (time.monotonic() - began) + 5
    found = []
    for line, what, text in drawn:
        path.write_text(text, "utf-8")
        if _pass(tests, copied, limit):
            found.append(f"{target}.py:{line}: {what}")
            print(f"  {found[-1]}", flush=True)
    path.write_text(source, "utf-8")
    return len(drawn), found


def _pass(tests: list[str], copied: Path, limit: float) -> bool:
    words = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow"]
    here = {**os.environ, "PYTHONPATH": f"{copied / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", *words, *(f"tests/{each}" for each in tests)]
    try:
        done = subprocess.run(command, cwd=copied, env=here, capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Try faults in all modules of the list, or in those that are named."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("targets", nargs="*", metavar="MODULE", help=f"of {', '.join(TARGETS)}")
    arguments.add_argument("--most", type=int, default=18, help="faults in a module, drawn by chance")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as place:
        copied = Path(place) / "demur"
        ignored = shutil.ignore_patterns(".venv", ".git", "results", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copied, ignore=ignored)
        (copied / "results").symlink_to(ROOT / "results")
        for target in given.targets or TARGETS:
            tried, found = survivors(target, TARGETS[target].split(), copied, given.most, given.seed)
            print(f"{target}: {tried - len(found)} of {tried} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
