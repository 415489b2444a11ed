"""What shipped networks learnt from that stands in a test set too (`python -m tools.overlaps`).

Questions, and passages of `SAYS_MUCH` words or more, are compared by a hash of their words: case, marks and
white space are no difference. `tools/overlaps.json` has how many of a test set's are in what was learnt from,
and how many of those passages are right answers there; what shares nothing is left out. All of it lies in the
datasets as they are published: a law compares the file with what is found, so that a recipe that adds
something of a test set is noticed. Whoever trains anew can leave it out: `wikiqa/train/apart-wikiqa-test` has
no question and no long passage of `wikiqa/test`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from demur.data import pools
from demur.data.subsets import SAYS_MUCH, find_subset
from demur.errors import DataError
from demur.text import tokenize
from demur.types import Candidate, Pool
from tools.written import WRITTEN_BOOKS, WRITTEN_FAQS, is_written, written

ROOT = Path(__file__).resolve().parents[1]
KEPT = Path(__file__).with_name("overlaps.json")
NETWORKS = {
    "mini": ("mini", "mini-2", "mini-handbooks"),
    "encoder": ("encoder", "encoder-handbooks"),
}
"""The recipes of what comes with demur."""
TESTED = (
    *("wikiqa/test", "trecqa/test", "selqa/test", "semeval2016/test", "antique/test", "yahoocqa/test"),
    *("insuranceqa/test1", "insuranceqa/test2", "fiqa/test", "squad/1.1/dev", "squad/2.0/dev"),
    *("covidfaq/test", "example/questions"),
    *(f"{WRITTEN_BOOKS}test", f"{WRITTEN_FAQS}test"),
)
_SQUAD = "squad/2.0/train/held", "squad/2.0/train/rest"
CALIBRATED = {
    "mini's confidence and gates": (
        *(*_SQUAD, "wikiqa/dev", "trecqa/dev", "semeval2016/dev", "selqa/dev"),
        f"{WRITTEN_BOOKS}chance",
    ),
    "the chance and gates of asking": (
        *(*_SQUAD, "wikiqa/dev", "trecqa/dev", "semeval2016/dev", "selqa/dev", "antique/dev"),
        "semeval2016/train-part2",
        *(f"{of}{part}" for of in (WRITTEN_BOOKS, WRITTEN_FAQS) for part in ("chance", "gate")),
    ),
}
"""What was no network's to learn from: all of these sets, though of SQuAD a part was taken."""
ALSO = {"covidfaq/test": "covidfaq/test/answers-only"}
"""The same test set, whose passages are said otherwise."""
BUILT = {
    "build/handbooks.jsonl": (f"{WRITTEN_BOOKS}learn",),
    "build/written-ranked.jsonl": (f"{WRITTEN_BOOKS}learn", f"{WRITTEN_FAQS}learn"),
}
"""What `tools.written_pools` makes, and from what."""
KINDS = ("questions", "passages", "right")


@dataclass(frozen=True)
class Texts:
    """Hashes of questions and of long passages, and of those passages that are right for some question."""

    questions: frozenset[int] = frozenset()
    passages: frozenset[int] = frozenset()
    right: frozenset[int] = frozenset()

    def of(self, other: Texts) -> Texts:
        """Of these, what stands in the other."""
        both = self.passages & other.passages
        return Texts(self.questions & other.questions, both, self.right & both)

    def __or__(self, other: Texts) -> Texts:
        every = (getattr(self, kind) | getattr(other, kind) for kind in KINDS)
        return Texts(*every)

    def counts(self) -> dict[str, int]:
        """How many there are."""
        return {kind: len(getattr(self, kind)) for kind in KINDS}


@lru_cache(maxsize=1 << 19)
def _hashed(text: str, least: int = 1) -> int | None:
    """A hash of a text's words; None if it has fewer than that."""
    words = tokenize(text)
    if len(words) < least:
        return None
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest())


def texts(some: Iterable[Pool]) -> Texts:
    """The hashes of these pools."""
    questions, passages, right = set[int](), set[int](), set[int]()
    for pool in some:
        if (asked := _hashed(pool.question)) is not None:
            questions.add(asked)
        for each in pool.candidates:
            if (said := _hashed(each.text, SAYS_MUCH)) is not None:
                passages.add(said)
                if each.label:
                    right.add(said)
    return Texts(frozenset(questions), frozenset(passages), frozenset(right))


def _tested(name: str) -> Texts:
    return texts(_pools(name)) | (texts(_pools(ALSO[name])) if name in ALSO else Texts())


