"""Each measure over answers equals its definition, averaged over every order that ties allow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demur.errors import UsageError
from demur.evaluation import (
    AUGRC,
    AURC,
    AUROC,
    EAURC,
    Answers,
    APerror,
    Coverage,
    Risk,
    Selective,
    curve,
    measure,
    parse_measures,
)

ALL = [
    *("AURC", "E-AURC", "AUGRC", "AUROC", "AP-error", "Risk@0.8", "Risk@0.3", "Risk@1", "Risk@0"),
    *("Coverage@0.05", "Coverage@0.5", "Risk(threshold=2)", "Coverage(threshold=2)"),
]

answers = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=6)


def selective(spec: str) -> Selective:
    found = measure(spec)
    assert isinstance(found, Selective)
    return found


def by_hand(spec: str, keys: Sequence[float], losses: Sequence[float]) -> float:
    """A measure of answers in one order, straight from its definition."""
    wanted = selective(spec)
    n, wrong = len(losses), sum(losses)
    risks = [sum(losses[: k + 1]) / (k + 1) for k in range(n)]
    if "threshold" in dict(wanted.settings):
        threshold = float(dict(wanted.settings)["threshold"])
        given = sum(key >= threshold for key in keys)
        return given / n if wanted.name == "Coverage" else risks[given - 1] if given else math.nan
    if wanted.name == "AURC":
        return sum(risks) / n
    if wanted.name == "E-AURC":
        return sum(risks) / n - by_hand("AURC", keys, sorted(losses))
    if wanted.name == "AUGRC":  # trapezoids between coverages k/n
        points = [0.0, *(risk * (k + 1) / n for k, risk in enumerate(risks))]
        return sum((a + b) / 2 / n for a, b in itertools.pairwise(points))
    if wanted.name == "AUROC":
        pairs = [(k, m) for k in range(n) for m in range(n) if losses[k] == 0 and losses[m] == 1]
        return sum(k < m for k, m in pairs) / len(pairs) if pairs else math.nan
    if wanted.name == "AP-error":
        found, total = 0, 0.0
        for place, loss in enumerate(reversed(losses), 1):
            found += loss == 1
            total += found / place if loss == 1 else 0
        return total / wrong if wrong else math.nan
    assert wanted.share is not None
    if wanted.name == "Risk":
        return risks[max(1, math.ceil(wanted.share * n - 1e-9)) - 1]
    ends = [k for k in range(n) if k == n - 1 or keys[k] != keys[k + 1]]
    return max((k + 1 for k in ends if risks[k] <= wanted.share + 1e-12), default=0) / n


def orders(keys: Sequence[float], losses: Sequence[float]) -> Iterator[list[float]]:
    """The losses in every order that the keys allow, surest first, all equally likely."""
    blocks = [
        list(itertools.permutations([loss for k, loss in zip(keys, losses, strict=True) if k == key]))
        for key in sorted(set(keys), reverse=True)
    ]
    for parts in itertools.product(*blocks):
        yield list(itertools.chain(*parts))


@pytest.mark.parametrize("spec", ALL)
@settings(max_examples=40, deadline=None)
@given(answers)
def test_the_mean_over_all_orders(spec: str, drawn: list[tuple[int, bool]]) -> None:
    keys, losses = [float(key) for key, _ in drawn], [float(loss) for _, loss in drawn]
    ordered = sorted(keys, reverse=True)
    wanted = np.mean([by_hand(spec, ordered, order) for order in orders(keys, losses)])
    assert selective(spec).of(keys, losses) == pytest.approx(float(wanted), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("spec", ["AURC", "AUGRC", "AP-error", "Risk@0.6"])
@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from([0.0, 0.25, 0.5, 1.0])), min_size=1, max_size=4))
def test_a_loss_in_between_is_a_chance_of_being_wrong(spec: str, drawn: list[tuple[int, float]]) -> None:
    keys, losses = [float(key) for key, _ in drawn], [loss for _, loss in drawn]
    total = 0.0
    for sides in itertools.product((0.0, 1.0), repeat=len(drawn)):
        chance = math.prod(p if side else 1 - p for side, p in zip(sides, losses, strict=True))
        weight = sum(sides) / max(sum(losses), 1e-300) if spec == "AP-error" else 1.0
        if chance and weight:
            total += chance * weight * selective(spec).of(keys, sides)
    if spec == "AP-error" and not sum(losses):
        total = math.nan
    assert selective(spec).of(keys, losses) == pytest.approx(total, abs=1e-12, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 1 / 3, 1.0]), st.integers(0, 3)), min_size=1)
)
def test_a_resample_is_the_answers_repeated(drawn: list[tuple[int, float, int]]) -> None:
    keys, losses, times = (np.array(column, np.float64) for column in zip(*drawn, strict=True))
    counts = times.astype(np.int64)
    if not counts.sum():
        counts[0] = 1
    if counts.sum() > len(counts):  # a resample has no more answers than there are
        counts = np.minimum(counts, 1)
    both = np.stack([counts, np.ones_like(counts)])
    for spec in ALL:
        wanted = selective(spec)
        if spec == "AP-error" and not set(losses) <= {0.0, 1.0}:
            continue  # an answer drawn twice has two chances of its own
        found = wanted.values_of(Answers.of(keys, losses).drawn(both))
        alone = wanted.of(np.repeat(keys, counts), np.repeat(losses, counts))
        assert found[0] == pytest.approx(alone, abs=1e-12, nan_ok=True)
        assert found[1] == pytest.approx(wanted.of(keys, losses), abs=1e-12, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=60))
def test_augrc_is_auroc_and_accuracy_exactly(drawn: list[tuple[int, float]]) -> None:
    keys, losses = (np.array(column, np.float64) for column in zip(*drawn, strict=True))
    error = losses.mean()
    if 0 < error < 1:
        wanted = (1 - AUROC.of(keys, losses)) * error * (1 - error) + error**2 / 2
        assert AUGRC.of(keys, losses) == pytest.approx(wanted, abs=1e-13)
    whole = (losses > 0.4).astype(float)
    assert AUGRC.of(-whole, whole) == pytest.approx(whole.mean() ** 2 / 2, abs=1e-13)
    assert EAURC.of(-losses, losses) == pytest.approx(0, abs=1e-12)
    assert EAURC.of(keys, losses) >= -1e-12


@settings(max_examples=30, deadline=None)
@given(answers, st.randoms(use_true_random=False))
def test_order_and_scale_change_nothing(drawn: list[tuple[int, bool]], random: object) -> None:
    shuffled = list(drawn)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    for spec in ALL:
        values = []
        for rows, scale in ((drawn, 1.0), (shuffled, 1.0), (drawn, 1e200)):
            if scale > 1 and "threshold" in spec:
                continue
            keys, losses = zip(*rows, strict=True)
            values.append(selective(spec).of(np.array(keys) * scale, np.array(losses, float)))
        assert values == pytest.approx([values[0]] * len(values), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize(
    ("published", "error"),
    [(0.0792, 0.371), (0.1101, 0.431), (0.0523, 0.305), (0.079, 0.370)],
)
def test_the_paper_s_oracles_are_those_of_wrong_among_answered(published: float, error: float) -> None:
    """A confidence that knows gets e + (1-e) ln(1-e); the paper's figures give the errors back."""
    assert error + (1 - error) * math.log1p(-error) == pytest.approx(published, abs=4e-4)
    loss = (np.arange(100_000) < error * 100_000).astype(float)
    assert AURC.of(-loss, loss) == pytest.approx(published, abs=4e-4)


