from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer, BatchEncoding

from demur.rankers.cross_encoders.pairs import Pairs, by_length, tokenised
from demur.types import Pool
from laws import toys


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    pools = [Pool.of("ship", ["the cape", "", "ship " * 90]), Pool.of("nothing " * 60, ["may"])]
    return tokenised(AutoTokenizer.from_pretrained(toys.bert()), pools, 24)


def test_a_pair_is_question_then_answer(pairs: Pairs) -> None:
    first = pairs.kinds[pairs.first[0] : pairs.first[1]]
    assert first.tolist() == [0, 0, 0, 1, 1, 1], "[CLS] ship [SEP] the cape [SEP]"
    assert pairs.lengths.tolist()[:2] == [6, 4]


def test_what_is_too_long_is_cut_and_counted(pairs: Pairs) -> None:
    assert pairs.lengths.tolist()[2] == 24
    assert pairs.cut == 1, "a long question is cut first, so that the answer has room"
    assert 1 in pairs.kinds[pairs.first[3] : pairs.first[4]][:-1], "the answer is seen all the same"


def test_what_just_fits_is_not_cut() -> None:
    tokenizer = AutoTokenizer.from_pretrained(toys.bert())
    pools = [Pool.of("ship", ["the cape", "the cape cape"])]
    assert tokenised(tokenizer, pools, 6).shortened.tolist() == [False, True]


def test_a_tokeniser_that_does_not_say_what_it_cut_is_taken_by_its_lengths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BatchEncoding, "encodings", None)
    tokenizer = AutoTokenizer.from_pretrained(toys.bert())
    found = tokenised(tokenizer, [Pool.of("ship", ["the", "the cape cape"])], 6)
    assert found.shortened.tolist() == [False, True]


def test_batches_are_padded_and_masked(pairs: Pairs) -> None:
    batch = pairs.batch([0, 1])
    assert {name: tuple(each.shape) for name, each in batch.items()} == dict.fromkeys(batch, (2, 6))
    assert batch["attention_mask"].sum(1).tolist() == [6, 4]
    assert batch["input_ids"][1, 4:].tolist() == [pairs.padding] * 2


def test_lengths_are_rounded_up_but_not_above_the_longest(pairs: Pairs) -> None:
    padded = pairs.batch([0, 1], pad=8)
    assert padded["input_ids"].shape == (2, 8) and padded["attention_mask"].sum(1).tolist() == [6, 4]
    assert pairs.batch([0, 2], pad=16)["input_ids"].shape == (2, 24)


def test_halves_of_characters_are_read() -> None:
    found = tokenised(AutoTokenizer.from_pretrained(toys.bert()), [Pool.of("\ud83d", ["a\udc00"])], 24)
    assert found.lengths[0] > 3


@given(st.lists(st.integers(1, 40), max_size=30), st.integers(1, 100))
def test_every_place_is_in_one_batch_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(by_length(np.array(lengths, np.int64), budget))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= budget
