from __future__ import annotations

import dataclasses
import json
from dataclasses import replace

import pytest

from demur.asking import Library, Passage, Session, as_plain
from demur.asking.example import passages, pools
from demur.asking.gates.calibrating import calibrate, judged_pools
from demur.errors import NoThreshold, UsageError
from demur.types import Abstention, Answer, Candidate, Pool

TEXTS = ["Saws are lent for ten days.", "Ladders are often lent out.", "Drills are not lent: they are sold."]


def pool(question: str, *positives: tuple[str, str], id: str = "q") -> Pool:
    return Pool(id, question, tuple(Candidate(name, text, 1) for name, text in positives))


def labels(question: str, *positives: tuple[str, str]) -> dict[str, int | None]:
    search = Library([Passage(f"p{n}", text) for n, text in enumerate(TEXTS)]).search()
    (found,) = judged_pools(search, [pool(question, *positives)])
    return {candidate.id: candidate.label for candidate in found.candidates}


@pytest.mark.parametrize(
    "positive",
    [
        ("other", "Saws are lent for ten days."),
        ("other", "saws ARE\n lent, for  ten"),
        ("p0", ""),
        ("p0", "Read this: saws are lent for ten days. Not more."),
    ],
)
def test_right_is_what_has_a_positives_words_or_its_id(positive: tuple[str, str]) -> None:
    assert labels("saws lent", positive) == {"p0": 1, "p1": 0, "p2": 0}


@pytest.mark.parametrize(
    "positive",
    [
        ("p0", "Something else of the same name."),
        ("other", ""),
        ("other", "Read this: saws are lent for ten days. Not more."),
        ("other", "ten saws"),
    ],
)
def test_a_name_alone_or_a_word_inside_another_is_not_enough(positive: tuple[str, str]) -> None:
    assert labels("saws lent", positive) == {"p0": 0, "p1": 0, "p2": 0}
    assert labels("lent", ("x", "ten")) == {"p0": 1, "p1": 0, "p2": 0}  # "often" has "ten" in it too


def test_questions_without_a_positive_have_no_right_passage() -> None:
    search = Library(TEXTS).search()
    none, nothing_found = judged_pools(search, [Pool.of("saws", ["no"], [0]), pool("violins", ("0", ""))])
    assert none.labels == [0]
    assert len(nothing_found) == 0


def test_what_is_found_for_an_unjudged_question_is_not_judged() -> None:
    (found,) = judged_pools(Library(TEXTS).search(), [Pool.of("saws", ["no"], id="q7")])
    assert found.labels == [None]
    with pytest.raises(UsageError, match="has a label"):
        calibrate(Library(TEXTS), [Pool.of("saws", ["no"], id="q7")])


@pytest.mark.parametrize("ranker", [None, "overlap", "bm25(stats=dataset)"])
def test_what_is_judged_is_what_ask_would_answer(ranker: str | None) -> None:
    library = Library(passages())
    search = library.search(ranker)
    session = Session.open(library, ranker or "bm25", "none")
    questions = list(pools())
    for question, found in zip(questions, judged_pools(search, questions), strict=True):
        result = session.ask(question.question)
        assert [c.id for c in result.ranking.candidates] == [c.id for c in found.candidates[:5]]
        assert result.ranking.scores == tuple(search.score_pools([found])[0][:5])
        by_id = {candidate.id: candidate.label for candidate in question.candidates}
        assert all(c.label == by_id[c.id] for c in found.candidates)


def test_a_search_is_known_by_its_passages_and_all_that_ranks_them() -> None:
    plain = Library(TEXTS).search()
    same = Library([Passage(f"elsewhere.md:{n}", text) for n, text in enumerate(TEXTS)])
    assert same.search().fingerprint == plain.fingerprint
    others = [
        Library(TEXTS[:2]).search(),
        Library(TEXTS[::-1]).search(),
        Library([*TEXTS[:2], Passage("2", TEXTS[2], heading="Drills")]).search(),
        Library(TEXTS, "none").search(),
        Library(TEXTS).search("overlap"),
        Library(TEXTS).search("overlap(words=content)"),
    ]
    prints = {other.fingerprint for other in others}
    assert len(prints) == len(others)
    assert plain.fingerprint not in prints


