"""Follows the tutorials as a reader does: saves the files of a page and types its commands.

`python -m tools.tutorials` puts what they print into the pages; tests compare it with what stands there.
"""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
import textwrap
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Self

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
ADDRESS = "127.0.0.1:8000"
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"\n]+)")?\n(.*?)^```$', re.M | re.S)
_TYPED = re.compile(r"^\$ ((?:.*\\\n)*.+)\n((?:(?!\$ ).*\n)*)", re.M)
_FRACTION = re.compile(r"(\d+\.\d+)")
_WIDTH = 80


@dataclass
class Desk:
    """A folder to work in, with the shell of somebody who has just installed demur."""

    folder: Path
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    port: int = 0

    def __enter__(self) -> Self:
        tools = self.folder / ".bin"
        tools.mkdir()
        for name, words in (("demur", "-m demur "), ("python", "")):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}"$@"\n', "utf-8")
            (tools / name).chmod(0o755)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self.running:
            server.terminate()
            server.communicate()

    @property
    def environment(self) -> dict[str, str]:
        """Without datasets, and with this demur."""
        kept = {name: value for name, value in os.environ.items() if name != "DEMUR_DATA"}
        path = f"{self.folder / '.bin'}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "PATH": path, "PYTHONPATH": str(ROOT / "src"), "PYTHONUNBUFFERED": "1"}

    def types(self, command: str) -> str:
        """What a command prints."""
        if command.startswith("pip install"):
            return self._installs(command)
        if command.startswith("demur serve"):
            return self._serves(command)
        done = subprocess.run(
            ["bash", "-c", command.replace(ADDRESS, f"127.0.0.1:{self.port}")],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        return done.stdout.replace(str(self.folder), "/home/ada")

    def _installs(self, command: str) -> str:
        """Nothing; a package that lies in the folder is made known, without pip."""
        if command.split()[-1] == ".":
            project = tomllib.loads((self.folder / "pyproject.toml").read_text("utf-8"))["project"]
            told = self.folder / f"{project['name']}-{project['version']}.dist-info"
            told.mkdir()
            (told / "METADATA").write_text(
                f"Name: {project['name']}\nVersion: {project['version']}\n", "utf-8"
            )
            lines = [
                f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
                for group, points in project.get("entry-points", {}).items()
            ]
            (told / "entry_points.txt").write_text("".join(lines), "utf-8")
        return ""

    def _serves(self, command: str) -> str:
        """The first line of a server, which goes on until the page is done."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        server = subprocess.Popen(
            ["bash", "-c", f"exec {command} --port {self.port} --no-access-log"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self.running.append(server)
        assert server.stdout is not None
        said = server.stdout.readline()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health"):
            pass
        self.types(f"curl -sf --retry 60 --retry-delay 1 http://{ADDRESS}/ready")
        return said.replace(f"127.0.0.1:{self.port}", ADDRESS)


def follow(page: str, desk: Desk, left_out: Callable[[str], bool]) -> Iterator[tuple[str, str, str]]:
    """Each command of a page with what stands below it, and what it prints."""
    for kind, title, text in _BLOCK.findall(page):
        if title:
            (desk.folder / title).write_text(text, "utf-8")
        elif kind == "console":
            for command, said in _TYPED.findall(text):
                if not left_out(command):
                    yield command, said, desk.types(command)
        elif kind != "sh":
            raise ValueError(f"a block of {kind} is neither a file with a title nor commands: {text[:60]}")


def alike(said: str, printed: str) -> bool:
    """Whether two outputs say the same: ends of lines do not count, and fractions may differ a little."""
    ours, theirs = (_FRACTION.split(" ".join(text.split())) for text in (said, printed))
    return ours[::2] == theirs[::2] and all(
        math.isclose(float(one), float(other), rel_tol=0.05, abs_tol=0.02)
        for one, other in zip(ours[1::2], theirs[1::2], strict=True)
    )


def with_fractions(said: str, printed: str) -> str:
    """What is said, as its lines are broken, with the fractions of what is printed."""
    ours, theirs = _FRACTION.split(said), _FRACTION.split(printed)
    ours[1::2] = theirs[1::2]
    return "".join(ours)


def wrapped(printed: str) -> str:
    """The output, as a terminal of 80 columns breaks it."""
    lines: list[str] = []
    for line in printed.splitlines():
        margin = " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(
            line, _WIDTH, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines).strip() + "\n" if printed.strip() else ""


def main() -> None:
    """Write the pages anew."""
    for path in PAGES:
        page, at = path.read_text("utf-8"), 0
        with TemporaryDirectory() as folder, Desk(Path(folder)) as desk:
            for command, said, printed in follow(page, desk, left_out=lambda _: False):
                old = f"$ {command}\n{said}"
                at = page.index(old, at)
                after = page[at + len(old) :]
                if alike(said, printed):
                    new = f"$ {command}\n{with_fractions(said, printed)}"
                else:
                    gap = "\n" * after.startswith("$ ")  # before the next command
                    new = f"$ {command}\n{wrapped(printed)}{gap}"
                page, at = page[:at] + new + after, at + len(new)
        path.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
