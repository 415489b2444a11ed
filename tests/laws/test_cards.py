"""The cards of the models that come with demur say what is known of them now."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tools import cards, encoder_card, meaning_card, overlaps

from demur.asking.packaged import MEANING_GATES
from demur.embedders.encoders.packaged import FOLDER
from demur.reading.readers.mini import PACKAGED, Mini
from demur.risk.gates.several import open_gates
from demur.risk.predictions import Predictions
from demur.store import open_folder
from demur.types import Candidate, Pool

pytestmark = pytest.mark.skipif(
    not (PACKAGED / "model.onnx").is_file(), reason="no model came with this copy"
)
AGAIN = "run python -m tools.{}"


def test_the_encoders_is_as_its_tool_writes_it() -> None:
    model = open_folder(FOLDER, check=False)
    page = (FOLDER / "README.md").read_text("utf-8")
    assert page == encoder_card.text(model.made["demur"], model.fingerprint), AGAIN.format("encoder_card")
    assert "Not measured" not in page
    assert "Not measured" in encoder_card.text("1", "another")


def test_that_of_the_gates_is_as_its_tool_writes_it() -> None:
    page = (MEANING_GATES / "README.md").read_text("utf-8")
    assert page == meaning_card.text(), AGAIN.format("meaning_card")
    assert "Not measured" not in page


@pytest.mark.extras
def test_that_of_mini_has_what_is_not_measured_as_it_is_now() -> None:
    from tools import mini_card

    page = (PACKAGED / "README.md").read_text("utf-8")
    assert mini_card.data(Mini()) in page, AGAIN.format("mini_card")
    assert mini_card.elsewhere() in page and mini_card.failing() in page, AGAIN.format("mini_card")
    assert cards.fooled() in page, AGAIN.format("mini_card")
    risks = {gate.certificate.risk for gate in open_gates(PACKAGED).gates}
    assert f"For a risk of {cards.percents(set(cards.RISKS) - risks)} no gate could be made." in page


@pytest.mark.parametrize("folder", [FOLDER, MEANING_GATES, PACKAGED], ids=lambda folder: str(folder.name))
def test_each_says_what_it_is_for_what_it_learnt_from_and_where_it_fails(folder: Path) -> None:
    heads = [
        line for line in (folder / "README.md").read_text("utf-8").splitlines() if line.startswith("## ")
    ]
    for part in ("for", "How", "Known failures", "Data and their terms"):
        assert any(part in head for head in heads), part


def test_decisions_say_of_the_bytes_and_of_asking_what_was_found() -> None:
    lost = json.loads(encoder_card.PLACE.read_text("utf-8"))["MAP"]
    assert {name for name, row in lost.items() if row["lost"] > 0.003} == {"trecqa/test", "wikiqa/test"}
    assert all(row["interval"][0] < 0 < row["interval"][1] for row in lost.values())
    sets = json.loads((meaning_card.PLACE / "chance.json").read_text("utf-8"))["sets"]
    over = {name: row["MAP over the best part"] for name, row in sets.items()}
    assert {name for name, gain in over.items() if gain < -0.005} == {"semeval2016/test as an FAQ"}
    assert {name for name, gain in over.items() if -0.005 <= gain < 0} == {"semeval2016/test"}


def test_what_is_shared_with_test_sets_is_counted_for_each_part() -> None:
    said = cards.shared({"mini": "learnt from", "mini's confidence and gates": "calibrated"})
    some, every = (overlaps.count(of, "wikiqa/test", "passages") for of in ("mini", "all"))
    assert f"| `wikiqa/test` | {overlaps.count('mini', 'wikiqa/test', 'questions')} of " in said
    assert f" {some:,} of {every:,} " in said and said.count("| ---") == 7
    assert "Nothing is shared with `antique/test`" in said


@pytest.mark.extras
def test_ways_in_which_an_answer_must_fail_leave_nothing_right() -> None:
    from tools import mini_failures as ways

    pools = [
        Pool(str(number), question, (Candidate("1", "He left.", 1), Candidate("2", "She stayed.", 0)))
        for number, question in enumerate(["when did the old man leave?", "who stayed at home that day?"])
    ]
    for made in (ways.letters(pools, 1), ways.heaps(pools, 1), ways.of_others(pools, pools[1:])):
        assert all(not pool.positives and len(pool) == 2 for pool in made)
    assert [len(word) for word in ways.letters(pools, 1)[0].question.split()] == [4, 3, 3, 3, 3, 6]
    words = {word for pool in pools for word in pool.question.split()}
    heap = ways.heaps(pools, 1)[0].question
    assert heap != pools[0].question and set(heap.split()) <= words
    assert [pool.question for pool in ways.of_others(pools, pools[1:])] == [pools[1].question] * 2
    assert [[each.id for each in pool.candidates] for pool in ways.near_misses(pools)] == [["2"], ["2"]]
    typos = ways.with_typos(pools, 1)
    assert all(a.question != b.question and a.positives == 1 for a, b in zip(typos, pools, strict=True))


@pytest.mark.extras
def test_right_answers_are_told_from_wrong_ones_by_how_often_they_are_surer() -> None:
    from tools.mini_failures import told_apart

    def met(confidence: list[float], right: list[bool]) -> Predictions:
        all_ = np.ones(len(right), bool)
        ids = tuple(map(str, range(len(right))))
        return Predictions(ids, np.array(confidence), np.array(right), all_, all_)

    assert told_apart(met([3.0, 1.0, 2.0, 2.0], [True, False, True, False])) == pytest.approx(0.875)
    assert told_apart(met([3.0, 1.0], [False, False])) is None
