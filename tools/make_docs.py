"""Writes the generated pages under docs/; with --check, says which of them are out of date."""

from __future__ import annotations

import argparse
import html
import importlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from rich.console import Console

from demur.cli.printed import VERBS
from tools import (
    advised,
    api_page,
    claims,
    comparison,
    determinism,
    figures,
    guarantee,
    house,
    leads,
    licences,
    named,
    places,
    speed,
)
from tools import asked as asking
from tools import front as front_page
from tools import json_schemas as schemas
from tools import versions as versions_of
from tools.mutate import table as mutants
from tools.size import core_megabytes

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FINDINGS = figures.TEMPLATES / "findings.md"
SEEN, BETWEEN = figures.TEMPLATES / "results.md", "\n\n"  # there is only results.toml: recipes have the text
PAPERS = ("scarce", "committee", "scan", "risk", "mini")
QUESTIONS = [  # as `make run` asks
    "What should I do when I have lost my membership card?",
    "How can I book the cargo bike for next Saturday?",
    "How high is the deposit for the pressure washer?",
]
FORMATS_INTRODUCTION = """Everything is read and written as a stream, gzipped or not, in UTF-8 with
or without a BOM, with LF or CRLF. The ending of a name says the format; for JSONL the keys of the first line
do. `-` is stdin or stdout.
What is wrong with a file is said in one line, with its name and, where it is of a line, its number."""
CLI_INTRODUCTION = """\
The result goes to stdout, everything else to stderr. The exit code is 0 when the work is done, 1 when it
failed, and 2 when the command or its input is wrong; one line then says why. It is 130 when Ctrl-C stopped
it. With `--json` the result is JSON, which a [schema](schemas/) describes. Colours and bars are for
terminals only; `NO_COLOR=1` leaves colours out. For screen readers, `TTY_INTERACTIVE=0` or `TERM=dumb` has
plain lines in place of bars. `demur --install-completion` teaches your shell verbs and options."""
PICTURE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>"""  # rich's own frame fetches a font from elsewhere; this one does not
SIZE = re.compile(r"<!-- size -->(\d+) MB<!-- /size -->")
NOTICE = "<!-- Written by `make docs`. Do not edit by hand. -->\n\n"


def cli() -> str:
    """`docs/cli.md`: the real --help of every verb."""
    pages = [f"## demur {verb}\n\n```text\n{_help(*verb.split())}```\n" for verb in house.verbs()]
    return f"{NOTICE}# The command line\n\n{CLI_INTRODUCTION}\n\n```text\n{_help()}```\n\n" + "\n".join(pages)


def _help(*words: str) -> str:
    environment = {**os.environ, "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "demur", *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip("\n").replace("python -m demur", "demur") + "\n"


def api() -> str:
    """`docs/api.md`: every public name, and what the classes behind them have."""
    return f"{NOTICE}{api_page.api()}"


def formats() -> str:
    """`docs/formats.md`: every format, as its module describes it."""
    from demur.data.formats import FORMATS

    parts = [f"{NOTICE}# Files and formats\n\n{FORMATS_INTRODUCTION}"]
    rows = [
        f"| `{name}` | {form.about} | {' '.join(f'`{suffix}`' for suffix in form.suffixes)} "
        f"| {'yes' if form.read else ''} | {'yes' if form.write else ''} |"
        for name, form in FORMATS.items()
    ]
    parts.append(
        "\n".join(
            ["| format | what it is | endings | pools read | written |", "|---|---|---|---|---|", *rows]
        )
    )
    homes = dict.fromkeys(form.read.__module__ for form in FORMATS.values() if form.read)
    for home in (*homes, "demur.data.formats.trec"):
        text = inspect.getdoc(importlib.import_module(home)) or ""
        parts.append(f"## {home.rpartition('.')[2].replace('_', '-')}\n\n{text.replace('``', '`')}")
    return "\n\n".join([*parts, versions_of.section()]) + "\n"


def picture() -> str:
    """`docs/ask.svg`: the terminal, as the bundled example is asked what `make run` asks."""
    return asked(QUESTIONS).export_svg(title="demur ask", code_format=PICTURE, unique_id="demur") + "\n"


def asked(questions: Sequence[str], top: int = 3, width: int = 92) -> Console:
    """A terminal that has recorded the answers to questions of the bundled example."""
    from demur.asking import Session
    from demur.asking.example import passages
    from demur.cli.asking.answers import show

    session = Session.open(passages())
    with Path(os.devnull).open("w") as nowhere:
        console = Console(
            record=True, width=width, file=nowhere, force_terminal=True, color_system="truecolor"
        )
        for question in questions:
            typed = f'$ demur ask "{question}" --example --top {top}'
            console.print(typed, style="dim", highlight=False, soft_wrap=True)
            show(session.ask(question, top=top), console, gate=session.gate)
    return console


def words(picture: str) -> str:
    """What a picture of the terminal says, but for white space, styles and numbers with a fraction.

    Those are confidences: another processor may round them otherwise, and lines then break elsewhere.
    """
    said = html.unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture)))
    return plain(said)


def plain(text: str) -> str:
    """A text but for white space and numbers with a fraction."""
    return "".join(re.sub(r"(?<!\d)0\.\d+", "#", text).split())


def results() -> str:
    """`docs/results.md`: the index of all tables."""
    from demur.experiments.pages import markdown

    return NOTICE + markdown.index(list(figures.tables().values()))


def paper(name: str) -> str:
    """`docs/results/PAPER.md`: the tables of a paper, from the files under results/; nothing is run."""
    from demur.experiments.pages import markdown

    sections = [
        markdown.section(table, ROOT / "results", figures.tested_cells(*key), seen()[key])
        for key, table in figures.tables().items()
        if table.paper == name
    ]
    return NOTICE + markdown.page(name, leads.lead(name) + sections)


@cache
def seen() -> dict[tuple[str, str], str]:
    """What to see in each table, as its recipe says it, with the figures filled in."""
    return dict(zip(figures.tables(), figures.filled(SEEN, see()).split(BETWEEN), strict=True))


def see() -> str:
    """What all recipes say about what to see in their tables, one after the other."""
    return BETWEEN.join(" ".join(table.see.split()) for table in figures.tables().values())


def readme() -> str:
    """`README.md`, with how good the models are, the size of the core and what the terminal shows.

    A difference of a few percent in size, or of a confidence, is left alone.
    """
    text = between((ROOT / "README.md").read_text("utf-8"), "models", front_page.models())
    said = int(SIZE.search(text)[1])  # type: ignore[index]  # the mark is there, or this fails loudly
    now = core_megabytes()
    text = text if abs(said - now) < 0.15 * now else SIZE.sub(f"<!-- size -->{now} MB<!-- /size -->", text)
    return _answered(text, asked(QUESTIONS[::2]))


def front() -> str:
    """`docs/index.md`, with what the terminal shows."""
    return _answered((DOCS / "index.md").read_text("utf-8"), asked(QUESTIONS[::2], top=1, width=80))


def _answered(text: str, terminal: Console) -> str:
    """A page with what a terminal shows, unless it shows the same but for confidences."""
    lines = terminal.export_text().splitlines()
    block = "```text\n" + "\n".join(line.rstrip() for line in lines).strip() + "\n```"
    filled = between(text, "ask", block)
    return text if plain(text) == plain(filled) else filled


def contributing() -> str:
    """`CONTRIBUTING.md`: the picture of the house, where each verb is, and what small faults came to."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    text = between(text, "house", f"```text\n{house.picture()}\n```")
    text = between(text, "verbs", house.table_of_verbs())
    return between(text, "mutants", mutants())


