"""The part of docs/formats.md that says which versions of its own files demur writes and opens."""

from __future__ import annotations

from demur import __version__, store
from demur.embedders.word_vectors import table_formats
from demur.kb.index import meanings, words
from demur.kb.store.schema import MIGRATIONS
from demur.reading import confidence
from demur.risk import sets
from demur.risk.gates import gate_file

REFUSED = "refused in one line"
AGAIN = "not used, and made again"
ROWS = [
    ("a folder of a model", "`ranker.json`", store.FORMAT, "", REFUSED),
    ("a gate", "`gate.json`", gate_file.FORMAT, "", REFUSED),
    ("answer sets", "`sets.json`", sets._FORMAT, "", REFUSED),
    ("the trained confidence of a reader", "`sureness.json`", confidence._FORMAT, "", REFUSED),
    ("word vectors", "`.safetensors`", table_formats.FORMAT, "", REFUSED),
    (
        "a knowledge base",
        "`kb.sqlite`",
        f"{len(MIGRATIONS)} (`PRAGMA user_version`)",
        f"1 to {len(MIGRATIONS)}; an older one is migrated",
        REFUSED,
    ),
    ("its words", "`words/`", words._FORMAT, "", AGAIN),
    ("its vectors", "`meanings/`", str(meanings._FORMAT), "", AGAIN),
    ("a report of `demur evaluate -o`", "`.json`", "none", "all; keys are only added", ""),
    (
        "half a job of `demur score`",
        "`OUT.parts`",
        "none",
        "those of the same version of demur",
        "said; `--restart`",
    ),
    ("the cache", "`DEMUR_CACHE`", "none", "what its keys still fit", AGAIN),
]


def section() -> str:
    """The table."""
    head = [
        "## Versions of what demur writes",
        "",
        f"demur {__version__} writes and opens these. `tests/saved` in the sources has files of each "
        "version, and a test opens them all.",
        "",
        "| what | file | version | opens | another version is |",
        "|---|---|---|---|---|",
    ]
    rows = [
        f"| {what} | {file} | {version} | {opens or version} | {else_} |"
        for what, file, version, opens, else_ in ROWS
    ]
    return "\n".join([*head, *rows])
