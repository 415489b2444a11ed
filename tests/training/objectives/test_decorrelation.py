"""Weights that make features independent: the sums are right, and they do what they are for."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from demur.training.objectives.decorrelation import (
    PRESETS,
    Choices,
    Dependence,
    averaged,
    dependence,
    drawn,
    learnt,
    moments,
    standardised,
)
from demur.training.objectives.reweighting import Reweighting

FIXED = PRESETS["fixed"]


def features(samples: int, dependent: bool, seed: int = 0) -> Tensor:
    """24 features: drawn alone, or with 8 that all share."""
    draws = torch.Generator().manual_seed(seed)
    own = torch.randn(samples, 24, generator=draws)
    shared = torch.randn(samples, 8, generator=draws) @ torch.randn(8, 24, generator=draws) / 8**0.5
    return own + shared if dependent else own


def effect(rows: Tensor, choices: Choices) -> tuple[float, float, Tensor]:
    """By how much fresh functions' dependence falls, the effective share of weights, and the weights."""
    torch.manual_seed(1)
    weights = torch.softmax(learnt(rows, torch.zeros(len(rows)), len(rows), choices), 0)
    even, sums = torch.full_like(weights, 1 / len(rows)), [0.0, 0.0]
    for seed in range(8):
        for place, each in enumerate((even, weights)):
            torch.manual_seed(100 + seed)
            sums[place] += dependence(rows, each)
    return 1 - sums[1] / sums[0], float(1 / (len(rows) * weights.square().sum())), weights * len(rows)


def covariance(rows: Tensor, weights: Tensor, squared: bool = False) -> Tensor:
    """The weighted covariance of rows: with even weights np.cov · (n - 1) / n, or np.cov if `squared`."""
    a, b = moments(weights, squared)
    mean = b @ rows
    return rows.T @ (a[:, None] * rows) - mean[:, None] * mean


def test_even_weights_give_the_covariance_of_numpy() -> None:
    rows, even = torch.randn(11, 4, dtype=torch.float64), torch.full((11,), 1 / 11, dtype=torch.float64)
    known = torch.from_numpy(np.cov(rows.numpy().T))
    assert torch.allclose(covariance(rows, even), known * 10 / 11)
    assert torch.allclose(covariance(rows, even, squared=True), known)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("samples", [1, 2, 9])
def test_the_gram_matrix_gives_what_loops_give(preset: str, samples: int) -> None:
    choices = PRESETS[preset]
    rows = torch.randn(samples, 5, dtype=torch.float64)
    weights = torch.softmax(torch.randn(samples, dtype=torch.float64), 0)
    z = drawn(rows, choices)  # views × n × d × r
    known = 0.0
    for view in z:
        r = view.shape[-1]
        whole = covariance(view.flatten(1), weights, choices.squared)
        for one in range(5):
            for other in range(one + 1, 5):
                block = whole[one * r : (one + 1) * r, other * r : (other + 1) * r]
                known += float(block.square().sum())
    assert float(Dependence(z, choices)(weights)) == pytest.approx(known, rel=1e-9, abs=1e-12)


def test_functions_see_features_of_mean_0_and_spread_1_and_a_phase_from_all_round() -> None:
    rows = torch.randn(50, 3, dtype=torch.float64) * torch.tensor([1.0, 20.0, 0.0]) + 7
    known = (rows.numpy() - rows.numpy().mean(0)) / np.array(
        [rows[:, 0].std(correction=0), rows[:, 1].std(correction=0), 1]
    )
    assert np.allclose(standardised(rows), known)
    torch.manual_seed(0)
    alike = drawn(torch.full((2, 500), 4.0), replace(PRESETS["paper"], functions=20))  # √2 cos of a phase
    assert abs(float(alike.mean())) < 0.05 and float(alike.square().mean()) == pytest.approx(1, abs=0.05)


