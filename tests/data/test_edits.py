"""Edits of one text."""

import numpy as np
import pytest

from demur.data.perturbing import edits
from demur.text import STOPWORDS, token_spans


def words(text: str) -> list[str]:
    return [word for word, _, _ in token_spans(text)]


@pytest.mark.parametrize("share", [0.1, 0.3, 1.0])
def test_so_many_words_have_one_slip_and_stop_words_none(share: float) -> None:
    text = "The quick brown fox jumped over some lazy dogs while seven yellow birds watched them from above."
    for seed in range(50):
        after = edits.typos(text, share, np.random.default_rng(seed))
        apart = text.split(" "), after.split(" ")
        assert len(apart[0]) == len(apart[1])
        slips = [(a, b) for a, b in zip(*apart, strict=True) if a != b]
        content = sum(word not in STOPWORDS for word in words(text))
        assert len(slips) == min(round(share * len(words(text))), content)
        assert all(words(a)[0] not in STOPWORDS and abs(len(a) - len(b)) <= 1 for a, b in slips)


def test_all_four_kinds_of_slips_happen() -> None:
    after = {edits.typos("abcdef", 1, np.random.default_rng(seed)) for seed in range(200)}
    assert {len(text) for text in after} == {5, 6, 7}
    assert any(sorted(text) == list("abcdef") and text != "abcdef" for text in after)  # swapped
    assert any(len(text) == 6 and sorted(text) != list("abcdef") for text in after)  # another letter


@pytest.mark.parametrize("text", ["", "?!", "the of and", "a", "😀 é"])
def test_texts_with_nothing_to_slip_on_stay(text: str) -> None:
    assert edits.typos(text, 1.0, np.random.default_rng(0)) == text


def test_short_and_long_forms() -> None:
    assert edits.shortened("Do not go; it is late, and I cannot.") == "Don't go; it's late, and I can't."
    assert edits.lengthened("Don’t go; it's late, and I can't.") == "Do not go; it is late, and I cannot."
    assert edits.shortened("undo nothing, isnot") == "undo nothing, isnot"


@pytest.mark.parametrize("text", ["ı am the baker", "İt is fine", "it iſ fine", "Anna’s bakery", "’tis"])
def test_contractions_leave_all_else_as_it_is(text: str) -> None:
    assert edits.lengthened(text) == text
    assert edits.shortened(text) == text


def test_numbers_in_words_leave_years_dates_and_parts_alone() -> None:
    assert edits.numbers_in_words("7 of 12 at 3.5, 1,000, $5, 20% on 3/4 in 1999; 20.") == (
        "seven of twelve at 3.5, 1,000, $5, 20% on 3/4 in 1999; twenty."
    )


def test_changed_numbers_are_all_others_of_the_same_length() -> None:
    for seed in range(50):
        after = edits.numbers_changed("In 1910, 7 of ٣", np.random.default_rng(seed))
        year, seven, three = after.removeprefix("In ").replace(", ", " ").replace(" of ", " ").split(" ")
        assert len(year) == 4
        assert all(a != b for a, b in zip(year, "1910", strict=True))
        assert seven != "7"
        assert three != "3"


def test_names_change_alike_everywhere_and_stay_apart() -> None:
    change = edits.renaming(["Did Anna see Paul?", "Anna saw Paul, and Annapolis."], np.random.default_rng(1))
    one, other = change("Anna"), change("Paul")
    assert {one, other}.isdisjoint({"Anna", "Paul"})
    assert one != other
    assert change("Anna saw Paul, and Annapolis.") == f"{one} saw {other}, and Annapolis."
