"""Asking with mini itself, small and untaught: what it sees once is all that is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.asking import Session, packaged
from demur.rankers import Ranker
from demur.reading.readers import mini
from demur.types import Answer, Pool
from laws import toys

TEXTS = ["Saws are lent for three weeks. Ask first.", "Saws cut wood.", "Nobody lent a saw twice."]
QUESTION = "For how long are saws lent?"


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pairs the network was shown, each time it was."""
    times: list[int] = []
    original = mini.Mini.views

    def views(self: mini.Mini, pairs: Sequence[Any], *more: Any) -> Iterator[Any]:
        times.append(len(pairs))
        return original(self, pairs, *more)

    monkeypatch.setattr(mini.Mini, "views", views)
    return times


def small() -> Ranker:
    return demur.ranker(toys.small(), threshold=99.0)  # it answers whatever it thinks of no answer


def test_one_pass_ranks_reads_and_says_how_sure_it_is(seen: list[int]) -> None:
    ranker = small()
    seen.clear()
    result = Session.open(TEXTS, ranker, "none").ask(QUESTION)
    assert seen == [3]
    assert isinstance(result, Answer) and result.span is not None and result.confidence is not None
    assert result.candidate.text[result.span.start : result.span.end] == result.span.text
    again = Session.open(TEXTS, ranker, "none", toys.small()).ask(QUESTION)
    assert again.ranking.scores == result.ranking.scores
    alone = ranker.score(QUESTION, [candidate.text for candidate in result.ranking.candidates])
    assert alone == pytest.approx(result.ranking.scores, abs=1e-4)


def test_a_gate_is_as_sure_as_the_look(seen: list[int]) -> None:
    ranker = small()
    pools = [Pool.of(QUESTION, TEXTS, [int(n % 10 > 0), 1, 1], id=str(n)) for n in range(300)]
    how = f"mini(folder={toys.small()})"
    gate = demur.calibrate(ranker, pools, 0.5, qualifier=how, grid=np.array([-1.0]))
    seen.clear()
    plain, gated = (Session.open(TEXTS, ranker, each).ask(QUESTION) for each in ("none", gate))
    assert seen == [3, 3, 1], "the gate looks at the best once more"
    assert gated.confidence == pytest.approx(gated.ranking.candidates[0].extra["look"].confidence, abs=1e-3)
    assert [c.extra["look"] for c in plain.ranking.candidates] == [
        c.extra["look"] for c in gated.ranking.candidates
    ]


def test_where_the_packaged_model_lies() -> None:
    assert packaged.FOLDER.resolve() == mini.PACKAGED.resolve()
    assert packaged.folder_named("mini") == packaged.folder_named("mini(threads=1)") == packaged.FOLDER
    assert packaged.folder_named("mini(folder=a)") == Path("a")
    assert packaged.folder_named("mini-torch") is None


def test_a_span_reader_quotes_what_another_ranker_found(tmp_path: Path) -> None:
    reader = demur.reader(toys.answerer(), threshold=1e6)
    reader.save(tmp_path / "reader")
    found = [
        Session.open(TEXTS, "length", reader=each).ask(QUESTION, top=2)
        for each in (reader, tmp_path / "reader")
    ]
    assert isinstance(found[0], Answer) and found[0].span is not None
    assert found[0].candidate.text == max(TEXTS[0], TEXTS[2], key=len)
    assert [found[1].ranking, found[1].confidence] == [found[0].ranking, found[0].confidence]
    assert all("look" in candidate.extra for candidate in found[0].ranking.candidates)
