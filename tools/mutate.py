"""Small faults put into the code one at a time: lists those that no test finds.

`mutants.toml` beside this file names the modules of each room with their tests, which are run in a copy of
this folder. What is told is either a test that is missing, code that is superfluous, or a change that makes
no difference. Those of the last kind that were looked into stand in `survivors.toml`, each with its reason;
they are not tried again.

What was found is kept in build/mutants.jsonl, so that a run that was stopped goes on: a fault that was
noticed is not tried again, and one that was not is tried again once its tests have changed. What rooms came
to is written to results/mutants.json, from which `make docs` fills in the table in CONTRIBUTING.md.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import multiprocessing
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from tools.faults import Fault, faults, with_fault

ROOT = Path(__file__).resolve().parents[1]
HERE = Path(__file__).parent
RESULT = ROOT / "results" / "mutants.json"
AHEAD = ("numpy", "scipy.stats", "hypothesis", "pytest", "pyarrow", "tantivy", "onnxruntime", "typer")
LONGEST, CPU, WALL = 90, 300, 1800  # seconds of a test, and of all; those that take more hang by the fault


def explained() -> set[tuple[str, str, str]]:
    """The module, line and fault of those that make no difference."""
    found = tomllib.loads((HERE / "survivors.toml").read_text("utf-8"))["survivor"]
    return {(each["module"], each["line"], each["fault"]) for each in found}


class Found:
    """What is known of faults, by the hash of the module with them; each is written down at once."""

    def __init__(self, path: Path) -> None:
        self.path, self.known = path, dict[str, tuple[bool, str]]()
        path.parent.mkdir(exist_ok=True)
        for line in path.read_text("utf-8").splitlines() if path.exists() else ():
            with suppress(ValueError):  # the last one may be cut off
                text, noticed, tests = json.loads(line)
                self.known[text] = noticed, tests

    def noticed(self, text: str, tests: str) -> bool | None:
        """Whether these tests notice it; None if that is not known."""
        noticed, by = self.known.get(_hash(text), (False, ""))
        return True if noticed else False if by == tests else None

    def keep(self, text: str, noticed: bool, tests: str) -> None:
        """Write it down."""
        self.known[_hash(text)] = noticed, tests
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps([_hash(text), noticed, tests]) + "\n")


class Copy:
    """A copy of this folder, to put faults into."""

    def __init__(self, place: Path) -> None:
        self.place = place / "demur"
        ignored = shutil.ignore_patterns(".venv", ".git", "build", "results", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, self.place, ignore=ignored)
        (self.place / "results").symlink_to(ROOT / "results")
        for name in AHEAD:
            with suppress(ImportError):
                importlib.import_module(name)

    def notices(self, fault: Fault, text: str, tests: list[str]) -> bool:
        """Whether the tests fail with this fault."""
        path = self.place / "src" / "demur" / f"{fault.module}.py"
        source = path.read_text("utf-8")
        try:
            self._write(path, text)
            return not self.passes(tests)
        finally:
            self._write(path, source)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        Path(cache_from_source(str(path))).unlink(missing_ok=True)  # by its time it might be thought the same

    def passes(self, tests: list[str]) -> bool:
        """Whether tests pass: run in a fork, which has imported the large libraries already."""
        run = multiprocessing.get_context("fork").Process(target=_run, args=(self.place, tests))
        run.start()
        run.join(WALL)
        if run.is_alive():
            run.kill()
            run.join()
        return run.exitcode == 0


def _run(place: Path, tests: list[str]) -> None:
    import pytest

    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    os.chdir(place)
    os.environ["PYTHONPATH"] = f"{place / 'src'}"
    os.environ.pop("DEMUR_DATA", None)
    ours = (ROOT, ROOT / "src", ROOT / "tests")  # but not its environment, which may lie in it
    elsewhere = [each for each in sys.path if Path(each or ".").resolve() not in ours]
    sys.path[:] = [f"{place / 'src'}", *elsewhere]
    words = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not slow"]
    words += ["-k", "not lance", "--timeout", str(LONGEST)]  # LanceDB's files are not in mutants.toml
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # of what was imported ahead
    os._exit(pytest.main([*words, *dict.fromkeys(f"tests/{each}" for each in tests)]))


def tests_of(place: Path, words: list[str]) -> str:
    """A hash of tests as they are."""
    paths = [place / "tests" / each for each in words]
    files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    return _hash("".join(file.read_text("utf-8") for file in files))


def source_of(place: Path, module: str) -> str:
    """The text of a module."""
    return (place / "src" / "demur" / f"{module}.py").read_text("utf-8")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def drawn(place: Path, modules: list[str], most: int, seed: int) -> list[Fault]:
    """Faults of a room, drawn by chance from all of its modules; in the order of their places."""
    known, every = explained(), list[Fault]()
    for module in modules:
        every += [each for each in faults(module, source_of(place, module)) if each.known_as not in known]
    some = sorted(every, key=lambda each: each.drawn_by(seed))[:most]
    return sorted(some, key=lambda each: (each.module, each.number))


def tried(modules: dict[str, str], some: list[Fault], copied: Copy, found: Found) -> list[str]:
    """Those of some faults that are not noticed; each is told at once."""
    missed = []
    for fault in some:
        tests, text = modules[fault.module].split(), with_fault(source_of(copied.place, fault.module), fault)
        by = tests_of(copied.place, tests)
        if found.noticed(text, by) is None:
            for each in tests:
                sound = f"without a fault, {tests_of(copied.place, [each])}"
                if not found.noticed(sound, ""):
                    if not copied.passes([each]):
                        raise SystemExit(f"{each}: fails without a fault")
                    found.keep(sound, True, "")
            found.keep(text, copied.notices(fault, text, tests), by)
        if not found.noticed(text, by):
            missed.append(f"{fault.module}.py:{fault.line}: {fault.what}")
            print(f"  {missed[-1]}", flush=True)
    return missed


def kept(path: Path = RESULT) -> dict[str, dict[str, Any]]:
    """What the rooms came to."""
    said: dict[str, dict[str, Any]] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return said


def keep(room: str, said: dict[str, Any], path: Path = RESULT) -> None:
    """Write down what a room came to; what others came to stays."""
    path.write_text(json.dumps({**kept(path), room: said}, indent=1, sort_keys=True) + "\n", "utf-8")


def _commit() -> str:
    """The commit that this runs in, with a + if it was changed since; forks must load demur themselves."""

    def said(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    changed = said("status", "--porcelain", "--", "src", "tests", "tools")
    return said("rev-parse", "--short=12", "HEAD") + "+" * bool(changed)


def table(path: Path = RESULT) -> str:
    """The rooms as a table for CONTRIBUTING.md."""
    lines = ["| room | faults drawn | noticed by a test | commit |", "|---|---|---|---|"]
    for room, said in kept(path).items():
        drawn, noticed = said["drawn"], said["drawn"] - len(said["missed"])
        lines.append(f"| {room} | {drawn} | {noticed} ({noticed / drawn:.0%}) | {said['commit']} |")
    return "\n".join(lines)


def main() -> int:
    """Try faults in all rooms, or in those that are named."""
    rooms = tomllib.loads((HERE / "mutants.toml").read_text("utf-8"))
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(rooms)}")
    arguments.add_argument("--most", type=int, default=40, help="faults in a room, drawn by chance")
    arguments.add_argument("--seed", type=int, default=0)
    given = arguments.parse_args()
    found, commit = Found(ROOT / "build" / "mutants.jsonl"), _commit()
    with tempfile.TemporaryDirectory() as place:
        copied = Copy(Path(place))
        for room in given.rooms or rooms:
            some = drawn(copied.place, list(rooms[room]), given.most, given.seed)
            missed = tried(rooms[room], some, copied, found)
            said = {"drawn": len(some), "missed": missed, "seed": given.seed, "commit": commit}
            keep(room, said)
            print(f"{room}: {len(some) - len(missed)} of {len(some)} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