def test_presets_are_what_was_released_and_what_the_paper_says() -> None:
    code, paper = PRESETS["code"], PRESETS["paper"]
    assert (code.functions, paper.functions) == (5, 5)
    assert (code.rate, code.plain, code.decay) == (1e-3, 10, 0.9)
    assert (paper.rate, paper.steps, paper.decay, paper.penalty) == (1e-3, 20, 0.7, 0.0)
    assert (FIXED.rate, FIXED.steps, FIXED.penalty, FIXED.memory) == (0.1, 30, 3.0, 140)


def test_the_quadrature_is_the_mean_over_draws() -> None:
    torch.manual_seed(0)
    rows = features(40, dependent=True).double()
    weights = torch.softmax(torch.randn(40, dtype=torch.float64), 0)
    draws = [dependence(rows, weights) for _ in range(200)]
    many, few = (
        float(Dependence(averaged(rows, choices)[None], choices)(weights))
        for choices in (replace(FIXED, nodes=24), FIXED)
    )
    assert many == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / 200**0.5)
    assert few == pytest.approx(many, rel=0.05)  # features far out are dear to reach


@pytest.mark.parametrize("samples", [140, 280, 1000])
def test_fixed_makes_dependent_features_less_so(samples: int) -> None:
    fall, effective, _ = effect(features(samples, dependent=True), FIXED)
    assert fall >= 0.3 and effective >= 0.6


@pytest.mark.parametrize("samples", [280, 1000])
def test_fixed_leaves_independent_features_nearly_alone(samples: int) -> None:
    assert effect(features(samples, dependent=False), FIXED)[1] >= 0.9


@pytest.mark.parametrize("samples", [140, 1000])
def test_released_weights_do_not_move(samples: int) -> None:
    fall, _, weights = effect(features(samples, dependent=True), PRESETS["code"])
    assert abs(fall) < 0.01
    assert weights.min() > 0.998 and weights.max() < 1.002


def test_the_range_of_two_features_is_all_that_is_left_of_them() -> None:
    rows, choices = torch.randn(50, 2), PRESETS["code"]
    z = drawn(rows, choices)
    assert torch.allclose(z, torch.full_like(z, (2 / choices.functions) ** 0.5), atol=1e-6)
    weights = torch.softmax(torch.randn(50), 0)
    assert float(Dependence(z, choices)(weights)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("preset", PRESETS)
def test_batches_of_any_size_have_weights(preset: str) -> None:
    torch.manual_seed(0)
    reweighting = Reweighting(6, replace(PRESETS[preset], memory=10))
    for count in (4, 1, 12, 3, 7):
        weights = reweighting(torch.randn(count, 6))
        assert len(weights) == count and float(weights.mean()) == pytest.approx(1, abs=1e-5)
    assert torch.isfinite(reweighting(torch.ones(3, 6))).all(), "features that do not differ"


def test_half_precision_around_it_changes_nothing() -> None:
    found = []
    for half in (True, False):
        reweighting, rows = Reweighting(24, FIXED), features(70, dependent=True)
        torch.manual_seed(0)
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            found.append((reweighting(rows).tolist(), reweighting.told()))
    assert found[0] == found[1]


def test_the_queue_holds_the_last_rows() -> None:
    reweighting = Reweighting(2, replace(FIXED, memory=5))
    rows = torch.randn(9, 2)
    for part in (rows[:3], rows[3:7], rows[7:]):
        reweighting(part)
    assert torch.equal(reweighting.rows, rows[4:])


def test_what_does_nothing_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "demur"):
        for preset in ("fixed", "code"):
            reweighting = Reweighting(24, PRESETS[preset])
            for _ in range(2):
                reweighting(features(140, dependent=True))
                told = reweighting.told()
                assert (told["dependence_fall"] > 0.2) == (preset == "fixed")
    assert told["effective"] > 0.999 and abs(told["dependence_fall"]) < 0.01
    assert [record.message[:25] for record in caplog.records] == ["reweighting does nothing:"]
    assert reweighting.told() == {} and caplog.records[0].message.endswith("try preset=fixed")


