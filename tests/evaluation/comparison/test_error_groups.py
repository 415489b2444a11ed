"""The rules for errors and for labels in doubt, each where it holds and where it does not."""

from __future__ import annotations

import pytest

from demur.evaluation.comparison.error_groups import GROUPS, asks_for, groups_of
from demur.evaluation.comparison.near_duplicates import doubtful_labels, near_duplicates
from demur.evaluation.comparison.wording import names_in, shared_words, wording
from demur.types import Pool


def grouped(question: str, wrong: str, *right: str) -> set[str]:
    pool = Pool.of(question, [wrong, *right], [0, *[1] * len(right)])
    places = range(1, 1 + len(right))
    return set(groups_of(pool, 0, places, {pair.wrong for pair in near_duplicates(pool)}))


def test_overlap_misleads_where_it_is_more_than_that_of_any_right_answer() -> None:
    question = "what oil does the saw need"
    assert "overlap_misled" in grouped(question, "The saw needs oil.", "Chain lubricant for saws.")
    assert "overlap_misled" not in grouped(question, "The saw needs oil.", "Other.", "Oil the saws need.")


def test_a_right_answer_without_shared_words() -> None:
    assert "no_shared_words" in grouped("who sold it", "He sold it.", "Ada did.")
    assert "no_shared_words" not in grouped(
        "who sold it", "He sold it.", "Ada did.", "Ada is selling it, sold."
    )


@pytest.mark.parametrize(
    ("question", "wrong", "right", "holds"),
    [
        ("what happened in 1914", "A war began.", "In 1914 a war began.", True),
        ("what happened in 1914", "In 1914 all was calm.", "In 1914 a war began.", False),
        ("what did ada write", "A poem was written.", "It was Ada who wrote notes.", True),
        ("when did it open", "It opened late.", "It opened in 1901.", True),
        ("when did it open", "It opened in 1900.", "It opened in 1901.", False),
        ("how many are there", "There are many.", "There are twelve.", True),
        ("who opened it", "A man opened it.", "It was opened by Ada.", True),
        ("who opened it", "It was opened by Bob.", "It was opened by Ada.", False),
        ("why did it open", "It opened late.", "It opened in 1901.", False),
    ],
)
def test_numbers_and_names_that_do_not_match(question: str, wrong: str, right: str, holds: bool) -> None:
    assert ("number_or_name_mismatch" in grouped(question, wrong, right)) == holds


def test_an_answer_with_all_that_a_right_one_adds_may_be_right() -> None:
    right = "It was built in Planica in 1934."
    assert "labelled_differently" in grouped("where was it built", "They went to Planica in 1934.", right)
    assert "labelled_differently" not in grouped("where was it built", "They went to Planica.", right)
    assert "labelled_differently" not in grouped("what is it", "A hill.", "A big hill.")


def test_the_example_of_the_scan_paper_is_a_near_duplicate() -> None:
    wrong = "Nevertheless the first-ever ski flying hill was built in Planica, Slovenia"
    right = "The first ski flying hill was built in Planica in Slovenia"
    found = grouped("Where was the first ski flying hill built?", wrong, right)
    assert found == {"near_duplicate", "labelled_differently"}


def test_what_no_rule_knows_is_other() -> None:
    assert grouped("what is it", "a hill", "a big dale") == {"no_shared_words"}
    assert grouped("what is a dale", "a dale or hill", "a dale, broad") == {"other"}
    assert list(GROUPS)[-1] == "other"


BASE = "the oldest bridge of the town was built by the guild of masons in {}"


@pytest.mark.parametrize(
    ("one", "other", "holds"),
    [
        (BASE.format("may"), BASE.format("May,"), True),
        (BASE.format("spring"), BASE.format("autumn"), True),
        (BASE.format("1850"), BASE.format("1851"), False),
        (BASE.format("two years"), BASE.format("three years"), False),
        (BASE.format("old Prague"), BASE.format("old Vienna"), False),
        (BASE.format("spring"), BASE.format("spring").replace("was", "was not"), False),
        (BASE.format("spring"), BASE.format("spring").replace("was", "wasn't"), False),
        ("a bridge", "a tower", False),
        ("", "", False),
    ],
)
def test_near_duplicates_differ_in_few_words_that_are_no_facts(one: str, other: str, holds: bool) -> None:
    assert bool(near_duplicates(Pool.of("which?", [one, other], [1, 0]))) == holds


def test_labels_in_doubt_are_counted() -> None:
    text = BASE.format("spring")
    pools = [
        Pool.of("q", [text, text, BASE.format("autumn"), "other", "new"], [1, 0, 0, 0, None], "a"),
        Pool.of("q", [text, text], [1, 1], "b"),
        Pool.of("q", [text, text], [1, None], "c"),
        Pool.of("q", [text, text], [2, 1], "d"),
    ]
    assert doubtful_labels(pools).to_json() == {
        "judged": 9,
        "labels": 3,
        "pairs": 2,
        "same_words": 1,
        "questions": 1,
    }
    assert doubtful_labels(pools, relevant=2).questions == 1


def test_names_have_a_capital_inside_a_sentence_and_are_never_small() -> None:
    answers = ["Snow fell. Ada saw Snow in Rome.", "the snow, said Ada", "ALL OF PARIS"]
    assert names_in(Pool.of("did Bob and I know", answers)) == {"ada", "rome", "bob"}
    assert wording("In 1914 two men and one dog").numbers == {"1914", "two"}


def test_shared_words_are_found_whatever_their_endings() -> None:
    answer = "Caves form when a glacier is melting."
    spans = shared_words("How are glacier caves formed?", answer)
    assert [span.text for span in spans] == ["Caves", "form", "glacier"]
    assert all(answer[span.start : span.end] == span.text for span in spans)


def test_what_questions_ask_for() -> None:
    questions = [
        "Who is it?",
        "in what year",
        "How  old?",
        "what colour",
        "tell me",
        "where",
        "what happens when",
    ]
    assert [asks_for(each) for each in questions] == ["name", "number", "number", "", "", "name", ""]
