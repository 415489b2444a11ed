from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.errors import DataError
from demur.reading import vocabulary
from demur.reading.readers.bidaf import Bidaf
from laws import toys
from reading.test_span_reader import PASSAGES, QUESTION, near


def reader(**settings: object) -> Bidaf:
    return Bidaf(folder=toys.bidaf(), **{"max_length": 40, "stride": 12, **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize("question", [QUESTION, "", "\u200b", "why " * 300, "船 हिन्दी?"])
def test_quotes_stand_in_the_passage(question: str) -> None:
    readings = reader().read_all([(question, passage) for passage in PASSAGES])
    for passage, reading in zip(PASSAGES, readings, strict=True):
        for quote in reading.quotes:
            found = quote.span
            assert found.text and found.text == passage[found.start : found.end] == found.text.strip()
            assert 0 < quote.probability <= 1
        assert np.isfinite(reading.null_score) and 0 < reading.null_probability <= 1
        assert bool(reading.quotes) == bool(passage.strip())


def test_batches_and_order_change_nothing() -> None:
    pairs = [(question, passage) for question in (QUESTION, "may?", "") for passage in PASSAGES]
    together = reader().read_all(pairs)
    alone = [reader().read_all([pair])[0] for pair in pairs]
    backwards = reader().read_all(pairs[::-1])[::-1]
    assert all(map(near, together, alone)) and all(map(near, together, backwards))


def test_no_answer_is_one_share_of_both_and_wins_where_it_is_above_the_best_span() -> None:
    for view in reader(max_length=400).views([(QUESTION, passage) for passage in PASSAGES]):
        assert view.starts[0] == view.ends[0] == 0, "the trained scalar, and it is untrained"
        assert np.exp(view.log_starts[0] + view.log_ends[0]) == pytest.approx(np.exp(view.null - view.scale))
    for passage, reading in zip(
        PASSAGES, reader(max_length=400).read_all((QUESTION, p) for p in PASSAGES), strict=True
    ):
        assert (reading.span is None) == (reading.null_probability > reading.confidence), passage


def test_states_are_there_for_each_layer_with_zeros_for_no_answer() -> None:
    views = list(reader().views([(QUESTION, PASSAGES[0]), ("", ""), ("may?", PASSAGES[-1])], states=True))
    assert [view.pair for view in views] == sorted(view.pair for view in views)
    for view in views:
        assert [state.shape for state in view.states] == [(len(view.starts), n) for n in (13, 12, 48, 12, 12)]
        assert len(view.states) == len(reader().layers)
        assert all((state[0] == 0).all() for state in view.states)


@pytest.mark.slow
def test_memory_stays_small_on_a_long_passage() -> None:
    passage = "the ship sailed round. " * 8700
    reader().read("may?", "the")
    tracemalloc.start()
    found = reader().read(QUESTION, passage)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is None or passage[found.start : found.end] == found.text
    assert peak < 300e6


def test_saved_and_opened_it_reads_the_same(tmp_path: Path) -> None:
    made = reader()
    made.save(tmp_path / "model")
    opened = demur.reader(tmp_path / "model")
    assert isinstance(opened, Bidaf) and opened.max_length == 40
    assert opened.fingerprint == reader().fingerprint
    pairs = [(QUESTION, passage) for passage in PASSAGES]
    assert all(map(near, made.read_all(pairs), opened.read_all(pairs)))
    facts = tmp_path / "model" / "bidaf.json"
    facts.write_text(facts.read_text().replace("ship", "shop"))
    with pytest.raises(DataError, match="checksum"):
        demur.reader(tmp_path / "model")
    with pytest.raises(DataError, match="holds no BiDAF"):
        Bidaf(folder=str(tmp_path)).read("a", "b")


def test_words_and_signs_have_their_places() -> None:
    text = "Café-U.S. cafe\u0301\t船に🎉!\r\n\u200b\ud800x"
    assert [text[a:b] for a, b in vocabulary.spans(text)] == [
        *("Café", "-", "U", ".", "S", ".", "cafe\u0301", "船", "に", "🎉", "!", "x"),
    ]
    known, fixed = vocabulary.learnt([text, "café"], minimum_count=2)
    assert known.words == ["café"] and fixed == 0
    words, letters, places = known.read("CAFÉ café x zzz")
    assert words.tolist() == [2, 2, 1, 1] and places.tolist() == [[0, 4], [5, 9], [10, 11], [12, 15]]
    assert letters.shape == (4, vocabulary.LONGEST) and (letters[3, :3] == 1).all()
    assert (letters[:, 4:] == 0).all()
    kept, fixed = vocabulary.learnt(["x y X", "y"], given=["The", "x"])
    assert kept.words == ["y", "the", "x"] and fixed == 2 and kept.letters == " yXx"