@pytest.mark.parametrize("way", ["more dependent", "few pairs left"])
def test_what_does_harm_says_so_with_its_figures(way: str, caplog: pytest.LogCaptureFixture) -> None:
    worse = replace(FIXED, mean=False, strength=-1.0)  # as if dependence were wanted
    alone = replace(PRESETS["paper"], rate=1.0)  # by its letter all weight on one pair is best
    reweighting = Reweighting(24, worse if way == "more dependent" else alone, every=1)
    with caplog.at_level(logging.WARNING, "demur"):
        torch.manual_seed(0)
        reweighting(features(60, dependent=True))
        told = reweighting.told()
    assert told["dependence_fall"] < -0.1 if way == "more dependent" else told["effective"] < 0.05
    (record,) = caplog.records
    assert record.message.startswith(f"reweighting does harm: weights have a spread of {told['spread']:.2g}")
    assert f"(effective size {told['effective']:.1%})" in record.message
    assert f"goes from {told['dependence']:.3g} to" in record.message
    assert f"({-told['dependence_fall']:+.1%}); try preset=fixed" in record.message


@pytest.mark.parametrize(
    ("effective", "after", "says"),
    [(0.26, 0.9, ""), (0.24, 0.9, "harm"), (0.9, 1.03, "harm"), (0.999, 0.99, "nothing"), (0.99, 0.99, "")],
)
def test_where_a_warning_begins(
    effective: float, after: float, says: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A quarter of the pairs must be left, and dependence may not rise by two hundredths."""
    reweighting = Reweighting(4, FIXED)
    reweighting.sums += torch.tensor([2, 2 * effective, 1.0, 1.0, after], dtype=torch.float64)
    with caplog.at_level(logging.WARNING, "demur"):
        assert reweighting.told()["effective"] == pytest.approx(effective)
    assert bool(caplog.records) == bool(says)
    if says:
        assert f"reweighting does {says}:" in caplog.records[0].message


def test_dependence_is_told_as_the_mean_of_the_looks_at_it() -> None:
    rows = features(70, dependent=True)
    seldom, always = (Reweighting(24, FIXED, every=every) for every in (8, 1))
    found = []
    for reweighting in (seldom, always):
        torch.manual_seed(0)
        for _ in range(9 if reweighting is seldom else 1):
            reweighting(rows)
        found.append(reweighting.told()["dependence"])
    assert found[0] == pytest.approx(found[1], rel=0.5), "of nine steps two were looked at"


def test_who_has_the_fixed_preset_is_not_told_to_take_it(caplog: pytest.LogCaptureFixture) -> None:
    reweighting = Reweighting(24, PRESETS["fixed"])
    with caplog.at_level(logging.WARNING, "demur"):
        reweighting(features(1, dependent=True).expand(2, -1))  # two alike: no weights can change anything
        reweighting.told()
    assert caplog.records[0].message.endswith("give more pools, or more pairs to a step")


@pytest.mark.data
def test_so_it_is_with_what_minilm_says_of_wikiqa() -> None:
    import demur
    from demur.nets.transformers.cross_encoder import score
    from demur.nets.transformers.features import caught
    from demur.rankers.cross_encoders.cross_encoder import CrossEncoder
    from demur.rankers.cross_encoders.pairs import tokenised

    pools = list(demur.load("wikiqa/train")[:12])  # type: ignore[index]
    network, tokenizer = CrossEncoder(model="minilm").fresh()
    pairs = tokenised(tokenizer, pools, 32)
    with torch.no_grad(), caught(network.eval(), "first") as held:
        score(network, pairs.batch(list(range(70))))
        rows = held[0].clone()
    released, fixed = effect(rows, PRESETS["code"]), effect(rows, FIXED)
    assert released[1] > 0.999 and abs(released[0]) < 0.01
    assert fixed[1] > 0.5 and fixed[0] > 0.1


def test_the_page_about_it_says_what_was_measured() -> None:
    from tools import decorrelation

    assert not decorrelation.faults(decorrelation.kept()["reachable"])
    assert decorrelation.page() == (decorrelation.ROOT / "docs" / "decorrelation.md").read_text("utf-8")
