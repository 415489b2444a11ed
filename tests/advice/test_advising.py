from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import demur
from advice import made
from demur.advice import advise, advising, methods, save
from demur.advice.advising import Advice
from demur.advice.deciding import evidence
from demur.advice.deciding.evidence import Evidence
from demur.advice.methods import Method
from demur.advice.trials import measuring, trying
from demur.advice.trials.trying import Trying, folds, inner, is_informative
from demur.types import Candidate, Pool


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = made.vectors(tmp_path_factory.mktemp("vectors"))
    monkeypatch.setattr(methods, "METHODS", made.methods(file))
    monkeypatch.setattr(measuring, "cost", lambda ranker, pools, timeout: None)


def facts(advice: Advice) -> dict[str, object]:
    """The advice without the times that it took."""
    plain = advice.to_json()
    for row in plain["measured"]:
        del row["train_seconds"]
    return plain


@pytest.mark.extras
def test_where_training_wins_it_is_recommended() -> None:
    found = advise(made.pools(80, by_words=False), 5)
    assert found.method.name == "siamese"
    assert "most is to be expected of it, and no simpler one comes within 0.004" in found.recommendation
    assert found.labels == "siamese, which learns from them, is already better than average"
    means = {row.judged.name: row.judged.quality.mean for row in found.rows}
    assert means["siamese"] > means["average"] + 0.1 > means["bm25"] + 0.1
    assert not found.skipped and found.informative == found.labelled == 80


@pytest.mark.extras
def test_where_words_are_enough_the_simplest_is_recommended() -> None:
    found = advise(made.pools(40, by_words=True), 5)
    assert found.method.name == "bm25"
    assert "no trained net caught up with rankers that need none" in found.labels and found.curve is None
    few = [trial for trial in found.skipped if trial.method.labels]
    assert few and all("40 labels are far too few" in trial.skipped for trial in few)


def test_the_same_seed_gives_the_same_advice_in_any_order() -> None:
    pools = made.pools(24, by_words=False)
    first = advise(pools, 5, seed=3, risk=0.4)
    assert facts(first) == facts(advise(pools, 5, seed=3, risk=0.4))
    assert json.loads(json.dumps(first.to_json(), allow_nan=False)) == json.loads(json.dumps(first.to_json()))


