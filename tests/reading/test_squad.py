from __future__ import annotations

import collections
import re
import string
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from demur.data import pools
from demur.errors import UsageError
from demur.evaluation.readers import evaluate_answers
from demur.reading import published, squad
from demur.types import Pool

# What the official scripts do, line by line.


def normalize_answer(s: str) -> str:
    lower = s.lower()
    exclude = set(string.punctuation)
    without = "".join(ch for ch in lower if ch not in exclude)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", without).split())


def f1_of_2(a_gold: str, a_pred: str) -> float:
    gold_toks, pred_toks = normalize_answer(a_gold).split(), normalize_answer(a_pred).split()
    common = collections.Counter(gold_toks) & collections.Counter(pred_toks)
    num_same = sum(common.values())
    if len(gold_toks) == 0 or len(pred_toks) == 0:
        return float(int(gold_toks == pred_toks))
    if num_same == 0:
        return 0
    precision, recall = num_same / len(pred_toks), num_same / len(gold_toks)
    return (2 * precision * recall) / (precision + recall)


def f1_of_1(prediction: str, truth: str) -> float:
    one, other = normalize_answer(prediction).split(), normalize_answer(truth).split()
    num_same = sum((collections.Counter(one) & collections.Counter(other)).values())
    if num_same == 0:
        return 0
    precision, recall = num_same / len(one), num_same / len(other)
    return (2 * precision * recall) / (precision + recall)


def raw_scores(golds: list[str], said: str, version: str) -> tuple[float, float]:
    if version == "1.1":
        exact = max(int(normalize_answer(said) == normalize_answer(gold)) for gold in golds)
        return float(exact), max(f1_of_1(said, gold) for gold in golds)
    listed = [gold for gold in golds if normalize_answer(gold)] or [""]
    exact = max(int(normalize_answer(gold) == normalize_answer(said)) for gold in listed)
    return float(exact), max(f1_of_2(gold, said) for gold in listed)


def find_best_thresh(
    preds: list[str], scores: list[float], na_probs: list[float], has_ans: list[bool]
) -> tuple[float, float]:
    num_no_ans = sum(not each for each in has_ans)
    cur_score: float = num_no_ans
    best_score, best_thresh = cur_score, 0.0
    for n in sorted(range(len(preds)), key=lambda k: na_probs[k]):
        diff = scores[n] if has_ans[n] else (-1 if preds[n] else 0)
        cur_score += diff
        if cur_score > best_score:
            best_score, best_thresh = cur_score, na_probs[n]
    return best_score / len(scores), best_thresh


def pool(golds: list[str], number: int = 0) -> Pool:
    return Pool(f"{number}", "?", (), {"answers": [{"text": text, "answer_start": 0} for text in golds]})


WORDS = some.sampled_from(
    ["the", "The", "a", "an", "ship", "ship.", "ships", "U.S.", "!", "-", "Łódź", "ship-a", ""]
)
TEXTS = some.lists(WORDS, max_size=5).map(" ".join)


@given(some.lists(TEXTS, max_size=4), TEXTS)
@example(["The"], "the")
@example(["The", "ship"], "")
@example(["ship ship"], "ship")
@example([], "a")
@example(["a the"], "An!")
@example(["the band The The"], "The The band")
def test_an_answer_scores_what_the_official_scripts_say(golds: list[str], said: str) -> None:
    for version in ("2.0", "1.1") if golds else ("2.0",):
        found = squad.score([pool(golds)], [said], version)
        exact, f1 = raw_scores(golds, said, version)
        assert found.exact[0] == exact and found.f1[0] == pytest.approx(f1, abs=1e-12)
        assert found.answerable[0] == bool(golds) and found.answered[0] == bool(said)


ROWS = some.lists(
    some.tuples(some.booleans(), some.booleans(), some.sampled_from([0, 0.5, 1]), some.integers(-4, 4)),
    min_size=1,
    max_size=12,
)


