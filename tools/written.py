"""FAQs and handbooks that were written for this project, and what is asked of them.

Those in `learn` teach networks, those in `chance` how likely it is that what the networks say is right. On
those in `gate` the gates are calibrated, and those in `test` are tests. A near miss is about what some
passage nearly covers, and has no answer there; what is far is about something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from demur.asking.library import Library
from demur.kb.passages import Passage
from demur.types import Candidate, Pool

WRITTEN_FAQS, WRITTEN_BOOKS = "written FAQs/", "written handbooks/"
SHELVES = ("a", "b", "c", "d")
"""Files may be asked for by quarters, as in `chance, a`."""
NONE = ("near", "far")
"""The kinds of questions that have no answer."""
PARTS = ("learn", "chance", "gate", "test")
_HERE = Path(__file__).parent
_PLACES = {WRITTEN_FAQS: (_HERE / "faqs", "*.csv"), WRITTEN_BOOKS: (_HERE / "handbooks", "*.md")}


def is_written(name: str) -> bool:
    """Whether a set is of these."""
    return name.startswith(tuple(_PLACES))


def written(name: str) -> Iterator[tuple[Pool, Library]]:
    """What is asked, and the file that is asked; where nothing is right, the candidate is an empty one."""
    of = next(each for each in _PLACES if name.startswith(each))
    folder, files = _PLACES[of]
    part, _, shelf = name.removeprefix(of).partition(", ")
    every = sorted((folder / part).glob(files))
    for path in every[SHELVES.index(shelf) :: len(SHELVES)] if shelf else every:
        library = Library(path)
        passages = [library.passage(place) for place in range(len(library))]
        for number, line in enumerate(path.with_suffix(".asks.jsonl").read_text("utf-8").splitlines()):
            said = json.loads(line)
            right = [Candidate(each.id, each.searched, 1) for each in _right(said, passages)]
            pool = Pool(
                f"{path.stem}-{number}",
                said["asks"],
                tuple(right) or (Candidate("", "", 0),),
                {"kind": said["kind"], "quote": said.get("quote")},
            )
            yield pool, library


def _right(said: dict[str, Any], passages: list[Passage]) -> list[Passage]:
    """The row of an FAQ that is meant, or the paragraph that is quoted."""
    if said.get("row") is not None:
        return [passages[said["row"]]]
    return [each for each in passages if said.get("quote") and said["quote"] in each.text]
