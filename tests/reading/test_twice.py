from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import demur
from demur.doubt import doubt, observe
from demur.errors import DataError, UnknownName, UsageError
from demur.rankers.opening import save
from demur.reading.base import Pair, Reader
from demur.reading.readers.twice import Twice, _around, _mean
from demur.reading.spans import Through, View, fairly, stretches
from demur.types import Pool
from laws import toys

QUESTION = "who built it?"
PASSAGE = "Ann drew the plans. Bob built the house in May. Carl paid."
SURE, HALF = 4.0, 1.0


@dataclass(frozen=True)
class Scripted(Reader):
    """A reader that likes words as it is told to, less so among many; it remembers what it was shown."""

    name: ClassVar[str] = "scripted"
    likes: tuple[str, ...] = ("Bob",)
    window: int = 100
    longest: int = 2
    n_best: int = 5
    threshold: float = 0.0
    shown: list[Pair] = field(default_factory=list, compare=False)

    def views(self, pairs: Sequence[Pair], states: bool = False, through: Through = ()) -> Iterator[View]:
        self.shown.extend(pairs)
        for place, (_, passage) in enumerate(pairs):
            words, at = passage.split(), 0
            places = []
            for word in words:
                at = passage.index(word, at)
                places.append((at, at + len(word)))
                at += len(word)
            cut = stretches(len(words), self.window, 3)
            for number, ((a, b), fair) in enumerate(zip(cut, fairly(cut, len(words)), strict=True)):
                liked = [SURE * (word.strip(".") in self.likes) for word in words[a:b]]
                scores = np.array([HALF, *liked])
                seen = np.array([[0, 0], *places[a:b]])
                more = (np.full((b - a + 1, 2), len(words), np.float32),) if states else ()
                yield View(place, number, scores, scores * 1.0, seen, np.append(True, fair), more)


def twice(**settings: object) -> tuple[Twice, Scripted]:
    inside = Scripted(**settings)  # type: ignore[arg-type]
    found = Twice()
    object.__setattr__(found, "_held", (inside,))
    return found, inside


def shares(view: View) -> np.ndarray:
    return np.exp(view.log_starts)


def test_the_sentence_of_the_best_quote_is_read_once_more_and_nothing_else() -> None:
    reader, inside = twice()
    reader.read_all([(QUESTION, PASSAGE), (QUESTION, "Bob built it."), (QUESTION, "")])
    first, second = inside.shown[:3], inside.shown[3:]
    assert first == [(QUESTION, PASSAGE), (QUESTION, "Bob built it."), (QUESTION, "")]
    assert second == [(QUESTION, "Bob built the house in May.")]


def test_shares_are_the_means_of_both_looks() -> None:
    reader, inside = twice()
    (found,) = reader.views([(QUESTION, PASSAGE)])
    whole, alone = (
        inside.views([(QUESTION, PASSAGE)]),
        inside.views([(QUESTION, "Bob built the house in May.")]),
    )
    one, other = shares(next(whole)), shares(next(alone))
    expected = one / 2
    expected[0] += other[0] / 2  # no answer
    expected[5:11] += other[1:] / 2  # Bob is the fifth word
    assert shares(found) == pytest.approx(expected) and shares(found).sum() == pytest.approx(1)
    assert found.share(found.null) == pytest.approx(expected[0] ** 2)


def test_a_right_quote_is_surer_than_at_first_sight() -> None:
    reader, inside = twice()
    again, once = reader.read_all([(QUESTION, PASSAGE)])[0], inside.read_all([(QUESTION, PASSAGE)])[0]
    assert again.span is not None and again.span.text == "Bob" == PASSAGE[again.span.start : again.span.end]
    assert again.confidence > once.confidence


def test_a_quote_over_two_sentences_has_both_read_again() -> None:
    text = "Ann drew the plans. Then Bob built it. Carl paid."
    start, end = text.index("plans"), text.index("Then") + 4
    assert _around(text, start, end) == (0, "Ann drew the plans. Then Bob built it.")
    assert _around(text, text.index("Bob"), text.index("Bob") + 3) == (20, "Then Bob built it.")


def test_a_token_that_only_the_sentence_has_counts_nowhere() -> None:
    _, inside = twice()
    (whole,) = inside.views([(QUESTION, PASSAGE)])
    (alone,) = inside.views([(QUESTION, "Bob built the house in May.")])
    other = alone.places.copy()
    other[1] = 0, 2  # "Bo", which is no token of the passage
    found = _mean(whole, replace(alone, places=other), PASSAGE.index("Bob"))
    assert shares(found)[5] == pytest.approx(shares(whole)[5] / 2 / _left(alone))
    assert found.starts[6] > whole.starts[6] - np.log(2)


def _left(alone: View) -> float:
    """What is left of all shares without those of its first token."""
    return float(1 - shares(alone)[1] / 2)


