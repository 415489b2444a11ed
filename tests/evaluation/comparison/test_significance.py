from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from demur.errors import UnknownName, UsageError
from demur.evaluation import holm, mcnemar, p_value, permutation, wilcoxon


def by_scipy(differences: list[float], resamples: int) -> float:
    return float(
        stats.permutation_test(
            (differences,), np.mean, permutation_type="samples", n_resamples=resamples, rng=1
        ).pvalue
    )


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=9))
@settings(max_examples=60, deadline=None)
def test_exact_permutation_is_the_share_of_sign_patterns(eighths: list[int]) -> None:
    differences = [number / 8 for number in eighths]
    observed = abs(sum(differences))
    sums = [
        sum(sign * d for sign, d in zip(signs, differences, strict=True))
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    wanted = sum(abs(total) >= observed for total in sums) / len(sums)
    assert permutation(np.array(differences)) == wanted


def test_exact_permutation_equals_scipy() -> None:
    differences = np.random.default_rng(0).normal(0.4, 1, 12)
    assert permutation(differences) == pytest.approx(by_scipy(list(differences), 1 << 20), abs=1e-12)
    padded = np.concatenate((differences, np.zeros(500)))  # pools that do not differ change nothing
    assert permutation(padded) == permutation(differences)


@pytest.mark.parametrize(("n", "shift"), [(17, 0.3), (60, 0.2), (700, 0.05)])
def test_drawn_permutation_is_near_scipy(n: int, shift: float) -> None:
    differences = np.random.default_rng(n).normal(shift, 1, n)
    wanted = by_scipy(list(differences), 20_000)
    assert permutation(differences) == pytest.approx(wanted, abs=4 * math.sqrt(0.25 / 20_000))
    assert permutation(differences, seed=1) == permutation(differences, seed=1)


def test_a_drawn_p_is_never_zero_and_never_from_few_draws() -> None:
    assert permutation(np.ones(40), draws=10_000) == 1 / 10_001
    assert permutation(np.ones(50_000), draws=100_000) == 1 / 10_001  # many pools: as few as is decent
    assert permutation(np.zeros(40)) == 1.0


def test_drawn_p_is_uniform_when_nothing_differs() -> None:
    rng = np.random.default_rng(5)
    ps = [permutation(rng.normal(0, 1, 30), seed=seed, draws=10_000) for seed in range(200)]
    assert stats.kstest(ps, "uniform").pvalue > 0.001


def test_wilcoxon_keeps_zeros_in_the_ranking() -> None:
    differences = np.random.default_rng(2).integers(-2, 4, 60) / 4
    assert wilcoxon(differences) == stats.wilcoxon(differences, zero_method="pratt").pvalue
    assert wilcoxon(differences) != stats.wilcoxon(differences, zero_method="wilcox").pvalue
    assert wilcoxon(np.zeros(7)) == 1.0


@pytest.mark.parametrize(("wins", "losses", "p"), [(15, 5, "0.041"), (20, 10, "0.099"), (0, 0, "1.000")])
def test_mcnemar_on_known_discordances(wins: int, losses: int, p: str) -> None:
    differences = np.array([1.0] * wins + [-1.0] * losses + [0.0] * 50)
    assert f"{mcnemar(differences):.3f}" == f"{mcnemar(-differences):.3f}" == p


def test_mcnemar_is_the_binomial_test_and_wants_right_or_wrong() -> None:
    for wins, losses in ((1, 0), (7, 9), (3, 3), (400, 460)):
        differences = np.array([1.0] * wins + [-1.0] * losses)
        wanted = stats.binomtest(wins, wins + losses).pvalue
        assert mcnemar(differences) == pytest.approx(wanted, rel=1e-10)
    with pytest.raises(UsageError, match="values must be 0 or 1"):
        mcnemar(np.array([0.5, 1.0]))


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_noise_in_the_last_digits_is_no_difference() -> None:
    noise = np.random.default_rng(0).normal(0, 1e-16, 30)
    for name in ("permutation", "wilcoxon", "mcnemar"):
        assert p_value(name, noise) == 1.0
    with pytest.raises(UnknownName, match="unknown test 'perm'"):
        p_value("perm", noise)


def test_an_adjusted_p_is_never_above_one() -> None:
    assert holm([0.9, 0.8, 0.7]) == [1.0, 1.0, 1.0]


def test_the_usual_seed_is_0() -> None:
    differences = np.random.default_rng(5).normal(0.1, 1, 300)
    usual, zero, one = (p_value("permutation", differences, *seed) for seed in ((), (0,), (1,)))
    assert usual == zero != one
