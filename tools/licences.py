"""The page of licences; a package whose licence is unknown, or that may not be in the core, is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from typing import cast

from packaging.requirements import Requirement

from demur.data.sources import known
from tools.installed import ROOT, needed, plain, project, required

PAGE = ROOT / "docs" / "licences.md"
FREE = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CNRI-Python"),
    *("ISC", "LLVM-exception", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Zlib"),
}
OF_FILES = {"MPL-2.0"}
COPYLEFT = {"LGPL-2.1-only", "LGPL-3.0-only"}
SPELLED = {  # texts and classifiers that are no SPDX expression
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache 2.0 License": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache2.0": "Apache-2.0",
    "BSD License": "BSD",
    "BSD-3-Clause, Apache-2.0, dependency licenses": "BSD-3-Clause AND Apache-2.0",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
UNKNOWN, WORK = "unknown", "tests, tools"
INTRODUCTION = f"""demur is under Apache-2.0. These are the packages of `constraints.txt`, and what each says
of its own licence. `make docs` reads it where the package is installed. It fails if one says nothing that is
known, or if the core needs a package with a copyleft licence. {" and ".join(sorted(OF_FILES))} is allowed
there: it covers the files that are under it, not those that use them. `core` is a plain `pip install demur`;
the other words are its extras.

On Linux, torch from PyPI also brings NVIDIA's libraries, which have a licence of NVIDIA's own; a build of
torch for processors alone does without. Tools that `make` puts into an environment of their own, such as
those that build the site, are not listed."""
DATA = """Only the example comes with demur. What you need of the others you obtain under their own terms;
`demur data show` says how, and whom to cite."""
MODELS = """Both small models began as all-MiniLM-L6-v2 (Apache-2.0). What they were trained on, and under
which terms, is in their cards, `src/demur/models/mini/README.md` and `src/demur/models/encoder/README.md`."""


def licence(name: str) -> str | None:
    """What a package says of its licence, as an SPDX expression if it can be; None if it is not installed."""
    try:
        told = cast(Message, metadata(name))
    except PackageNotFoundError:
        return None
    classified = [
        each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or [] if "License ::" in each
    ]
    for said in (told.get("License-Expression"), told.get("License"), *classified):
        if said and (meant := SPELLED.get(said, said)) and ids(meant) <= FREE | OF_FILES | COPYLEFT:
            return meant
    return UNKNOWN


def ids(expression: str) -> set[str]:
    """The licences that an expression names."""
    return set(re.findall(r"[^\s()]+", expression)) - {"AND", "OR", "WITH"}


def may_be_in_core(expression: str) -> bool:
    """Whether one of the licences to choose from is no copyleft that reaches further than its files."""
    return any(ids(choice) <= FREE | OF_FILES for choice in expression.split(" OR "))


def packages() -> dict[str, tuple[str, str]]:
    """The licence of each package and what needs it; what is not installed is as the page has it."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    before, users = written(), brought()
    found = {}
    for name in sorted(plain(line.partition("==")[0]) for line in lines if not line.startswith("#")):
        told, needs = before.get(name, (UNKNOWN, ""))
        by = [
            user
            for user, names in users.items()
            if (user in needs.split(", ") if names is None else name in names)
        ]
        for_users = [user for user in by if user not in ("test", "dev")]
        found[name] = licence(name) or told, "core" if "core" in by else ", ".join(for_users) or WORK
    return found


def brought() -> dict[str, set[str] | None]:
    """The packages that the core and each extra bring; None for an extra that is not installed here."""
    found: dict[str, set[str] | None] = {}
    for extra in ("", *project()["optional-dependencies"]):
        wanted = {plain(Requirement(text).name) for text in required(extra)} - {"demur"}
        names = set(needed(required(extra)))
        found[extra or "core"] = names if wanted <= names else None
    return found


def written() -> dict[str, tuple[str, str]]:
    """The licences and needs that the page has now."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", text.partition("## Data")[0], re.M)
    return {name: (said, by) for name, said, by in rows}


def faults(found: Mapping[str, tuple[str, str]]) -> list[str]:
    """A line for each package whose licence nobody knows, or that may not be in the core."""
    lines = []
    for name, (said, by) in found.items():
        if said == UNKNOWN:
            lines.append(f"{name}: its licence is not known; read it, and add its words to tools/licences.py")
        elif by == "core" and not may_be_in_core(said):
            lines.append(f"{name}: the core may not need a package under {said}")
    return lines


def page() -> str:
    """The page, without its notice."""
    found = packages()
    if wrong := faults(found):
        raise SystemExit("\n".join(wrong))
    rows = [f"| `{name}` | {said} | {by} |" for name, (said, by) in found.items()]
    copyleft = [name for name, (said, _) in found.items() if not may_be_in_core(said)]
    apart = f"Copyleft, and so in extras alone: {', '.join(f'`{name}`' for name in copyleft)}."
    data = [f"| `{name}` | {source.licence} |" for name, source in sorted(known().items())]
    parts = [
        f"# Licences\n\n{INTRODUCTION}",
        "\n".join(["## Packages", "", "| package | licence | needed by |", "|---|---|---|", *rows]),
        apart,
        "\n".join([f"## Data\n\n{DATA}", "", "| dataset | licence |", "|---|---|", *data]),
        f"## Models\n\n{MODELS}",
    ]
    return "\n\n".join(parts) + "\n"