@pytest.mark.parametrize(("questions", "biased"), [(20, 0.108), (50, 0.105), (200, 0.101)])
def test_few_questions_make_aurc_look_worse(questions: int, biased: float) -> None:
    """Sureness u is even, and the chance of an error 0.4 (1 - u): the true AURC is .1.

    The surest k of n are right more rarely than the surest k/n of all questions: (k+1)/(n+1), not k/n.
    """
    rng = np.random.default_rng(questions)
    found = [
        AURC.of(sure, rng.random(questions) < 0.4 * (1 - sure)) for sure in rng.random((4000, questions))
    ]
    exact = 0.1 * (questions + 3) / (questions + 1)
    assert np.mean(found) == pytest.approx(exact, abs=4 * float(np.std(found)) / 4000**0.5)
    assert exact == pytest.approx(biased, abs=0.002)


def test_the_trap_of_indexing_the_wrong_array() -> None:
    """The surest answer is the only wrong one: the risk is .1 when all are given, and 20 % can be had."""
    losses = [1.0, *[0.0] * 9]
    assert (Coverage @ 0.2).of(range(10, 0, -1), losses) == 1.0
    assert (Coverage @ 0.05).of(range(10, 0, -1), losses) == 0.0
    assert (Coverage @ 0.1).of(range(10, 0, -1), losses) == 1.0
    assert (Risk @ 1).of(range(10, 0, -1), losses) == pytest.approx(0.1)
    assert (Risk @ 0).of(range(10, 0, -1), losses) == 1.0


