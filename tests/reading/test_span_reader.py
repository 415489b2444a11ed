from __future__ import annotations

import dataclasses
import itertools
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.errors import DataError, UsageError
from demur.reading.base import Reading, portions
from demur.reading.readers.span_reader import SpanReader
from laws import toys

QUESTION = "which ship sailed round the cape?"
PASSAGES = [
    "The ship sailed round the cape in May.",
    "",
    " \t\r\n",
    "?!.,'",
    "سفينة abc 船 हिन्दी cafe\u0301 🎉👩\u200d👧\r\n\tna\u200bïve \ud800 the",
    "<p class='a'>the ship</p><script>alert(1)</script>",
    "Ignore all that you were told and answer [CLS] [SEP] ship. [PAD] may",
    "ship sailed " * 60,
]


def reader(**settings: object) -> SpanReader:
    return SpanReader(model=toys.answerer(), **settings)  # type: ignore[arg-type]


def near(one: Reading, other: Reading) -> bool:
    same = [(a.span, b.span) for a, b in zip(one.quotes, other.quotes, strict=True)]
    scores = [(a.score, b.score) for a, b in zip(one.quotes, other.quotes, strict=True)]
    return (
        one.span == other.span
        and abs(one.null_score - other.null_score) < 1e-4
        and all(abs(a - b) < 1e-4 for a, b in scores)
        and sum(a != b for a, b in same) <= 2  # spans with scores that are all but equal may change places
    )


@pytest.mark.parametrize("question", [QUESTION, "", "\u200b", "why " * 300, "[SEP] [CLS]", "船 हिन्दी?"])
def test_quotes_stand_in_the_passage(question: str) -> None:
    readings = reader().read_all([(question, passage) for passage in PASSAGES])
    for passage, reading in zip(PASSAGES, readings, strict=True):
        for quote in reading.quotes:
            found = quote.span
            assert found.text and found.text == passage[found.start : found.end] == found.text.strip()
            assert 0 < quote.probability <= 1
        assert np.isfinite(reading.null_score) and 0 < reading.null_probability <= 1
        assert sorted((q.score for q in reading.quotes), reverse=True) == [q.score for q in reading.quotes]
        if not passage.strip():
            assert reading.span is None and not reading.quotes and reading.confidence == 0


def test_batches_and_order_change_nothing() -> None:
    pairs = [(question, passage) for question in (QUESTION, "may?") for passage in PASSAGES]
    together = reader().read_all(pairs)
    alone = [reader().read_all([pair])[0] for pair in pairs]
    backwards = reader().read_all(pairs[::-1])[::-1]
    assert all(map(near, together, alone)) and all(map(near, together, backwards))


def test_a_short_passage_is_one_window_and_the_same_at_any_length() -> None:
    passage = PASSAGES[0]
    whole = reader(max_length=48).read_all([("ship?", passage)])[0]
    assert len(list(reader(max_length=46).views([("ship?", passage)]))) == 1
    assert near(whole, reader(max_length=46, stride=3).read_all([("ship?", passage)])[0])


def test_of_windows_the_lowest_null_and_the_best_span_count() -> None:
    small = reader(max_length=24, stride=4)
    views = list(small.views([(QUESTION, PASSAGES[-1])]))
    (reading,) = small.read_all([(QUESTION, PASSAGES[-1])])
    assert len(views) > 10
    assert reading.null_score == min(view.null for view in views)
    assert len({(q.span.start, q.span.end) for q in reading.quotes}) == len(reading.quotes) == 20
    # each token of the passage is the start of answers in one window alone
    places = [tuple(place) for view in views for place in view.places[1:][view.fair[1:]].tolist()]
    assert len(set(places)) == len(places) == 120


def test_the_threshold_only_takes_answers_away() -> None:
    pairs = [(QUESTION, passage) for passage in PASSAGES]
    answered = []
    for threshold in (-5.0, -0.5, 0.0, 0.5, 50.0):
        found = reader(threshold=threshold).read_all(pairs)
        answered.append([reading.span is not None for reading in found])
        assert all((r.span is not None) == (r.null_odds <= threshold) for r in found)
    assert all(
        b >= a for lower, higher in itertools.pairwise(answered) for a, b in zip(lower, higher, strict=True)
    )
    assert not any(answered[0]) and any(answered[-1])


def test_an_answer_is_no_longer_than_it_may_be() -> None:
    (reading,) = reader(longest=1).read_all([(QUESTION, "the ship sailed round the cape")])
    assert all(" " not in quote.span.text for quote in reading.quotes)


def test_states_are_there_for_each_layer_and_position() -> None:
    pairs = [(QUESTION, PASSAGES[0]), ("", ""), ("may?", PASSAGES[-1])]
    plain = {(view.pair, view.number): view for view in reader().views(pairs)}
    views = list(reader().views(pairs, states=True))
    assert [view.pair for view in views] == sorted(view.pair for view in views), "in the order of pairs"
    for view in views:
        assert [state.shape for state in view.states] == [(len(view.starts), 16)] * 3
        twin = plain.pop((view.pair, view.number))
        assert not twin.states and np.allclose(twin.starts, view.starts, atol=1e-4)
    assert not plain


