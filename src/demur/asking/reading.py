"""What a reader sees in passages: for each a score, what it would quote, and how sure it is, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from demur import registry, store
from demur.errors import UsageError
from demur.rankers import Ranker
from demur.rankers import ranker as ranker_named
from demur.rankers.opening import HUB_ID, folder_of
from demur.reading import Reader, Reading
from demur.reading import reader as reader_named
from demur.reading.one_pass import OnePassReader
from demur.specs import parse
from demur.types import Pool, SeenPassage, Span

if TYPE_CHECKING:
    from demur.asking.gates.gate import Gate

NONE = "none"
"""In place of a reader: sentences are quoted, by the words they share with the question."""
_FIX = "name mini, or the folder of one that demur train --trainer span-reader made"


class Look(NamedTuple):
    """What is seen in one passage; no span means that the answer is not there."""

    score: float
    span: Span | None
    confidence: float


@runtime_checkable
class Looker(Protocol):
    """A ranker that also reads, in the same pass: ``mini``, or anything with this method."""

    def look(self, question: str, passages: Sequence[str]) -> Sequence[SeenPassage]:
        """A look at each passage."""
        ...


def reads(ranker: object) -> bool:
    """Whether a ranker can also quote."""
    return isinstance(ranker, Looker | Reader)


def reader_for(reader: str | Path | object | None, ranker: Ranker | None) -> object | None:
    """Who quotes: the reader that is meant; if none is named the ranker, if it can; None for sentences."""
    if reader is None:
        return ranker if reads(ranker) else None
    if not isinstance(reader, str | Path):
        found = reader
    elif reader == NONE:
        return None
    else:
        folder = folder_of(reader, "reader such as mini")
        ours = store.is_model(folder) if folder is not None else not HUB_ID.fullmatch(str(reader))
        if ours and folder is None and parse(str(reader)).name not in registry.names("ranker"):
            raise UsageError(f"there is no reader {str(reader)!r}; {_FIX}, or none to quote whole sentences")
        found = ranker_named(reader) if ours else reader_named(reader)
    if not reads(found):
        raise UsageError(f"{_called(found)} ranks and does not read; {_FIX}")
    return ranker if found == ranker else found  # the same one looks only once


def check_quotes(gate: Gate, reader: object | None) -> None:
    """Raise an error if a gate's promise is about another reader's quotes.

    That of ``mini`` goes by what mini quotes, and that of a reader's own doubt by what this reader quotes.
    """
    facts = gate.certificate
    if reader is None or not facts.get("qualifier"):
        return
    asked, ranker = parse(facts["qualifier"]), facts["ranker_fingerprint"]
    own = (asked.name == "mini" and asked.settings.get("of") == ranker) or asked.settings.get("quoting")
    if own and not (isinstance(reader, Ranker) and reader.fingerprint == ranker):
        raise UsageError(
            f"this gate goes by what {facts['ranker']} quotes, and promises nothing about the quotes of "
            f"{_called(reader)}; leave the reader out, or the gate"
        )


def _called(reader: object) -> str:
    """How an error names a reader."""
    return reader.spec if isinstance(reader, Ranker) else type(reader).__name__


def looks(reader: object, question: str, passages: Sequence[str]) -> list[Look]:
    """What a reader sees in each passage."""
    if isinstance(reader, Looker):
        return [Look(seen.score, seen.span, seen.confidence) for seen in reader.look(question, passages)]
    assert isinstance(reader, Reader)
    readings = reader.read_all((question, passage) for passage in passages)
    return [_look(each) for each in readings]


def look_pools(reader: object, pools: Sequence[Pool]) -> Sequence[Sequence[SeenPassage]]:
    """What a reader sees in each candidate of each pool, in as few passes as it can."""
    if isinstance(reader, OnePassReader):
        return reader.look_pools(pools)
    if not isinstance(reader, Reader):
        return [looks(reader, pool.question, pool.answers) for pool in pools]
    found = iter(reader.read_all((pool.question, text) for pool in pools for text in pool.answers))
    return [[_look(next(found)) for _ in pool.answers] for pool in pools]


def _look(reading: Reading) -> Look:
    return Look(-reading.null_odds, reading.span, reading.confidence)


def within(span: Span | None, start: int, text: str) -> Span | None:
    """The part of a span that lies in a text which began at `start` of what was read; None if none does."""
    if span is None:
        return None
    first, end = max(0, span.start - start), span.end - start
    while first < end and text[first].isspace():
        first += 1
    return Span(first, end, text[first:end]) if first < end else None
