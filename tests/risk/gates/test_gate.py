"""What a gate says, whom it serves, and how it is checked."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.data import Pools
from demur.data.loaders import relabelled
from demur.errors import DataError, NoThreshold, UsageError
from demur.evaluation.report import Report
from demur.reading.published import read_answers
from demur.risk import Gate, calibrate, check, qualifier
from demur.risk.gates.checking import DOUBT
from demur.risk.gates.gate_file import beside
from demur.risk.sets import AnswerSets
from demur.specs import parse
from demur.types import Candidate, Pool, Ranking
from laws import toys
from risk.questions import QUESTION, pools


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
    assert (
        dict(found)["risk"] == 0.1 and len(found) == len(dataclasses.fields(found)) - 1
    )  # of `about`, as is usual
    with pytest.raises(KeyError):
        found["promise"]


def test_promise_is_one_sentence(gate: Gate) -> None:
    assert gate.promise == (
        "Answers at this threshold were wrong at most 10 % of the time, with 90 % confidence, "
        "on 360 labelled questions like these."
    )
    assert all(line.endswith(".") for line in gate.scope)


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
    with pytest.raises(DataError, match=r"gate\.json:(1:)? .*gate"):
        Gate.load(tmp_path / "gate.json")


@pytest.mark.parametrize("text", ["[" * 100_000, f'{{"format": {"1" * 5000}}}'])
def test_json_that_python_cannot_read_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    for read in (Gate.load, Report.read, AnswerSets.load, read_answers):
        with pytest.raises(DataError, match=r"a\.json: JSON that cannot be read .*; "):
            read(str(tmp_path / "a.json"))


def test_labels_too_low_to_be_right_are_wrong_in_a_check_as_in_calibration(gate: Gate) -> None:
    new = [dataclasses.replace(pool, id=f"new {pool.id}") for pool in pools(400)]
    doubled = [relabelled(pool, [2 * (label or 0) for label in pool.labels]) for pool in new]
    right, low = (Pools("graded", (), lambda: iter(doubled), lowest) for lowest in (2, 3))
    ranker = "overlap(weighted=false)"
    assert check(gate, ranker, right) == check(gate, ranker, new)
    found = check(gate, ranker, low)
    assert found.errors == found.accepted > 0 and found.contradicted
    assert gate.predictions(ranker, low).risk() == 1 and gate.predictions(ranker, right[:]).risk() < 0.5


def test_a_broken_gate_is_one_line(gate: Gate, tmp_path: Path) -> None:
    gate.save(tmp_path / "gate.json")
    whole = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    del whole["seal"]
    assert _with(whole, tmp_path) == gate, "a gate of an older version has none"
    broken = {"threshold": "x", "marks": "abc", "confidences": 3, "certificate": {}}
    for key, value in [*broken.items(), ("certificate", 3), ("certificate", [1])]:
        with pytest.raises(DataError, match=r"the gate is broken.*calibrate it again"):
            _with(whole | {key: value}, tmp_path)


def test_a_gate_whose_numbers_changed_is_one_line(gate: Gate, tmp_path: Path) -> None:
    gate.save(tmp_path / "gate.json")
    whole = json.loads((tmp_path / "gate.json").read_text("utf-8"))
    for change in (
        {"threshold": 0.0},
        {"marks": whole["marks"][:-12]},
        {"certificate": {**whole["certificate"], "risk": 0.01}},
    ):
        with pytest.raises(DataError, match=r"was changed after the gate was made \(checksum\); calibrate"):
            _with(whole | change, tmp_path)
    renamed = {**whole["certificate"], "data": "elsewhere"}
    assert _with(whole | {"certificate": renamed}, tmp_path).threshold == gate.threshold
    backwards = dict(reversed(whole["certificate"].items()))
    assert _with(whole | {"certificate": backwards}, tmp_path).threshold == gate.threshold


def _with(plain: dict[str, object], folder: Path) -> Gate:
    """The gate that a file with this in it holds."""
    (folder / "gate.json").write_text(json.dumps(plain), "utf-8")
    return Gate.load(folder / "gate.json")


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
    with pytest.raises(UsageError, match="the candidate that comes first has no label"):
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


def _spelled(spec: str) -> str:
    return str(parse(spec))


@pytest.mark.extras
def test_a_qualifier_that_asks_a_model_of_its_own_keeps_it_where_it_is(tmp_path: Path) -> None:
    toy = Path(toys.small())
    place, other = tmp_path / "place", tmp_path / "other"
    for folder in (place, other):
        shutil.copytree(toy, folder)
    said = "reading(reader={})"
    assert beside(said.format(other), place) == _spelled(said.format(other)), "it is there"
    moved = _spelled(said.format(place))
    assert beside(said.format(tmp_path / "gone"), place) == moved
    assert beside(said.format("elsewhere/place"), place) == moved
    assert beside(said.format(other), None) == said.format(other)


def test_a_grid_may_be_numbers_and_only_for_methods_that_heed_it() -> None:
    some = pools(400)
    by_list = calibrate("overlap", some, 0.2, grid=[0.5, 1, 2])
    assert by_list.threshold == calibrate("overlap", some, 0.2, grid=np.array([0.5, 1.0, 2.0])).threshold
    with pytest.raises(UsageError, match="the grid has what is no number"):
        calibrate("overlap", some, 0.2, grid=np.array(["a"]))
    with pytest.raises(UsageError, match="method=sgr takes its thresholds from what it tests; leave out"):
        calibrate("overlap", some, 0.2, method="sgr", grid=[0.5])
    assert "Marks" not in repr(by_list) and len(repr(by_list)) < 1000
