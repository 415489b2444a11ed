"""Mini's confidence, trained on labelled pools that its network has never seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from demur import logistic, store
from demur.errors import UsageError
from demur.rankers import open_model
from demur.reading.confidence import ConfidenceModel, names
from demur.reading.normalise import overlap
from demur.reading.one_pass import OnePassReader
from demur.reading.published import golds
from demur.types import Candidate, FloatArray, Pool

_FIRST = 3  # passages of each pool, in mini's order: those that may be shown
_ALIKE = 0.5  # F1 of words from which a quote is right
_USUAL = (0.005, 0.995)  # between these quantiles of a signal more is more; beyond them it says no more

L = TypeVar("L", bound=OnePassReader)


def fit_confidence(mini: L, pools: Sequence[Pool], made: Mapping[str, Any] | None = None) -> ConfidenceModel:
    """The confidence that fits which of the first three passages of each pool are right.

    A passage is right if its label is above zero and, where the pool says its answers as SQuAD does, if half
    of the words of the quote and the nearest answer are the same. `made` tells what the pools are.
    """
    pairs, right = _judged(mini, pools)
    if not 0 < right.sum() < len(right):
        raise UsageError("a confidence needs passages that are right and others that are not")
    table = mini.signals(pairs)
    low, high = np.quantile(table, _USUAL, axis=0)
    table = table.clip(low, high)
    weights, constant = logistic.fit(table, logistic.softened(right), signed=True)
    ranges = np.column_stack([low, high, weights])
    facts = {"pools": len(pools), "passages": len(pairs), "right": int(right.sum()), **(made or {})}
    return ConfidenceModel(tuple(names((table.shape[1] - 5) // 2)), constant, ranges, facts)


def _judged(mini: OnePassReader, pools: Sequence[Pool]) -> tuple[list[tuple[str, str]], FloatArray]:
    """The first passages of each pool, and whether they are right."""
    pairs: list[tuple[str, str]] = []
    right: list[bool] = []
    for pool, looks in zip(pools, mini.look_pools(pools), strict=True):
        for at in np.argsort([-look.score for look in looks], kind="stable")[:_FIRST].tolist():
            candidate, quote = pool.candidates[at], looks[at].quote
            if candidate.label is None:
                continue
            good = candidate.label > 0
            if good and "answers" in pool.extra:
                said = quote.text if quote else ""
                good = max((overlap(said, gold) for gold in golds(pool)), default=0.0) >= _ALIKE
            pairs.append((pool.question, candidate.text))
            right.append(good)
    return pairs, np.array(right, np.float64)


def train_confidence(
    folder: Path, pools: Sequence[Pool], made: Mapping[str, Any] | None = None
) -> OnePassReader:
    """The mini in a folder, with a confidence trained on these pools, which is saved in the folder."""
    mini = open_model(folder)
    if not isinstance(mini, OnePassReader):
        raise UsageError(f"{folder} holds a {mini.name}, not a mini; name the folder of one")
    found = fit_confidence(mini, pools, made)
    known = store.open_folder(folder, check=False)
    texts = {path.name: path.read_bytes() for path in map(folder.joinpath, known.files)}
    card = folder / "README.md"
    texts |= {card.name: card.read_bytes()} if card.is_file() else {}
    with store.saving(folder, known.spec, known.made) as inside:
        for name, content in texts.items():
            (inside / name).write_bytes(content)
        found.save(inside)
    again = open_model(folder)
    assert isinstance(again, OnePassReader)
    return again


def among_others(pools: Iterable[Pool], others: int = 4) -> list[Pool]:
    """Questions of SQuAD with passages of the same article beside their own, which alone may be right.

    Of other passages come those that follow in the data, as many as there are and at most so many.
    """
    every = list(pools)
    near: dict[Any, dict[str, Candidate]] = {}
    for pool in every:
        near.setdefault(pool.extra.get("title"), {}).setdefault(pool.answers[0], pool.candidates[0])
    found = []
    for pool in every:
        there = list(near[pool.extra.get("title")].values())
        own = next(n for n, one in enumerate(there) if one.text == pool.answers[0])
        rest = [*there[own + 1 :], *there[:own]][:others]
        answer = Candidate(pool.candidates[0].id, pool.answers[0], int(bool(golds(pool))))
        wrong = [Candidate(one.id, one.text, 0) for one in rest]
        found.append(Pool(pool.id, pool.question, (answer, *wrong), pool.extra))
    return found