def test_tied_answers_are_all_given_or_none() -> None:
    assert (Coverage @ 0.25).of([1, 1, 1, 0], [0, 0, 1, 1]) == 0.0
    assert (Coverage @ 0.34).of([1, 1, 1, 0], [0, 0, 1, 1]) == 0.75
    assert (Risk @ 0.5).of([1, 1, 1, 0], [0, 0, 1, 1]) == pytest.approx(1 / 3)
    assert AUROC.of([1, 1], [0, 1]) == 0.5
    assert APerror.of([1, 1], [0, 1]) == 0.75


def test_shares_that_are_not_exact_are_met_exactly() -> None:
    for hundredths in range(1, 101):
        losses = np.zeros(100)
        losses[:hundredths] = 1
        assert (Coverage @ (hundredths / 100)).of(np.zeros(100), losses) == 1.0
        last = -np.arange(100.0)
        assert (Risk @ (hundredths / 100)).of(last, last == 1 - hundredths) == 1 / hundredths


def test_the_curve_has_every_threshold() -> None:
    found = curve([3, 1, 3, 2, np.inf, -np.inf], [1, 1, 0, 0, 0, 1])
    assert found.threshold.tolist() == [np.inf, 3, 2, 1, -np.inf]
    assert found.coverage.tolist() == pytest.approx([1 / 6, 1 / 2, 2 / 3, 5 / 6, 1])
    assert found.risk.tolist() == pytest.approx([0, 1 / 3, 1 / 4, 2 / 5, 1 / 2])


def test_what_is_undefined_is_not_a_number() -> None:
    assert math.isnan(AUROC.of([1, 2], [0, 0]))
    assert math.isnan(AUROC.of([1, 2], [1, 1]))
    assert math.isnan(APerror.of([1, 2], [0, 0]))
    assert math.isnan(selective("Risk(threshold=3)").of([1, 2], [0, 1]))
    assert selective("Coverage(threshold=3)").of([1, 2], [0, 1]) == 0.0
    assert (AURC.of([1], [1]), EAURC.of([1], [1]), AUGRC.of([1], [1])) == (1.0, 0.0, 0.5)


def test_a_measure_has_one_spelling() -> None:
    for spec in [*ALL, "AURC(rel=2)", "Risk(rel=2)@0.8", "Coverage(threshold=-1.5)"]:
        assert str(measure(spec)) == spec
    assert measure("Risk@0.80") == Risk @ 0.8 == parse_measures("MAP,Risk@.8")[1]
    assert measure("Coverage@1") == Coverage @ 1
    assert len({measure("Risk@0.8"), measure("Risk@0.9"), measure("Coverage@0.8")}) == 3


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("Risk", r"Risk needs a share or a threshold; write Risk@0.1 or Risk\(threshold=3.5\)"),
        ("Risk(threshold=1)@0.8", "needs a share or a threshold"),
        ("Risk@5", r"the share in Risk@5 must be from 0 to 1"),
        ("Risk@1.5", "the share in Risk@1.5 must be from 0 to 1"),
        ("AURC@0.8", "AURC takes no share; write AURC"),
        ("AURC(threshold=2)", "AURC has no setting 'threshold'; it takes rel"),
        ("Risk(threshold=high)", "must be a number"),
        ("AURC(rel=0)", "must be a whole label above 0"),
    ],
)
def test_misspelt_measures_are_one_clear_line(spec: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        measure(spec)


@pytest.mark.parametrize(
    ("confidence", "loss", "says"),
    [
        ([], [], "there are no answers"),
        ([1.0], [0.0, 1.0], "give one of each"),
        ([math.nan, 1.0], [0.0, 1.0], "confidence at place 0 is not a number"),
        ([1.0], [2.0], "a loss must be from 0, right, to 1, wrong"),
        ([1.0], [math.nan], "a loss must be"),
    ],
)
def test_arrays_that_make_no_sense_are_one_clear_line(
    confidence: list[float], loss: list[float], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        AURC.of(confidence, loss)