def test_a_search_says_what_it_is_and_ranks_nothing_else() -> None:
    search = Library(TEXTS).search("length")
    assert search.spec == "library(passages=3, ranker=length, stem=english)"
    with pytest.raises(UsageError, match="a library ranks its own passages"):
        search.score("saws?", TEXTS)
    assert dataclasses.is_dataclass(search)


def asked(number: int) -> list[Pool]:
    """Questions of which those about saws are answered by the first passage; one in ten has no answer."""
    return [
        pool("Are saws lent?", *([("x", TEXTS[0])] if place % 10 else []), id=str(place))
        for place in range(number)
    ]


def test_a_gate_answers_with_its_promise_and_only_for_its_library() -> None:
    library = Library([*TEXTS, "Drills drill."])
    gate = calibrate(library, asked(300), 0.2, seed=1)
    result = Session.open(library, gate=gate).ask("Are saws lent?")
    assert isinstance(result, Answer)
    assert result.confidence is not None and result.confidence >= gate.threshold
    assert result.certificate is not None
    assert (result.certificate["risk"], result.certificate["pools"]) == (0.2, 300)
    with pytest.raises(UsageError, match=r"calibrated on other files, .*; calibrate one on these"):
        Session.open(Library([*TEXTS, "More."]), gate=gate)
    with pytest.raises(UsageError, match="calibrated with stem=english, not with stem=none"):
        Session.open(Library([*TEXTS, "Drills drill."], "none"), gate=gate)
    with pytest.raises(UsageError, match="calibrated with ranker=bm25, not with ranker=overlap"):
        Session.open(library, "overlap", gate)


def test_a_gate_refuses_what_is_less_sure_with_its_confidence() -> None:
    library = Library([*TEXTS, "Drills drill."])
    gate = replace(calibrate(library, asked(300), 0.2), threshold=1e6)
    result = Session.open(library, gate=gate).ask("Are saws lent?", top=1)
    assert isinstance(result, Abstention)
    assert "is below" in result.reason
    assert result.confidence is not None and result.confidence < 1e6
    assert [c.text for c in result.ranking.candidates] == [TEXTS[0]], "the nearest miss"
    told = as_plain(result)
    assert (told["abstained"], told["answer"]) == (True, None)
    assert told["confidence"] == result.confidence
    assert told["certificate"]["risk"] == 0.2
    json.dumps(told, allow_nan=False)


def test_a_gate_sees_the_same_passages_however_many_are_shown() -> None:
    library = Library([f"Saw number {n} saws{' saw' * (n % 7)}." for n in range(80)])
    questions = [pool("saw", ("x", "saw number"), id=str(place)) for place in range(100)]
    gate = calibrate(library, questions, 0.2, qualifier="softmax")
    told = [Session.open(library, gate=gate).ask("saw", top) for top in (1, 5, 70)]
    assert len({each.confidence for each in told}) == 1
    assert [len(each.ranking) for each in told] == [1, 5, 50]


def test_too_many_errors_are_no_gate() -> None:
    with pytest.raises(NoThreshold, match=r"300 labelled questions .* at most 2 % of the answers are wrong"):
        calibrate(Library(TEXTS), asked(300), 0.02)


def test_unlabelled_questions_may_make_the_thresholds() -> None:
    grid = [Pool.of(f"Are ladders or saws lent {n} times?", ["?"], id=f"g{n}") for n in range(30)]
    gate = calibrate(Library(TEXTS), asked(300), 0.2, grid=grid)
    assert gate.certificate.questions == 300


FAQ = [
    Passage("1", "No.", heading="Do you sell vouchers?", question="Do you sell vouchers?"),
    Passage("2", "No, not on Sundays.", heading="Do you deliver?", question="Do you deliver?"),
    Passage("3", "No.", heading="Is there a lift?", question="Is there a lift?"),
]


def test_a_short_answer_is_not_found_in_whatever_has_its_words() -> None:
    (found,) = judged_pools(
        Library(FAQ).search(), [pool("do you sell or deliver, is there a lift", ("x", "No."))]
    )
    assert {each.id: each.label for each in found.candidates} == {"1": 1, "2": 0, "3": 1}


def test_a_label_that_names_a_passage_is_of_no_other_with_the_same_words() -> None:
    said = Candidate("x", "No.", 1, {"heading": "Is there a lift?"})
    (found,) = judged_pools(
        Library(FAQ).search(), [Pool("q", "do you sell or deliver, is there a lift", (said,))]
    )
    assert {each.id: each.label for each in found.candidates} == {"1": 0, "2": 0, "3": 1}