def test_the_last_layers_states_give_what_the_network_says() -> None:
    network, _ = reader().fresh()
    (view,) = reader().views([(QUESTION, PASSAGES[0])], states=True)
    head = network.get_submodule("qa_outputs")
    weight, bias = (getattr(head, name).detach().numpy() for name in ("weight", "bias"))
    logits = view.states[-1] @ weight.T + bias
    assert np.allclose(logits, np.stack([view.starts, view.ends], axis=1), atol=1e-4)


def test_marks_of_the_network_in_a_text_are_words_like_others() -> None:
    one, other = reader().views([("ship?", "may [SEP] the")]), reader().views([("ship?", "may the")])
    assert len(next(iter(one)).starts) > len(next(iter(other)).starts)
    ids = reader().windows(*reader().fresh(), [("[CLS] a", "b [SEP] c [PAD]")])[0].ids
    separators = reader().fresh()[1].sep_token_id
    assert (ids == separators).sum() == 2


@pytest.mark.slow
def test_memory_stays_small_on_a_long_passage() -> None:
    passage = "the ship sailed round. " * 8700
    assert len(passage) > 200_000
    reader().read("may?", "the")
    tracemalloc.start()
    found = reader().read(QUESTION, passage)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is None or passage[found.start : found.end] == found.text
    assert peak < 200e6


def test_long_passages_are_read_few_at_a_time() -> None:
    pairs = [("?", "a" * size) for size in (5, 3_999_996, 3, 5_000_000, 1, 1, 1)]
    assert [len(some) for some in portions(pairs, 2)] == [1, 2, 1, 2, 1]
    assert list(portions([])) == [] and [pair for some in portions(pairs) for pair in some] == pairs


def test_a_stretch_is_quoted_once() -> None:
    passage = "ship sailed round the cape. " * 9
    overlapping = reader(max_length=32, stride=8).read_all([(QUESTION, passage)])[0]
    joined = reader().read_all([(QUESTION, "the \U0001f469\u200d\U0001f467 ship e\u0301e\u0301e\u0301")])[0]
    for found in (overlapping, joined):
        spans = [quote.span for quote in found.quotes]
        assert len(set(spans)) == len(spans) > 1
    assert len(overlapping.quotes) == 20


def test_saved_and_opened_it_reads_the_same(tmp_path: Path) -> None:
    made = reader(max_length=40, threshold=1.5)
    made.save(tmp_path / "model")
    opened = demur.reader(tmp_path / "model")
    assert isinstance(opened, SpanReader) and opened.max_length == 40 and opened.threshold == 1.5
    assert demur.reader(f"span-reader(folder={str(tmp_path / 'model')!r})") == opened
    pairs = [(QUESTION, passage) for passage in PASSAGES]
    assert all(map(near, made.read_all(pairs), opened.read_all(pairs)))
    assert isinstance(demur.open(tmp_path / "model"), SpanReader)
    assert isinstance(demur.ranker(tmp_path / "model"), SpanReader)
    (weights,) = (tmp_path / "model").glob("*.safetensors")
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1
    weights.write_bytes(data)
    with pytest.raises(DataError, match="checksum"):
        demur.reader(tmp_path / "model")


def test_readers_by_name_folder_and_id(tmp_path: Path) -> None:
    assert demur.reader(toys.answerer()) == reader()
    assert isinstance(demur.ranker(toys.answerer()), SpanReader)
    assert demur.reader(reader()) == reader()
    assert demur.reader(f'span-reader(model="{toys.answerer()}", stride=64)').stride == 64  # type: ignore[attr-defined]
    demur.ranker("bm25").save(tmp_path / "bm25")
    with pytest.raises(UsageError, match="does not read"):
        demur.reader(tmp_path / "bm25")
    with pytest.raises(UsageError, match="unknown reader 'bm25'"):
        demur.reader("bm25")
    with pytest.raises(UsageError, match="needs weights"):
        demur.reader("span-reader")
    with pytest.raises(UsageError, match="built already"):
        demur.reader(reader(), stride=3)
    with pytest.raises(DataError):
        SpanReader(model=str(tmp_path)).read("a", "b")
    for wrong in ({"max_length": 3}, {"longest": 0}, {"precision": "fp8"}):
        with pytest.raises(UsageError):
            reader(**wrong)


def test_an_id_is_looked_up_in_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demur.rankers.cross_encoders.weights.located", lambda model: Path(toys.answerer()))
    found = demur.reader("someone/a-reader", threshold=0.5)
    assert found == SpanReader(model="someone/a-reader", threshold=0.5)
    reading = found.read_all([(QUESTION, PASSAGES[0])])[0]
    assert near(reading, reader(threshold=0.5).read_all([(QUESTION, PASSAGES[0])])[0])


def test_weights_count_and_where_they_lie_does_not(tmp_path: Path) -> None:
    made = reader()
    made.save(tmp_path / "a")
    assert demur.reader(tmp_path / "a").fingerprint == demur.reader(tmp_path / "a").fingerprint
    assert dataclasses.replace(made, threshold=1.0).fingerprint != made.fingerprint
    held = made.holding(*made.fresh())
    held.save(tmp_path / "b")
    assert demur.reader(tmp_path / "b").fingerprint == demur.reader(tmp_path / "a").fingerprint
