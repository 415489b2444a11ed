"""Lists results whose maker HEAD cannot name (`make makers`).

They name no commit, or code that was not committed, or a commit that is not in HEAD's history, such as one of
a branch that was rebased. Commits that came into the history as one are listed under that one in
results/squashed.json: its tree holds what they had.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from demur.experiments.results import provenance, stored
from demur.experiments.results.provenance import DIRTY

RESULTS = Path(__file__).resolve().parents[1] / "results"


def unnamed(results: Path, history: set[str]) -> dict[str, str]:
    """By the file name of a run, why HEAD cannot name its maker; runs that it can name are left out.

    `history` has commits as results name them.
    """
    found = {}
    for file, kept in stored.read_results(results):
        commit = kept.get("commit", "")
        if not commit.removesuffix(DIRTY):
            found[file] = "names no commit"
        elif commit.endswith(DIRTY):
            found[file] = "made by code that was not committed"
        elif commit not in history:
            found[file] = "made by a commit that is not in HEAD's history"
    return found


def squashed(results: Path, history: set[str]) -> set[str]:
    """The commits whose work came into this history as one commit."""
    said = results / "squashed.json"
    kept: dict[str, list[str]] = json.loads(said.read_text("utf-8")) if said.is_file() else {}
    return {each for whole, some in kept.items() if whole in history for each in some}


def main() -> int:
    """Print them, a line for each table; exit with 1 if there are any."""
    if not (known := provenance.history()):
        print("no whole clone is here, so no maker can be looked up", file=sys.stderr)
        return 1
    found = unnamed(RESULTS, known | squashed(RESULTS, known))
    counts = Counter((file.rsplit("/", 2)[0], why) for file, why in found.items())
    for (table, why), count in sorted(counts.items()):
        print(f"{table}: {count} {why}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