@pytest.mark.extras
def test_no_model_is_judged_on_what_it_learnt_from(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[set[str]] = []
    learn = Method.learn

    def noting(self: Method, pools: list[Pool], dev: list[Pool] = (), seed: int = 0) -> demur.rankers.Ranker:  # type: ignore[assignment]
        if self.labels and len(pools) > 8:
            seen.append({pool.question for pool in [*pools, *dev]})
        return learn(self, pools, dev, seed)

    monkeypatch.setattr(Method, "learn", noting)
    pools = made.pools(30, by_words=False)
    run = Trying(pools, pools, float("inf"), 5, 0)
    run.run([method for method in methods.METHODS if method.name == "siamese"])
    assert len(seen) == 5
    for fold, learnt in enumerate(seen):
        judged = {pool.question for pool, of in zip(pools, run.fold_of.tolist(), strict=True) if of == fold}
        assert not judged & learnt and judged | learnt == {pool.question for pool in pools}


def test_equal_questions_share_a_fold_and_those_that_tell_are_spread() -> None:
    pools = made.pools(20, by_words=False)
    twice = [*pools, *(dataclasses.replace(pool, id=f"{pool.id}b") for pool in pools)]
    empty = [Pool.of(f"nothing {n}?", ["a", "b"], [0, 0], id=f"n{n}") for n in range(5)]
    found = folds([*twice, *empty], 5, 0)
    assert found[:20].tolist() == found[20:40].tolist()
    for fold in range(5):
        assert (
            sum(is_informative(pool) for pool, of in zip(twice, found.tolist(), strict=False) if of == fold)
            >= 6
        )
    learn, stop = inner(pools, 0)
    assert len(stop) == 4 and len(learn) == 16 and not inner(pools[:9], 0)[1]


def test_what_does_not_fit_is_left_out_and_says_so() -> None:
    def ticking() -> Iterator[float]:
        yield from (12.0 * n for n in range(100_000))

    ticks = ticking()
    found = advise(made.pools(20, by_words=False), 5, clock=lambda: next(ticks))
    assert [row.judged.name for row in found.rows] == ["bm25"]
    assert {trial.method.name for trial in found.skipped} == {"average", "siamese", "siamese + bm25"}
    reasons = ("needs about", "no time was left", "20 labels are far too few")
    assert all(any(reason in one.skipped for reason in reasons) for one in found.skipped)
    assert all("are left" in one.skipped for one in found.skipped if "needs" in one.skipped)
    slow = ticking()
    with pytest.raises(demur.DemurError, match="give more --minutes"):
        advise(made.pools(20, by_words=False), 0.1, clock=lambda: next(slow))


def test_a_method_that_fails_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Method("broken", "average(vectors=nowhere.txt)")
    monkeypatch.setattr(methods, "METHODS", (methods.METHODS[0], broken))
    found = advise(made.pools(12, by_words=True), 5)
    assert [trial.method.name for trial in found.skipped] == ["broken"]
    assert "nowhere.txt" in found.skipped[0].skipped
    assert "only method that could be tried" in found.recommendation


def test_few_labels_lead_to_the_evidence_of_other_data() -> None:
    pools = made.pools(7, by_words=True)
    bare = [Pool.of(f"q{n}?", ["a", "b"], id=f"u{n}") for n in range(9)]
    same = [Pool.of(f"r{n}?", ["a", "b"], [n % 2, n % 2], id=f"v{n}") for n in range(20)]
    found = advise([*pools, *bare, *same], 5)
    assert not found.rows and (found.labelled, found.informative, found.pools) == (27, 7, 36)
    assert "7 of your 36 pools have both a right and a wrong answer marked" in found.recommendation
    assert found.to_json()["measured"] == []
    words = evidence.by_evidence(found.profile, methods.METHODS[:2], evidence.packaged())
    assert words is not None and found.other_data == words
    assert found.method.name == "bm25" and "average" not in words.dataset.figures  # nobody measured the other


def test_evidence_names_the_data_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = {"pool_size": 4, "question_words": 3, "answer_words": 3, "overlap": 0.1}
    figure = {"mean": 0.6, "low": 0.5, "high": 0.7}
    curves = {"siamese": [[8, 0.5], [32, 0.7]]}
    one = {
        "name": "ToyQA",
        "profile": profile,
        "figures": {"average": figure},
        "curves": curves,
        "without": 0.6,
    }
    known = Evidence.from_json({"datasets": [one]})
    monkeypatch.setattr(evidence, "packaged", lambda: known)
    found = advise(made.pools(4, by_words=True), 5)
    assert found.method.name == "average" and "look most like ToyQA" in found.recommendation
    assert "on your own data nothing was measured" in found.recommendation
    assert found.labels == (
        "4 more allow measurements on your own pools; on ToyQA it took about 16 labelled questions until a "
        "trained net caught up with rankers that need none"
    )
    known = Evidence.from_json({"datasets": [{**one, "without": 0.8}]})
    said = advise(made.pools(4, by_words=True), 5).labels
    assert said.endswith("caught up with rankers that need none, with up to 32 labelled questions")


@pytest.mark.parametrize(("mean", "tried"), [(0.9, True), (0.7, False)])
def test_a_method_without_a_fair_figure_may_be_worth_a_try(
    mean: float, tried: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = {"pool_size": 4, "question_words": 3, "answer_words": 3, "overlap": 0.1}
    figure = {"mean": 0.6, "low": 0.5, "high": 0.7}
    other = {"mean": mean, "low": mean - 0.2, "high": mean + 0.05}
    near = {"name": "Near", "profile": profile, "figures": {"bm25": figure}, "curves": {}, "without": None}
    far = {**near, "name": "Far", "profile": {**profile, "pool_size": 90}}
    far["figures"] = {"bm25": figure, "average": other}
    monkeypatch.setattr(evidence, "packaged", lambda: Evidence.from_json({"datasets": [near, far]}))
    found = advise(made.pools(4, by_words=True), 5)
    assert found.method.name == "bm25"
    assert ("Try average too: on Near it has no fair figure, but on Far" in found.recommendation) is tried
    assert found.labels.startswith("4 more allow measurements on your own pools; how many it takes to train")


def test_partly_labelled_pools_take_part() -> None:
    pools = made.pools(14, by_words=True)
    partly = [
        dataclasses.replace(
            pool,
            candidates=tuple(
                c if c.label or n == 0 else Candidate(c.id, c.text) for n, c in enumerate(pool.candidates)
            ),
        )
        for pool in pools
    ]
    found = advise([*partly, Pool.of("new?", ["x", "y"], id="new")], 5)
    assert found.labelled == 14 and found.pools == 15 and found.rows


def test_of_many_pools_some_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advising, "MOST", 15)
    monkeypatch.setattr(methods, "METHODS", methods.METHODS[:1])
    found = advise(made.pools(40, by_words=True), 5)
    assert found.labelled == 40 and found.facts["measured_on"] == 15
    assert found.rows[0].judged.report.pools == 15
    pools = made.pools(9, True)
    assert trying.drawn(pools, 4, 0) == [p for p in pools if p in trying.drawn(pools[::-1], 4, 0)]
    rare = [Pool.of(f"none {n}?", ["a", "b"], [0, 0], id=f"n{n}") for n in range(40)]
    assert advise([*made.pools(12, True), *rare], 5).facts["measured_on"] == 52


def test_the_saved_model_is_trained_on_all_labels_and_says_why(tmp_path: Path) -> None:
    pools = made.pools(40, by_words=False)
    found = advise(pools, 5)
    taught = save(found, pools, tmp_path / "model", 0)
    opened = demur.open(tmp_path / "model")
    question, answers = pools[0].question, pools[0].answers
    assert opened.score(question, answers).tolist() == taught.score(question, answers).tolist()
    told = json.loads((tmp_path / "model" / "ranker.json").read_text("utf-8"))["made"]
    assert told["by"] == "demur advise" and told["evidence"]["chosen"] == found.method.name
    assert {row["method"] for row in told["evidence"]["rows"]} == {row.judged.name for row in found.rows}
    page = (tmp_path / "model" / "README.md").read_text("utf-8")
    assert page.startswith(f"# {found.method.name}\n") and found.recommendation in page
    assert all(f"| {row.judged.name} | " in page for row in found.rows)


def test_the_page_of_a_model_saved_without_labels(tmp_path: Path) -> None:
    pools = [Pool.of(pool.question, pool.answers, id=pool.id) for pool in made.pools(5, by_words=True)]
    save(advise(pools, 5), pools, tmp_path / "model", 0)
    assert "Not measured: there were too few labels" in (tmp_path / "model" / "README.md").read_text("utf-8")


def test_own_candidates_are_tried_too() -> None:
    found = advise(made.pools(12, by_words=True), 5, more=["overlap"])
    assert "overlap" in [row.judged.name for row in found.rows]
    with pytest.raises(demur.DemurError, match="unknown ranker 'overlop'"):
        advise(made.pools(12, by_words=True), 5, more=["overlop"])
    own = methods.applicable(True, ["train concat(epochs=3)", "train self(blend=1)"])[0][-2:]
    assert [(method.trains, method.labels) for method in own] == [(True, True), (True, False)]


def test_without_the_extra_what_comes_with_demur_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(methods, "find_spec", lambda module: None)
    usable, missing = methods.applicable(True)
    assert [method.name for method in usable] == [
        *("bm25", "mini", "encoder", "fusion", "forum", "mini + encoder")
    ]
    assert {"MaxSim", "siamese", "concat"} <= {method.name for method in missing}


@pytest.mark.parametrize(
    ("pools", "settings", "message"),
    [
        ([], {}, "there are no candidates"),
        ([Pool("a", "q", ())], {}, "there are no candidates"),
        (made.pools(3, True), {"minutes": 0}, "minutes must be a number above 0"),
        (made.pools(3, True), {"folds": 1}, "folds 2 or more"),
    ],
)
def test_wrong_use_is_one_line(pools: list[Pool], settings: dict[str, float], message: str) -> None:
    with pytest.raises(demur.DemurError, match=message):
        advise(pools, **settings)  # type: ignore[arg-type]


def test_times_are_told_as_people_do() -> None:
    assert [trying.plain(s) for s in (0.4, 65, 150)] == ["0 seconds", "65 seconds", "2.5 minutes"]
    assert trying.plain(np.inf) == "more time than there is"
