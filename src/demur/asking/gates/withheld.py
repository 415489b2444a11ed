"""A threshold from an FAQ without labels: some entries are removed, and their questions asked of the rest.

Whatever is answered then is wrong. Given the rest, these are independent draws, so how often a question of
this kind is answered that has no answer is bounded exactly, for the files without those entries.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from demur.asking.gates.base_gate import made_on
from demur.asking.gates.without import Without
from demur.asking.library import Library
from demur.asking.meaning import finding
from demur.asking.meaning.ranker import ByMeaning, by_meaning
from demur.asking.quoting import same
from demur.data.perturbing.edits import typos
from demur.data.perturbing.perturb import draws
from demur.embedders.base import Vectors
from demur.errors import UsageError
from demur.kb.base import Passages
from demur.kb.folder import KnowledgeBase
from demur.kb.passages import Passage
from demur.kb.read import ReadBase
from demur.risk.gates.certificate import UNANSWERABLE, Certificate
from demur.risk.gates.gate import Gate
from demur.risk.gates.pool_hashes import Marks, ids_sha256
from demur.risk.unanswerable import choose
from demur.text import bare, content, tokenize
from demur.types import FloatArray, Pool, Ranking

TENTH, HALF = 0.1, 0.5
ASKED = 2000
"""Entries that are asked about, of those removed: a sample says as much for any number of them."""
MOST = 500
"""Entries of which each is left out alone, for the estimate."""
ALIKE = 0.9
"""The cosine from which on questions count as nearly the same."""
LIKELY = 0.5
"""The chance from which on an answer may be that of two questions, however low a threshold is."""
_SHARED = 8
"""Words of an answer: one so long that stands under two questions makes them one entry."""
_OTHERS = 3
_SLIPS = 0.2


@dataclass(frozen=True)
class Entry:
    """What is removed as one: the passages of an answer, and all the questions that it answers."""

    places: tuple[int, ...]
    questions: tuple[str, ...]

    def wordings(self, seed: int) -> list[str]:
        """What is asked: some of its questions, one with typos, and one as bare words."""
        draw = draws(seed, *self.questions)
        some = [self.questions[at] for at in draw.permutation(len(self.questions))[:_OTHERS].tolist()]
        words = " ".join(content(tokenize(some[0])))
        return [each for each in dict.fromkeys([*some, typos(some[0], _SLIPS, draw), words]) if each.strip()]


@dataclass(frozen=True)
class Missed:
    """An entry that was left out alone: how likely its best answer then seems, and what that answers."""

    question: str
    chance: float
    other: str
    cosine: float


@dataclass(frozen=True)
class Withheld:
    """What was answered to questions whose answers had been removed; any risk can then be asked."""

    entries: int
    removed: int
    taken: tuple[Entry, ...]
    """Those of the removed that were asked about."""
    confidence: FloatArray
    """For each of these the highest of its wordings."""
    alone: tuple[Missed, ...]
    """The same for entries that were left out one at a time."""
    there: tuple[tuple[float, bool], ...]
    """For other wordings of them, while all are there: the chance, and whether the answer is theirs."""
    facts: dict[str, Any]

    def gate(self, risk: float = 0.10, confidence: float = 0.95) -> Gate:
        """The gate that answers at most such a share of questions without an answer; or `NoThreshold`."""
        from demur import __version__

        found = choose(self.confidence, risk, confidence)
        pools = [Pool(each.questions[0], each.questions[0], ()) for each in self.taken]
        certificate = Certificate(
            risk=risk,
            confidence=confidence,
            questions=found.questions,
            accepted=found.accepted,
            errors=found.errors,
            bound=found.bound,
            method=found.method,
            pools=len(pools),
            pools_sha256=ids_sha256(pools),
            qualifier="top",
            demur=__version__,
            about=UNANSWERABLE,
            **self.facts,
        )
        kept = tuple(np.sort(self.confidence).tolist())
        return Gate(found.threshold, certificate, Marks.of(pools), kept)

    def left_one_out(self, threshold: float) -> float:
        """The share of entries that are answered when they are left out alone: an estimate, no promise."""
        return float(np.mean([each.chance >= threshold for each in self.alone]))

    def answered(self, threshold: float) -> float:
        """The share of other wordings that get the answer that is there: an estimate, on the high side."""
        return float(np.mean([chance >= threshold and right for chance, right in self.there]))

    def alike(self, threshold: float = 1.0) -> list[Missed]:
        """Entries that nearly say what another one says, or are answered by it: each counts as an error."""
        likely = max(threshold, LIKELY)
        found = [each for each in self.alone if each.cosine >= ALIKE or each.chance >= likely]
        return sorted(found, key=lambda each: (-each.cosine, each.question))


def withheld(
    library: Library | KnowledgeBase,
    *,
    share: float = TENTH,
    seed: int = 0,
    data: str = "",
    on_entry: Callable[[int], None] = lambda entries: None,
) -> Withheld:
    """What is answered to questions of an FAQ whose entries are removed, by ``ranker="meaning"``."""
    if not 0 < share <= HALF:
        raise UsageError(
            f"{share:g} is not a share of the entries; remove {TENTH:g} of them (--apart), or up to {HALF:g}"
        )
    passages = list(_numbered(library))
    known = entries(passages)
    if len(known) < 2:
        what = "these files have no FAQ: fewer than two passages have a question of their own"
        fix = "name a CSV or JSONL with question and answer, a text with lines Q: and A:, or a page whose "
        fix += "headings are questions"
        raise UsageError(f"{what}; {fix}")
    order = np.random.default_rng(seed).permutation(len(known)).tolist()
    count = max(1, round(share * len(known)))
    gone = {place for at in order[:count] for place in known[at].places}
    taken = tuple(known[at] for at in order[: min(count, ASKED)])
    confidence = np.zeros(len(taken))
    with _made([each for place, each in passages if place not in gone], library) as rest:
        search = by_meaning(rest)
        for at, each in enumerate(taken):
            confidence[at] = max(
                (_asked(search, wording).chance for wording in each.wordings(seed)), default=0
            )
            on_entry(1)
    whole = by_meaning(library)
    alone, there = [], []
    for each in (known[at] for at in order[:MOST]):
        said = each.wordings(seed)
        found = [_asked(by_meaning(Without(library, each.places)), wording) for wording in said]
        best = max(found, key=lambda one: one.chance)
        alone.append(replace(best, question=each.questions[0]))
        for wording in said[1:] or said:
            ranking = whole.find(wording)
            first = int(ranking.candidates[0].extra["place"]) if len(ranking) else -1
            there.append((chance_of(ranking), first in each.places))
        on_entry(1)
    if isinstance(library, ReadBase):
        data = made_on(whole, "entries")
    facts = {"seed": seed, "data": data, "ranker": whole.spec, "ranker_fingerprint": whole.fingerprint}
    return Withheld(len(known), count, taken, confidence, tuple(alone), tuple(there), facts)


def entries(passages: Sequence[tuple[int, Passage]]) -> list[Entry]:
    """The entries of an FAQ: passages with the same question, or with the same long answer, are one."""
    above: dict[object, object] = {}

    def root(one: object) -> object:
        while above.setdefault(one, one) != one:
            one = above[one]
        return one

    asked = [(place, each) for place, each in passages if each.question]
    for place, each in asked:
        above[root(place)] = root(("question", bare(each.question)))
        if len(each.text.split()) >= _SHARED:
            above[root(place)] = root(("text", bare(each.text)))
    groups: dict[object, list[tuple[int, Passage]]] = defaultdict(list)
    for place, each in asked:
        groups[root(place)].append((place, each))
    found = [
        Entry(tuple(place for place, _ in group), tuple(sorted({each.question for _, each in group})))
        for group in groups.values()
    ]
    return sorted(found, key=lambda each: each.questions)  # so that chance does not depend on a file's order


def _asked(search: ByMeaning, question: str) -> Missed:
    ranking = search.find(question)
    if not len(ranking):
        return Missed(question, 0.0, "", -1.0)
    best = ranking.candidates[0]
    cosine = float(best.extra["signals"]["meaning"]) if best.extra["question"] else -1.0
    return Missed(question, chance_of(ranking), best.extra["question"] or best.text[:80], cosine)


def chance_of(ranking: Ranking) -> float:
    """The chance of the first passage; 1 where one stands under the very question, and so is answered."""
    written = any(same(ranking.question, each.extra["heading"]) for each in ranking.candidates)
    return 1.0 if written else float(ranking.scores[0]) if len(ranking) else 0.0


def _numbered(library: Library | KnowledgeBase) -> Iterator[tuple[int, Passage]]:
    if isinstance(library, Library):
        yield from enumerate(library.passages)
    else:
        for place in library.all_places():
            yield place, library.passage(place)


@contextmanager
def _made(passages: Sequence[Passage], like: Library | KnowledgeBase) -> Iterator[Passages]:
    """The passages as a library, or for a base as a base of their own, which finds as that one does."""
    if isinstance(like, Library):
        yield Library(passages, like.stem)
        return
    with tempfile.TemporaryDirectory() as folder:
        base = KnowledgeBase(Path(folder, "rest.kb"), like.stem)
        base.put("rest", passages)
        if like.embedder == finding.maker().fingerprint:
            base.embed(_Kept())
        yield base
        base.close()


class _Kept:
    """The vectors of `finding`, which are kept on disk: they are made once, whatever is removed."""

    @property
    def fingerprint(self) -> str:
        """That of the encoder."""
        return finding.maker().fingerprint

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        return finding.vectors(texts)