def test_another_window_stays_as_it_was() -> None:
    long = "nothing here at all. " * 4 + PASSAGE
    reader, inside = twice(window=12)
    before, after = (list(one.views([(QUESTION, long)])) for one in (inside, reader))
    changed = [not np.array_equal(a.starts, b.starts) for a, b in zip(before, after, strict=True)]
    assert len(changed) > 2 and changed.count(True) == 1
    assert changed.index(True) == inside.best_of(long, before)[0]


def test_a_sentence_of_more_than_one_window_is_no_closer_look() -> None:
    long = (
        "Ann drew. Then in the end Bob and all the others built the whole house by hand and paint. Carl paid."
    )
    reader, inside = twice(window=8)
    pairs = [(QUESTION, long)]
    for before, after in zip(inside.views(pairs), reader.views(pairs), strict=True):
        assert np.array_equal(before.starts, after.starts) and np.array_equal(before.ends, after.ends)


def test_states_are_of_the_first_look_and_pairs_keep_their_places() -> None:
    reader, _ = twice()
    pairs = [
        (QUESTION, f"Ann drew {number}. Bob built {'it ' * number}. Carl paid.") for number in range(1, 40)
    ]
    found = list(reader.views(pairs, states=True))
    assert [view.pair for view in found] == list(range(39))
    assert all(view.states[0][0, 0] == len(pairs[view.pair][1].split()) for view in found)
    alone = [next(reader.views([pair])).starts for pair in pairs]
    assert all(np.array_equal(view.starts, one) for view, one in zip(found, alone, strict=True))


def test_its_settings_are_those_of_the_reader_within() -> None:
    reader, inside = twice(threshold=3.0, longest=1)
    assert (reader.longest, reader.n_best, reader.threshold) == (1, inside.n_best, 3.0)
    assert reader.layers == inside.layers and reader.tolerance == inside.tolerance


@pytest.mark.parametrize("within", ["twice", "bm25"])
def test_what_cannot_read_within_is_refused(within: str) -> None:
    with pytest.raises((UsageError, UnknownName), match=r"twice|unknown reader"):
        demur.reader(f"twice(reader={within})")


def test_the_packaged_network_looks_at_a_sentence_as_it_looks_at_any_passage() -> None:
    sentence = "Drills and saws are lent for a week, and a fine of two pounds a day is due for late tools."
    passage, question = f"The hall has a stage. {sentence} The kitchen is shared.", "How high is the fine?"
    (again,) = demur.reader("twice").views([(question, passage)])
    whole, alone = (next(demur.reader("mini").views([(question, text)])) for text in (passage, sentence))
    assert shares(again)[0] == pytest.approx((shares(whole)[0] + shares(alone)[0]) / 2)
    begin = passage.index("two")
    at = [place.tolist() for place in again.places].index([begin, begin + 3])
    there = [place.tolist() for place in alone.places].index(
        [sentence.index("two"), sentence.index("two") + 3]
    )
    assert shares(again)[at] == pytest.approx((shares(whole)[at] + shares(alone)[there]) / 2)
    assert shares(again)[1] == pytest.approx(shares(whole)[1] / 2)  # The hall: not in the sentence


@pytest.mark.parametrize("within", ["", "/nowhere"])
def test_an_error_about_a_reader_names_a_reader(within: str) -> None:
    with pytest.raises((UsageError, DataError), match=r"such as mini"):
        demur.reader(f'twice(reader="{within}")')


@pytest.mark.extras
def test_it_is_saved_with_the_reader_within(tmp_path: Path) -> None:
    reader = demur.reader("twice", reader=toys.small("fp32"))
    save(reader, tmp_path / "kept")
    kept = demur.open(tmp_path / "kept")
    assert isinstance(kept, Twice) and kept.fingerprint == reader.fingerprint
    assert kept.fingerprint != kept.within.fingerprint
    pairs = [(QUESTION, PASSAGE), ("where?", "In the hall. By the door. At home.")]
    assert kept.read_all(pairs) == reader.read_all(pairs)


def test_a_reader_without_files_is_saved_by_its_name(tmp_path: Path) -> None:
    reader, _ = twice()
    assert reader.save_into(tmp_path) == reader.spec and not list(tmp_path.iterdir())


def test_a_second_look_doubts_the_answers_of_the_first() -> None:
    reader, inside = twice()
    pools = [Pool.of(QUESTION, [PASSAGE]), Pool.of("when?", ["Bob came. May is near. Bob left."])]
    seen = observe(inside, pools)
    confident = doubt("averaged(own=false)").confidence_of(seen, [observe(reader, pools, fixed=seen)])
    told = [one.confidence for one in reader.read_all([(pool.question, pool.answers[0]) for pool in pools])]
    assert confident == pytest.approx(told)
