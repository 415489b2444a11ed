"""Writes the generated pages under docs/; with --check, says which of them are out of date."""

from __future__ import annotations

import argparse
import inspect
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import demur
from demur import registry

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
VERBS = [
    "ask",
    "rank",
    "score",
    "evaluate",
    "compare",
    "reproduce",
    "data",
    "data list",
    "data show",
    "data check",
]
NOTICE = "<!-- Written by `make docs`. Do not edit by hand. -->\n\n"


def cli() -> str:
    """`docs/cli.md`: the real --help of every verb."""
    pages = [f"## demur {verb}\n\n```text\n{_help(*verb.split())}```\n" for verb in VERBS]
    return f"{NOTICE}# The command line\n\n```text\n{_help()}```\n\n" + "\n".join(pages)


def _help(*words: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "demur", *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip("\n").replace("python -m demur", "demur") + "\n"


def api() -> str:
    """`docs/api.md`: every public name with its signature and docstring."""
    parts = [f"{NOTICE}# The Python names\n"]
    for name in demur.__all__:
        thing = getattr(demur, name)
        signature = (
            "" if inspect.isclass(thing) and issubclass(thing, Exception) else str(inspect.signature(thing))
        )
        parts.append(f"## `demur.{name}`\n\n```python\n{name}{signature}\n```\n\n{inspect.getdoc(thing)}\n")
    return "\n".join(parts)


def names() -> str:
    """`docs/names.md`: everything registered by name."""
    parts = [f"{NOTICE}# Everything by name\n"]
    for kind in registry.OURS:
        rows = [
            f"| `{name}` | {_first_line(registry.find(kind, name))} |" for name in sorted(registry.OURS[kind])
        ]
        parts.append(
            "\n".join([f"## {kind.capitalize()}s\n", "| name | what it is |", "|---|---|", *rows, ""])
        )
    return "\n".join(parts)


def _first_line(thing: object) -> str:
    text = inspect.getdoc(thing) or ""
    return text.splitlines()[0] if text else ""


def results() -> str:
    """`docs/results.md`: every table, from the files under results/; nothing is run."""
    from demur.experiments import markdown

    return NOTICE + markdown.page(ROOT / "experiments", ROOT / "results")


PAGES: dict[str, Callable[[], str]] = {"cli.md": cli, "api.md": api, "names.md": names, "results.md": results}


def main() -> int:
    """Write the pages, or check them: 0 when all are as they should be."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    check = arguments.parse_args().check
    stale = []
    for name, make in PAGES.items():
        page, text = DOCS / name, make()
        if page.exists() and page.read_text("utf-8") == text:
            continue
        stale.append(name)
        if not check:
            page.write_text(text, "utf-8")
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    print(f"docs: {len(PAGES)} pages {'are up to date' if not stale else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
