"""What a reader says of questions, window by window, as the arrays that doubts look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from demur.doubt.observed import Observed
from demur.doubt.probing.probes import Picture, Probes, States, drawn
from demur.errors import UsageError
from demur.reading.base import Reader, portions
from demur.reading.readers.network import NetworkReader
from demur.reading.spans import View, best, covering, span
from demur.text import STOPWORDS, token_spans
from demur.types import Pool

_TOGETHER = 256  # questions read in one go
_NEAR = 100  # characters around a span
_AGAIN = 1_000_003  # passes with dropout draw from seeds apart


@dataclass(frozen=True, eq=False)
class Shown:
    """A window as probes learn from it: its states, and where the answer starts and ends, or 0 and 0."""

    states: States
    start: int = 0
    end: int = 0


def shown(reader: Reader, pools: Sequence[Pool]) -> Iterator[Shown]:
    """The windows of questions of SQuAD, with the places of their first gold."""
    for view in reader.views([_pair(pool) for pool in pools], states=True):
        yield Shown(view.states, *_gold(view, pools[view.pair]))


def _gold(view: View, pool: Pool) -> tuple[int, int]:
    listed: Any = pool.extra.get("answers") or []
    for gold in listed[:1]:
        start, end = gold["answer_start"], gold["answer_start"] + len(gold["text"])
        places = view.places[1:]
        found = covering(places, start, end)
        if found and places[found[0], 0] <= start and end <= places[found[1], 1]:
            return 1 + found[0], 1 + found[1]
    return 0, 0


def observe(
    reader: Reader,
    pools: Sequence[Pool],
    probes: Probes | None = None,
    fixed: Observed | None = None,
    dropout: int | None = None,
    on_question: Callable[[int], None] = lambda count: None,
) -> Observed:
    """What a reader says of the first passage of each question.

    With `fixed`, another observation, it is what it says of that one's spans. With `dropout`, a seed, the
    network reads with dropout, as in training.
    """
    seen: list[_ReadWindow] = []
    with _dropping(reader, dropout):
        for pairs in portions([_pair(pool) for pool in pools], _TOGETHER):
            at = len(seen)
            some = pools[at : at + len(pairs)]
            views: list[list[tuple[View, Picture | None]]] = [[] for _ in some]
            order = sorted(range(len(some)), key=lambda place: len("".join(pairs[place])))  # little padding
            more: Any = {"through": probes.weights} if probes is not None else {}
            for view in reader.views([pairs[place] for place in order], **more):
                picture = drawn(view.states) if probes is not None else None
                views[order[view.pair]].append((replace(view, states=()), picture))
            for place, (pool, each) in enumerate(zip(some, views, strict=True)):
                where = None if fixed is None else _where(fixed, at + place, pool)
                seen.append(_seen(reader, pool, sorted(each, key=lambda two: two[0].number), where))
            on_question(len(some))
    return _gathered(pools, seen, reader.longest)


def _where(fixed: Observed, place: int, pool: Pool) -> tuple[int, int, int]:
    if fixed.ids[place] != pool.id:
        raise UsageError("fixed is an observation of other questions; observe these first")
    return int(fixed.window[place]), int(fixed.first[place]), int(fixed.last[place])


def _pair(pool: Pool) -> tuple[str, str]:
    return pool.question, pool.candidates[0].text if len(pool) else ""


@dataclass(frozen=True, eq=False)
class _ReadWindow:
    """The one window of a question that counts."""

    view: View
    picture: Picture | None
    first: int
    last: int
    text: str
    says: bool
    odds: float
    null: float
    second: float
    wording: float = field(default=0.0)


def _seen(
    reader: Reader,
    pool: Pool,
    views: Sequence[tuple[View, Picture | None]],
    where: tuple[int, int, int] | None,
) -> _ReadWindow:
    question, passage = _pair(pool)
    found = reader.reading(passage, [view for view, _ in views])
    if where is None:
        where = reader.best_of(passage, [view for view, _ in views])
    number, first, last = where
    if number >= len(views) or last >= len(views[number][0].starts):
        raise UsageError("the readers split the passages into other windows; take readers of one kind")
    view, picture = views[number]
    start, end = int(view.places[first, 0]), int(view.places[last, 1])
    text = span(passage, start, end).text if first else ""
    says = bool(text) and found.null_odds <= reader.threshold
    second = _second([view for view, _ in views], reader.longest)
    near = passage[max(0, start - _NEAR) : end + _NEAR]
    return _ReadWindow(
        *(view, picture, first, last, text, says, found.null_odds, found.null_probability, second),
        _shared(question, near),
    )


def _second(views: Sequence[View], longest: int) -> float:
    """The probability of the second best span of any window; it may be the best one, seen by another."""
    spans = [
        (score, *view.places[[first, last], [0, 1]].tolist(), view)
        for view in views
        for score, first, last in best(view, longest, 2)
    ]
    two = sorted(spans, key=lambda each: (-each[0], each[1], each[2]))[1:2]
    return two[0][3].share(two[0][0]) if two else 0.0


def _shared(question: str, near: str) -> float:
    """The share of the question's words of content that stand in a text."""
    asked = {word for word, _, _ in token_spans(question)} - STOPWORDS
    return len(asked & {word for word, _, _ in token_spans(near)}) / len(asked) if asked else 0.0


def _gathered(pools: Sequence[Pool], seen: Sequence[_ReadWindow], longest: int) -> Observed:
    def whole(name: str, kind: Any) -> Any:
        return np.array([getattr(each, name) for each in seen], kind)

    def parts(rows: Sequence[Any], kind: Any, shape: tuple[int, ...] = ()) -> Any:
        return np.concatenate([np.empty((0, *shape), kind), *rows]).astype(kind)

    layers = next((each.picture.shape[2] for each in seen if each.picture is not None), 0)
    pictures = [np.empty((len(s.view.starts), 2, 0)) if s.picture is None else s.picture for s in seen]
    return Observed(
        ids=tuple(pool.id for pool in pools),
        texts=tuple(each.text for each in seen),
        says=whole("says", np.bool_),
        window=np.array([each.view.number for each in seen], np.int64),
        first=whole("first", np.int64),
        last=whole("last", np.int64),
        odds=whole("odds", np.float64),
        null=whole("null", np.float64),
        second=whole("second", np.float64),
        wording=whole("wording", np.float64),
        longest=np.full(len(seen), longest),
        bounds=np.append(0, np.cumsum([len(each.view.starts) for each in seen], dtype=np.int64)),
        starts=parts([each.view.log_starts for each in seen], np.float32),
        ends=parts([each.view.log_ends for each in seen], np.float32),
        fair=parts([each.view.fair for each in seen], np.bool_),
        pictures=parts(pictures, np.float16, (2, layers)),
    )


@contextmanager
def _dropping(reader: Reader, seed: int | None) -> Iterator[None]:
    """A block in which the reader's network drops units at random, if a seed is given; then as before."""
    if seed is None:
        yield
        return
    if not isinstance(reader, NetworkReader):
        raise UsageError(f"{reader.name} is not a torch network, so it has no dropout; leave passes out")
    import torch

    from demur.nets.transformers.attention import quick
    from demur.nets.transformers.dropout import cheaply

    network = reader._network()[0]
    forked = torch.random.fork_rng(devices=range(torch.cuda.device_count()))
    with forked, quick(network, drops=True), cheaply(network):
        torch.manual_seed(_AGAIN * (1 + seed))
        network.train()
        try:
            yield
        finally:
            network.eval()
