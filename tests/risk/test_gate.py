from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import demur
import demur.data
from demur.errors import DataError, NoThreshold, UsageError
from demur.risk import Gate, calibrate, check, plan, qualifier
from demur.risk.checking import DOUBT
from demur.types import Candidate, Pool, Ranking

QUESTION = "which ship sailed"


def pools(number: int, seed: int = 0, wrong: float = 0.5, name: str = "q") -> list[Pool]:
    """Questions whose first answer shares 1 to 3 words: 3 are mostly right, 1 is wrong at the rate given."""
    rng = np.random.default_rng(seed)
    made = []
    for place in range(number):
        words = int(rng.integers(1, 4))  # that the first candidate shares with the question
        right = rng.random() > 0.03 + wrong * (3 - words) / 2
        texts = [" ".join(QUESTION.split()[:words]), "nothing at all"]
        marks = [1, 0] if right else [0, int(rng.random() < 0.5)]
        made.append(Pool.of(QUESTION, texts, marks, id=f"{name}{place}"))
    return made


@pytest.fixture(scope="module")
def gate() -> Gate:
    return calibrate("overlap(weighted=false)", pools(400), 0.1, 0.9)


def test_the_face_is_the_same() -> None:
    assert demur.calibrate is calibrate and demur.NoThreshold is NoThreshold


def test_certificate_tells_what_was_seen(gate: Gate) -> None:
    found = gate.certificate
    known = pools(400)
    assert (found.pools, found.questions, found.risk, found.confidence) == (400, 360, 0.1, 0.9)
    names = "".join(sorted(f"{pool.id}\n" for pool in known))
    assert found.pools_sha256 == hashlib.sha256(names.encode()).hexdigest()
    ranker = demur.ranker("overlap(weighted=false)")
    assert (found.ranker, found.ranker_fingerprint) == (ranker.spec, ranker.fingerprint)
    assert (gate.ranker, gate.qualifier) == (ranker.spec, qualifier("margin").spec)
    assert found.demur == demur.__version__ and found.method == "ltt"
    assert 0 < found.errors / found.accepted < found.bound <= 0.1
    assert dict(found)["risk"] == 0.1 and len(found) == len(dataclasses.fields(found))
    with pytest.raises(KeyError):
        found["promise"]


def test_promise_is_one_sentence(gate: Gate) -> None:
    assert gate.promise == (
        "Answers at this threshold were wrong at most 10 % of the time, with 90 % confidence, "
        "on 360 labelled questions like these."
    )
    assert all(line.endswith(".") for line in gate.scope)


def test_methods_that_break_their_word_promise_nothing() -> None:
    naive = calibrate("overlap", pools(400), 0.1, 0.9, method="naive")
    assert "promises nothing" in naive.promise and naive.scope == () and naive.certificate.questions == 400
    low = Ranking(QUESTION, (Candidate("a", "x"), Candidate("b", "y")), (1e-9, 0.0))
    assert "wrong" not in naive.judge(low).refusal


def test_judges_as_it_was_calibrated(gate: Gate) -> None:
    ranker = demur.ranker("overlap(weighted=false)")
    new = pools(100, seed=5, name="new")
    confidence = gate.confidence_of(ranker, new)
    passed = gate.decide(ranker, new)
    assert 0 < passed.sum() < 100
    for pool, sure, passes in zip(new, confidence, passed, strict=True):
        verdict = gate.judge(ranker.rank(pool.question, pool.candidates))
        assert verdict.confidence == sure
        assert (verdict.refusal == "") == passes == (sure >= gate.threshold)


def test_refusal_is_a_sentence_with_both_numbers(gate: Gate) -> None:
    two = (Candidate("a", "x"), Candidate("b", "y"))
    told = gate.judge(Ranking(QUESTION, two, (gate.threshold - 1e-6, 0.0))).refusal
    assert told.startswith("its confidence ") and "at most 10 % of answers are wrong" in told
    shown = [float(word.rstrip(",")) for word in told.split() if word[0].isdigit()][:2]
    assert shown[0] < shown[1]
    assert gate.judge(Ranking(QUESTION, two, (gate.threshold, 0.0))).refusal == ""
    assert gate.judge(Ranking(QUESTION, (), ())).refusal == "there is nothing to answer with"


def test_order_of_pools_changes_nothing(gate: Gate) -> None:
    assert calibrate("overlap(weighted=false)", pools(400)[::-1], 0.1, 0.9) == gate
    assert calibrate("overlap(weighted=false)", iter(pools(400)), 0.1, 0.9) == gate


def test_another_seed_parts_them_otherwise() -> None:
    found = {calibrate("overlap", pools(400), 0.15, 0.9, seed=seed).certificate.accepted for seed in range(6)}
    assert len(found) > 1