def scale() -> str:
    """`docs/scale.md`, with what was measured of Ray and of bases."""
    text = between((DOCS / "scale.md").read_text("utf-8"), "engine", places.engine())
    return between(text, "places", places.places())


def between(text: str, name: str, block: str) -> str:
    """A page with a block between the marks of this name."""
    marked = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not marked.search(text):
        raise ValueError(f"a page has lost its mark <!-- {name} -->")
    return marked.sub(lambda found: f"{found[1]}{block}\n{found[2]}", text)


PAGES: dict[str, Callable[[], str]] = {
    "advice.md": lambda: NOTICE + advised.page(),
    "api.md": api,
    "asking.md": lambda: NOTICE + asking.page(),
    "ask.svg": picture,
    "cli.md": cli,
    "comparison.md": lambda: NOTICE + comparison.page(),
    "determinism.md": lambda: NOTICE + determinism.page(),
    "findings.md": lambda: NOTICE + figures.filled(FINDINGS),
    "formats.md": formats,
    "guarantee.md": guarantee.page,
    "index.md": front,
    "guarantee.svg": guarantee.picture,
    "licences.md": lambda: NOTICE + licences.page(),
    "results.md": results,
    **{f"results/{name}.md": partial(paper, name) for name in PAPERS},
    **{schemas.name(verb): partial(schemas.page, verb) for verb in VERBS},
    "scale.md": scale,
    "settings.md": lambda: NOTICE + named.settings(),
    "speed.md": lambda: NOTICE + speed.page(),
    "../README.md": readme,
    "../CONTRIBUTING.md": contributing,
}


def main() -> int:
    """Write the pages, or check them: 0 when all are as they should be."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--check", action="store_true")
    check = arguments.parse_args().check
    stale = []
    for name, make in PAGES.items():
        page, text = DOCS / name, make()
        there = page.read_text("utf-8") if page.exists() else ""
        if there == text or (check and name == "ask.svg" and words(there) == words(text)):
            continue
        stale.append(name)
        if not check:
            page.parent.mkdir(exist_ok=True)
            page.write_text(text, "utf-8")
    templates = [FINDINGS, *(page for page in map(leads.template, PAPERS) if page.exists())]
    untrue = [line for page in templates for line in claims.broken(page)] + claims.broken(SEEN, see())
    if untrue:
        print("\n".join(untrue), file=sys.stderr)
        print("change the words, or the claim in the .toml file under docs/templates/", file=sys.stderr)
        return 1
    if check and stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    print(f"docs: {len(PAGES)} pages {'are up to date' if not stale else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
