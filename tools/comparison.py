"""`docs/comparison.md`: demur beside other libraries, as results/peers and docs/templates have it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.peers.facts import FACTS, Facts, Told, facts, names
from bench.peers.known import BY_NAME, DEMUR, KINDS, QUESTIONS
from bench.peers.turns import DATA, FIRST, MEASURES, OURS, RATIO, THREADS, TURNS
from bench.peers.worker import ASKED

from demur.errors import DataError

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "results" / "peers"
TEMPLATE = ROOT / "docs" / "templates" / "comparison.md"
MARKS = {"yes": "●", "part": "○", "": "–"}
LATER = "not measured yet"
Row = dict[str, Any]
Rows = dict[tuple[str, str], Row]


def page(folder: Path = KEPT) -> str:
    """The whole page."""
    kept, told = rows(folder), facts()
    checked(kept)
    parts = {
        "choice": choice(kept, told),
        "matrix": matrix(told),
        "sources": sources(told),
        "encode": ranked("encode", kept),
        "rerank": ranked("rerank", kept),
        "encode_data": data_of("encode"),
        "rerank_data": data_of("rerank"),
        **promise(kept),
        **ties(kept),
        **start(kept),
        "made_by": made_by(kept.values()),
    }
    counts = {"first": FIRST, "asked": ASKED, "turns": TURNS, "learnt": QUESTIONS}
    threads = f"{THREADS} thread" + "s" * (THREADS != 1)
    return TEMPLATE.read_text("utf-8").format(**parts, **counts, checked=told.checked, threads=threads)


def rows(folder: Path) -> Rows:
    """What was kept, by kind and library."""
    kept = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    for row in kept:
        if row["kind"] not in KINDS or row["peer"] not in (DEMUR, *BY_NAME):
            what = f"{row['kind']} of {row['peer']} is no row that is known"
            raise DataError(what, path=folder, fix="remove its file")
    return {(row["kind"], row["peer"]): row for row in kept}


def checked(kept: Rows) -> None:
    """Raise an error if a fact rests on a name that a library does not have, or that nobody looked up."""
    for peer in BY_NAME:
        known = found(kept, "names", peer)
        for name in names(peer) if known else ():
            if name not in known:
                raise DataError(
                    f"{name} was not looked up", fix="run `make bench-peers` after removing names.*"
                )
            if not known[name]:
                raise DataError(f"{peer} has no {name}", fix=f"correct {FACTS.relative_to(ROOT)}")


def found(kept: Rows, kind: str, peer: str) -> Any:
    """What a row found, if it is there."""
    return kept.get((kind, peer), {}).get("found")


def choice(kept: Rows, told: Facts) -> str:
    """When to take which."""
    lines = []
    for each in told.peer:
        if each.name != DEMUR:
            lines += [f"**[{each.title}]({each.page})**{version(kept, each)}", ""]
            lines += [f"- *Take it when* {plain(each.theirs)}", f"- *Take demur when* {plain(each.ours)}"]
            lines += [f"- *Not measured here:* {plain(each.unmeasured)}"] * bool(each.unmeasured) + [""]
    return "\n".join(lines).rstrip()


def version(kept: Rows, told: Told) -> str:
    """The version that was measured."""
    known = {row["versions"][told.name] for (_, peer), row in kept.items() if peer == told.name}
    return f" {', '.join(sorted(known))}" if known else ""


def plain(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


def matrix(told: Facts) -> str:
    """What each does."""
    lines = [
        [feature.says, *(MARKS[feature.source(each.name)[0]] for each in told.peer)]
        for feature in told.feature
    ]
    return table(["", *(each.title for each in told.peer)], lines)


def sources(told: Facts) -> str:
    """Where each fact stands."""
    lines = []
    for feature in told.feature:
        named = [feature.source(each.name)[1] for each in told.peer]
        shown = [f"<{source}>" if "://" in source else f"`{source}`" for source in named if source]
        lines.append(f"- {feature.says}: {', '.join(shown)}")
    return "\n".join(lines)


def data_of(kind: str) -> str:
    """The data of a kind in words."""
    said = [f"the first {most} questions of {name}" if most else name for name, most in DATA[kind].items()]
    return ", ".join(said)


def ranked(kind: str, kept: Rows) -> str:
    """Quality and ratios of a kind."""
    ours, tasks = list(OURS[kind]), ["all at once", *(["one by one"] if kind == "encode" else [])]
    titles = ["", *(f"{name}: {', '.join(MEASURES)}" for name in DATA[kind])]
    titles += [f"{task}: × {who}" for task in tasks for who in ours]
    quality = (found(kept, kind, DEMUR) or {}).get("quality", {})
    lines = [
        [f"demur, {who}", *(measures(quality.get(name, {}).get(who)) for name in DATA[kind])] for who in ours
    ]
    for peer in (peer.name for peer in BY_NAME.values() if kind in peer.kinds):
        if here := found(kept, kind, peer):
            cells = [measures(here["quality"].get(name, {}).get(peer)) for name in DATA[kind]]
            each = [here["speed"], found(kept, "asked", peer)][: len(tasks)]
            cells += [f"{times[who][RATIO]:.2f}" if times else LATER for times in each for who in ours]
            lines.append([peer, *cells])
        else:
            failed = kept.get((kind, peer), {}).get("failed")
            lines.append([peer, f"failed: {failed}" if failed else LATER])
    return table(titles, lines)


def measures(quality: dict[str, float] | None) -> str:
    """Measures, one after the other."""
    return ", ".join(f"{quality[name]:.3f}" for name in MEASURES) if quality else "–"


def promise(kept: Rows) -> dict[str, object]:
    """The tables of thresholds with a promise, and what they are about."""
    row = found(kept, "promise", "mapie")
    if not row:
        return {**dict.fromkeys(("risk", "sure", "draws", "limit"), "–"), "promise": LATER}
    cells = {(cell["questions"], cell["population"], cell["rule"]): cell for cell in row["cells"]}
    sizes, names, rules = (list(dict.fromkeys(key[at] for key in cells)) for at in range(3))
    tables = [
        table(
            [f"{size:,} labelled questions", *names],
            [[rule, *(_kept(cells[size, name, rule]) for name in names)] for rule in rules],
        )
        for size in sizes
    ]
    about = {"risk": f"{row['risk']:.0%}", "sure": f"{1 - row['risk']:g}", "draws": row["draws"]}
    return {**about, "limit": row["cells"][0]["limit"], "promise": "\n\n".join(tables)}


def _kept(cell: dict[str, Any]) -> str:
    broken = str(cell["violations"]) if cell["violations"] <= cell["limit"] else f"**{cell['violations']}**"
    return f"{broken}; {cell['coverage']:.1%}"


def ties(kept: Rows) -> dict[str, str]:
    """What a scorer that knows nothing gets."""
    row = found(kept, "ties", "pyterrier")
    if not row:
        return {"ties_data": "–", "ties": LATER}
    lines = [
        [order, *(f"{each[who]:.3f}" for who in (DEMUR, "pyterrier"))] for order, each in row["MAP"].items()
    ]
    return {"ties_data": row["data"], "ties": table(["", "demur", "PyTerrier"], lines)}


def start(kept: Rows) -> dict[str, str]:
    """Sizes, and times from nothing."""
    sizes = [size[DEMUR] for peer in BY_NAME if (size := found(kept, "size", peer))]
    lines = [["demur", f"{sizes[0]:,} MB"]] if sizes else []
    helps = []
    for name, peer in BY_NAME.items():
        size, times = (found(kept, kind, name) for kind in ("size", "start"))
        cells = [f"{size[name]:,} MB" if size else "–"]
        for step in ("import", "first"):
            taken = (times or {}).get(step)
            cells += [f"{taken[who]['processor']:.2f} s" if taken else "–" for who in (name, DEMUR)]
        lines.append([" ".join(peer.install), *cells])
        helps += [times["help"][DEMUR]["processor"]] if times else []
    said = f"{median(helps):.2f} s" if helps else f"– ({LATER})"
    titles = ["installed", "size", "import", "demur's", "first ranking", "demur's"]
    return {"help": said, "start": table(titles, lines)}


def table(titles: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown; short lines are filled up."""
    filled = [[*line, *[""] * (len(titles) - len(line))] for line in lines]
    return "\n".join(f"| {' | '.join(each)} |" for each in (titles, ["---"] * len(titles), *filled))


def made_by(kept: Iterable[Row]) -> str:
    """On what, by what and under what load all was measured."""
    every = list(kept)
    if not every:
        return ""
    machines, commits = (", ".join(sorted({row[key] for row in every})) for key in ("machine", "commit"))
    versions = {name: number for row in every for name, number in row["versions"].items()}
    packages = ", ".join(f"{name} {versions[name]}" for name in sorted(versions, key=str.lower))
    loads = [load for row in every for load in row["load"]]
    busy = f"load of the machine meanwhile, other work included: {min(loads):g} to {max(loads):g}"
    return f"<sub>{machines}; commit {commits}; {busy}; {packages}</sub>"