def test_another_ranker_is_refused(gate: Gate) -> None:
    with pytest.raises(UsageError, match=r"calibrated for the ranker overlap\(.*not for bm25"):
        gate.check_ranker(demur.ranker("bm25"))
    with pytest.raises(UsageError, match="calibrate a gate for this one"):
        gate.predictions("bm25", pools(5, name="new"))
    gate.check_ranker(demur.ranker("overlap(weighted=false)"))


def test_the_same_spec_over_other_texts_is_another_ranker(tmp_path: Path) -> None:
    one, two = (demur.ranker("bm25(stats=dataset)").prepare(pools(n)) for n in (3, 5))
    made = calibrate(one, pools(400, wrong=0.1), 0.3, 0.9)
    made.check_ranker(one)
    with pytest.raises(UsageError, match="over other texts"):
        made.check_ranker(two)


def test_statistics_of_the_pools_scored_are_refused() -> None:
    with pytest.raises(UsageError, match="takes its statistics from the pools it scores"):
        calibrate("bm25(stats=dataset)", pools(50))


def test_own_pools_are_refused(gate: Gate) -> None:
    mixed = [*pools(20, name="new"), *pools(400)[7:10]]
    with pytest.raises(UsageError, match="on 3 of these 23 pools, such as 'q7'"):
        gate.predictions("overlap(weighted=false)", mixed)
    with pytest.raises(UsageError, match="3 of these 23"):
        check(gate, "overlap(weighted=false)", mixed)
    other = [dataclasses.replace(pool, question=f"{pool.question}?") for pool in pools(30)]
    found = gate.predictions("overlap(weighted=false)", other)  # the same ids, but other questions
    assert found.risk(gate.threshold) < 0.3


def test_files_hold_all_of_it(gate: Gate, tmp_path: Path) -> None:
    gate.save(tmp_path / "gate.json")
    assert Gate.load(tmp_path / "gate.json") == Gate.load(tmp_path) == gate, "a model folder holds its gate"
    assert json.loads((tmp_path / "gate.json").read_text("utf-8"))["promise"] == gate.promise


def test_a_gate_that_lets_all_pass(tmp_path: Path) -> None:
    made = calibrate("overlap", pools(300, wrong=0), 0.2)
    assert made.threshold == -np.inf and made.certificate.accepted == made.certificate.questions
    made.save(tmp_path / "gate.json")
    assert json.loads((tmp_path / "gate.json").read_text("utf-8"))["threshold"] is None
    assert Gate.load(tmp_path / "gate.json") == made


@pytest.mark.parametrize("text", ["{}", "[1]", "no json", '{"format": "demur gate 1"}', ""])
def test_what_is_no_gate_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "gate.json").write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"gate\.json: .*gate"):
        Gate.load(tmp_path / "gate.json")


def test_a_broken_gate_is_one_line(gate: Gate, tmp_path: Path) -> None:
    gate.save(tmp_path / "gate.json")
    whole = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    for key, value in {"threshold": "x", "marks": "abc", "confidences": 3, "certificate": {}}.items():
        (tmp_path / "gate.json").write_text(json.dumps(whole | {key: value}), "utf-8")
        with pytest.raises(DataError, match="calibrate it again"):
            Gate.load(tmp_path / "gate.json")