def table(rows: list[Any]) -> tuple[squad.Scores, list[float]]:
    has, answered, values, odds = (list(each) for each in zip(*rows, strict=True))
    right = [
        float(v if h and a else h is a) if h else float(not a)
        for h, a, v in zip(has, answered, values, strict=True)
    ]
    right = [v if h and a else float(not h and not a) for h, a, v in zip(has, answered, values, strict=True)]
    marks = np.array(right, float)
    return squad.Scores(marks, marks, np.array(has), np.array(answered)), [float(each) for each in odds]


@given(ROWS)
def test_the_best_threshold_is_that_of_trying_all(rows: list[Any]) -> None:
    found, odds = table(rows)
    best = squad.best(found.exact, found, odds)

    def mean(threshold: float) -> float:
        kept = np.array(odds) <= threshold
        return float(np.where(kept, found.exact, ~found.answerable).mean())

    tried = {threshold: mean(threshold) for threshold in [-np.inf, *odds]}
    assert best.mean == pytest.approx(max(tried.values()))
    assert mean(best.threshold) == pytest.approx(best.mean), "what it says is what it gives"


@given(ROWS)
def test_without_ties_it_is_the_official_one(rows: list[Any]) -> None:
    found, _ = table(rows)
    odds = [float(n) for n in np.random.default_rng(len(rows)).permutation(len(rows))]
    preds = ["x" if each else "" for each in found.answered.tolist()]
    mean, threshold = find_best_thresh(preds, found.exact.tolist(), odds, found.answerable.tolist())
    best = squad.best(found.exact, found, odds)
    assert best.mean == pytest.approx(mean)
    assert best.threshold == threshold or best.threshold == -np.inf


def test_the_official_sweep_goes_wrong_within_ties_and_ours_does_not() -> None:
    marks, answerable = np.array([1.0, 0, 0]), np.array([True, False, False])
    found = squad.Scores(marks, marks, answerable, np.array([True] * 3))
    odds = [1.0, 1.0, 1.0]
    official, _ = find_best_thresh(["x"] * 3, found.exact.tolist(), odds, found.answerable.tolist())
    assert official == 1, "as if equal odds could be told apart"
    assert squad.best(found.exact, found, odds) == squad.Best(2 / 3, float("-inf"))


def test_a_report_has_the_parts_that_there_are() -> None:
    both = [pool(["Nile"], 0), pool([], 1), pool(["the Amazon river"], 2)]
    report = evaluate_answers(["nile", "x", "Amazon"], both, name="me", data="toy")
    assert report.convention == "squad-2.0" and report.counted["NoAns-EM"] == 1
    means = {name: found.mean for name, found in report.measures.items()}
    assert means == pytest.approx(
        {"EM": 1 / 3, "F1": (1 + 2 / 3) / 3, "HasAns-EM": 0.5, "HasAns-F1": 5 / 6, "NoAns-EM": 0}
    )
    assert report.from_json(report.to_json()).to_json() == report.to_json()
    assert set(evaluate_answers(["nile"], both[:1]).measures) == {"EM", "F1"}
    assert set(evaluate_answers([""], both[1:2]).measures) == {"EM", "F1", "NoAns-EM"}
    for wrong in ((["x"], "2.0"), (["a", "b", "c"], "3")):
        with pytest.raises(UsageError):
            squad.score(both, *wrong)
    with pytest.raises(UsageError, match="one for each"):
        squad.best(np.ones(3), squad.score(both, ["a", "b", "c"]), [1.0])


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "system", "em", "f1"),
    [
        ("2.0/dev", "v2.0-bert-single", 78.74, 81.78),
        ("1.1/dev", "v1.1-bert-ensemble", 86.21, 92.20),
        ("1.1/dev", "v1.1-logistic", 40.14, 50.98),  # 13 questions are not in it
    ],
)
def test_published_answers_score_what_was_published(split: str, system: str, em: float, f1: float) -> None:
    dev = pools(f"squad/{split}")
    found = squad.score(dev, published.answers(f"squad/predictions/{system}.json.gz", dev), split[:3])
    assert round(100 * float(found.exact.mean()), 2) == em
    assert round(100 * float(found.f1.mean()), 2) == f1
    assert squad.version_of(dev) == split[:3]