def learnt_by(recipe: Path) -> list[str]:
    """The data that a recipe names, to learn from or to choose by."""
    said = tomllib.loads(recipe.read_text("utf-8"))
    every = [stage.get(kind, "") for stage in said["stage"] for kind in ("data", "dev")]
    return [name.strip() for names in every for name in names.split("+") if name.strip()]


def recipes() -> list[Path]:
    """Those of networks that come with demur, or might come after."""
    return [path for of in NETWORKS for path in sorted((ROOT / "recipes").glob(f"{of}*.toml"))]


def found(names: Iterable[str], tests: Iterable[str] = TESTED) -> dict[str, dict[str, Texts]]:
    """For each of these data, the texts of each test set that stand there."""
    tested = {name: _tested(name) for name in tests}
    rows = {}
    for name in sorted(set(names)):
        learnt = texts(_pools(name))
        rows[name] = {test: every.of(learnt) for test, every in tested.items()}
    return rows


def counted(rows: Mapping[str, Mapping[str, Texts]]) -> dict[str, dict[str, dict[str, int]]]:
    """The same as numbers, without what shares nothing."""
    return {
        name: {test: each.counts() for test, each in row.items() if each.questions or each.passages}
        for name, row in rows.items()
    }


def named() -> dict[str, list[str]]:
    """The data of each recipe, and of what was calibrated."""
    by_recipe = {path.stem: learnt_by(path) for path in recipes()}
    return by_recipe | {name: list(data) for name, data in CALIBRATED.items()}


def untold(names: Iterable[str], kept: Mapping[str, Any]) -> list[str]:
    """What is found in these data otherwise than the file has it under `data`."""
    return [
        f"{name} shares {row} with test sets, where {KEPT.name} has {kept.get(name)}"
        for name, row in counted(found(names)).items()
        if row != kept.get(name)
    ]


def kept() -> dict[str, Any]:
    """What the file says."""
    said: dict[str, Any] = json.loads(KEPT.read_text("utf-8"))
    return said


def count(of: str, test: str, kind: str) -> int:
    """How many questions, passages or right ones of a test set one of `together` has; or ``all`` of them."""
    said = kept()
    if test not in said["test sets"] or kind not in KINDS:
        raise DataError(f"no {kind!r} of {test!r} are counted", path=KEPT, fix="name others, or count them")
    row = said["test sets"] if of == "all" else said["together"][of]
    return int(row.get(test, {}).get(kind, 0))


def _pools(name: str) -> Iterable[Pool]:
    """The pools of data, of what was written for this with every passage as a candidate."""
    if name in BUILT:
        return (pool for each in BUILT[name] for pool in _pools(each))
    if is_written(name):
        return _written(name)
    whole, _, part = name.rpartition("/")
    if part.startswith("sample-"):
        return find_subset(part, {}, whole)(_held(whole))
    return pools(name).stream()


@lru_cache(maxsize=1)
def _held(name: str) -> Sequence[Pool]:
    return list(_pools(name))


def _written(name: str) -> Iterator[Pool]:
    for pool, library in written(name):
        passages = [library.passage(place) for place in range(len(library))]
        said = {text for each in passages for text in (each.searched, each.text, each.question) if text}
        candidates = tuple(Candidate("", text, 0) for text in sorted(said))
        yield Pool(pool.id, pool.question, (*pool.candidates, *candidates))


def main() -> None:
    """Look, and write it down."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    wholes: dict[str, dict[str, Texts]] = {}
    by_recipe = named()
    parts = {network: [n for each in of for n in by_recipe[each]] for network, of in NETWORKS.items()}
    names = dict.fromkeys(name for each in by_recipe.values() for name in each)
    rows = found(names)
    for whole, of in {**parts, **CALIBRATED}.items():
        every = {test: Texts() for test in TESTED}
        for name in of:
            every = {test: before | rows[name][test] for test, before in every.items()}
        wholes[whole] = every
    said = {
        "command": "python -m tools.overlaps",
        "test sets": {name: _tested(name).counts() for name in TESTED},
        "together": counted(wholes),
        "data": counted({name: rows[name] for name in names}),
    }
    lines = json.dumps(said, indent=1)
    short = re.sub(r"\{\s+([^{}]+?)\s+\}", lambda of: f"{{{' '.join(of[1].split())}}}", lines)
    KEPT.write_text(short + "\n", "utf-8")
    print(KEPT, file=sys.stderr)


if __name__ == "__main__":
    main()