BARE = Pool.of("q", ["a", "b"], id="bare")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "no pools to calibrate on"),
        ([*pools(3), *pools(3)], "2 pools have the id 'q0'"),
        ([Pool("e", "q", ()), Pool("f", "q", ())], "none of these pools has a candidate"),
        ([BARE], "nobody has judged these 1 pools"),
        ([*pools(3), BARE], "in 1 of 4 pools nobody has judged the candidate that comes first"),
        ([Pool.of("q", ["a"], [0], id=str(n)) for n in range(9)], "none of these 9 pools has a correct"),
    ],
)
def test_pools_that_cannot_be_used_are_one_line(given: Sequence[Pool], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        calibrate("overlap", given)
    assert "\n" not in str(refused.value)


def test_wishes_that_cannot_be_are_one_line() -> None:
    for wish, message in (
        ({"risk": 10}, "share"),
        ({"confidence": 95}, "probability"),
        ({"method": "x"}, "known"),
    ):
        with pytest.raises(UsageError, match=message):
            calibrate("overlap", pools(30), **wish)


def test_no_threshold_counts_all_that_were_labelled() -> None:
    with pytest.raises(NoThreshold) as refused:
        calibrate("overlap", pools(100), 0.05)
    assert refused.value.questions == 100 and refused.value.lowest is not None
    assert calibrate("overlap", pools(100), refused.value.lowest).certificate.risk == refused.value.lowest


def test_pools_without_labels_make_the_thresholds() -> None:
    blank = [Pool.of(pool.question, pool.answers, id=pool.id) for pool in pools(200, seed=9, name="blank")]
    made = calibrate("overlap", pools(400), 0.1, 0.9, grid=blank)
    assert made.certificate.questions == 400
    with pytest.raises(UsageError, match="2 of the pools for the grid are also calibrated on"):
        calibrate("overlap", pools(400), 0.1, 0.9, grid=[*blank, *pools(2)])
    fixed = calibrate("overlap", pools(400), 0.1, 0.9, grid=np.array([0.0, made.threshold]))
    assert fixed.threshold == made.threshold


def test_questions_without_candidates_are_not_counted() -> None:
    empty = [Pool(f"none{n}", "q", ()) for n in range(50)]
    made = calibrate("overlap", [*pools(400), *empty], 0.1, 0.9)
    assert made.certificate.pools == 450 and made.certificate.questions == 360


def test_plan_is_what_calibrate_does() -> None:
    table = plan("overlap", pools(400), 0.9)
    assert [level.risk for level in table.levels] == [0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    for level in table.levels:
        try:
            made = calibrate("overlap", pools(400), level.risk, 0.9)
        except NoThreshold as error:
            assert level.coverage is None and level.more == error.more
        else:
            assert level.coverage == made.certificate.accepted / made.certificate.questions
            assert (level.threshold, level.bound) == (made.plain_threshold, made.certificate.bound)
    assert {level.coverage is None for level in table.levels} == {True, False}


def test_check_finds_too_many_errors_and_another_kind_of_question(gate: Gate) -> None:
    spec = "overlap(weighted=false)"
    same = check(gate, spec, pools(300, seed=1, name="new"))
    assert not same.contradicted and not same.shifted and same.labelled and same.errors is not None
    worse = check(gate, spec, [_spoilt(pool) for pool in pools(300, seed=1, name="new")])
    assert worse.contradicted and not worse.shifted and worse.surprise is not None and worse.surprise < 1e-9
    assert "contradicts the promise" in worse.sentences[0]
    shifted = check(
        gate, spec, [pool for pool in pools(300, seed=1, name="new") if "which ship" in pool.answers[0]]
    )
    assert shifted.shifted and "of another kind" in shifted.sentences[1]
    for found in (same, worse, shifted):
        assert all(line.endswith(".") and "\n" not in line for line in found.sentences)


def _spoilt(pool: Pool) -> Pool:
    return Pool.of(pool.question, pool.answers, [0, 1], id=pool.id)


def test_check_without_labels_looks_at_confidence_only(gate: Gate) -> None:
    spec = "overlap(weighted=false)"
    blank = [Pool.of(pool.question, pool.answers, id=pool.id) for pool in pools(200, seed=1, name="new")]
    found = check(gate, spec, blank)
    assert not found.labelled and found.errors is None and not found.contradicted and not found.shifted
    assert "no labels" in found.sentences[0]
    with pytest.raises(UsageError, match="nobody has judged the candidate"):
        check(gate, spec, [*blank, *pools(2, name="other")])
    with pytest.raises(UsageError, match="no questions with candidates"):
        check(gate, spec, [])


def test_check_seldom_cries_wolf() -> None:
    """Over many good batches both alarms ring about as seldom as they say."""
    rung = np.zeros(2)
    made = calibrate("overlap", pools(300, seed=99), 0.15, 0.9)
    for seed in range(60):
        found = check(made, "overlap", pools(100, seed=seed, name=f"b{seed}-"))
        rung += found.contradicted, found.shifted
    assert DOUBT == 0.01 and (rung <= 4).all()


def test_many_confidences_are_thinned() -> None:
    names = [f"{place}" for place in range(2500)]
    right = [Pool.of("q", [f"a{name}", f"b{name}"], [1, 1], id=name) for name in names]
    made = calibrate("random", right, 0.3)
    assert len(made.confidences) == 1000 and list(made.confidences) == sorted(made.confidences)
    assert np.median(made.confidences) == pytest.approx(1 - 0.5**0.5, abs=0.03)  # of the gap of two numbers


@pytest.mark.needs_data
def test_selqa_keeps_the_promise_on_its_test_set() -> None:
    made = calibrate("bm25", demur.data.pools("selqa/dev"), 0.1)
    found = made.predictions("bm25", demur.data.pools("selqa/test"))
    assert found.risk(made.threshold) <= 0.1 and found.coverage(made.threshold) > 0.25
    assert made.certificate.data == "selqa/dev"


def test_only_the_first_candidate_needs_a_label() -> None:
    def first(pool: Pool) -> Pool:
        return Pool.of(pool.question, pool.answers, [pool.labels[0], None], id=pool.id)

    known = pools(400)
    made = calibrate("overlap(weighted=false)", [first(pool) for pool in known], 0.1, 0.9)
    assert made == calibrate("overlap(weighted=false)", known, 0.1, 0.9)


def test_one_start_is_an_option() -> None:
    one = calibrate("overlap", pools(400), 0.1, 0.9, starts=1)
    assert one.certificate.accepted >= calibrate("overlap", pools(400), 0.1, 0.9).certificate.accepted
    with pytest.raises(UsageError, match="starts=0"):
        calibrate("overlap", pools(400), starts=0)
