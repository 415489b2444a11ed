from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import demur
from demur.errors import UsageError
from demur.reading.readers.mini import Mini
from demur.risk import Gate, qualifier
from demur.training.readers.mini_confidence import among_others, fit_confidence, train_confidence
from demur.types import Candidate, Pool
from laws import toys

WORDS = ["ship", "cape", "may", "abc", "nothing", "round"]


def small() -> Mini:
    return Mini(folder=toys.small(), max_length=40, stride=12)


def drawn(count: int, seed: int = 0) -> list[Pool]:
    """Pools in which a passage is right if mini thinks well of it, so that there is something to learn."""
    draws = np.random.default_rng(seed)
    texts = [[" ".join(draws.choice(WORDS, 4)) for _ in range(4)] for _ in range(count)]
    pools = [Pool.of("which ship?", each, id=str(n)) for n, each in enumerate(texts)]
    scores = small().score_pools(pools)
    usual = float(np.median(np.concatenate(scores)))
    return [
        Pool.of("which ship?", pool.answers, [int(score > usual) for score in each], id=pool.id)
        for pool, each in zip(pools, scores, strict=True)
    ]


def test_it_learns_how_sure_it_may_be() -> None:
    how = fit_confidence(small(), drawn(60))
    assert how.made["passages"] == 180 and 0 < how.made["right"] < 180
    for pool in drawn(20, 1):
        sure = how.of(small().signals([(pool.question, text) for text in pool.answers]))
        right = np.array(pool.labels) == 1
        if right.any() and not right.all():
            assert sure[right].min() > sure[~right].max()


def test_a_quote_must_be_right_where_answers_are_said() -> None:
    (quote,) = [look.quote for look in small().look("which ship?", ["the ship sailed"])]
    assert quote is not None
    pools = []
    for number, said in enumerate([quote.text, "elsewhere"] * 20):
        extra = {"answers": [{"text": said, "answer_start": 0}]}
        pools.append(Pool(str(number), "which ship?", (Candidate("0", "the ship sailed", 1),), extra))
    assert fit_confidence(small(), pools).made["right"] == 20


def test_the_folder_keeps_it_and_its_card(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toys.small(), tmp_path / "mini"))
    before = json.loads((folder / "ranker.json").read_text())["made"]
    card = (folder / "README.md").read_text()
    found = train_confidence(folder, drawn(30), {"data": ["toys"]})
    again = demur.open(folder)
    assert (
        isinstance(again, Mini)
        and again.confidence_model is not None
        and again.confidence_model.made["data"] == ["toys"]
    )
    assert found.fingerprint == again.fingerprint != small().fingerprint
    assert (folder / "README.md").read_text() == card
    assert json.loads((folder / "ranker.json").read_text())["made"] == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mini"]


def test_nothing_can_be_learnt_where_all_is_right_or_who_asks_is_no_mini() -> None:
    with pytest.raises(UsageError, match="others that are not"):
        fit_confidence(small(), [Pool.of("?", ["ship"], [1])])
    with pytest.raises(UsageError, match="not a mini"):
        train_confidence(Path(toys.exported()), drawn(3))
    with pytest.raises(UsageError, match="not a mini"):
        qualifier("mini", folder=toys.answerer()).confidence(drawn(1), [np.zeros(4)])


def test_a_gate_is_made_by_it_and_refuses_another_model(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toys.small(), tmp_path / "mini"))
    train_confidence(folder, drawn(60))
    mini = demur.open(folder)
    gate = demur.calibrate(mini, drawn(300, 2), 0.3, qualifier=f'mini(folder="{folder}")')
    gate.save(tmp_path / "gate.json")
    loaded = Gate.load(tmp_path / "gate.json")
    new = drawn(40, 5)
    ranking = mini.rank(new[0].question, new[0].answers)
    sure = mini.look(new[0].question, [ranking.candidates[0].text])[0].confidence  # type: ignore[attr-defined]
    assert loaded.judge(ranking).confidence == pytest.approx(sure, abs=1e-4)
    other = qualifier("mini", folder=str(folder), of="another")
    with pytest.raises(UsageError, match="has changed"):
        other.confidence(new, mini.score_pools(new))


def test_questions_stand_among_passages_of_their_article() -> None:
    pools = [
        Pool(
            str(n),
            f"{n}?",
            (Candidate(f"t-{n // 2}", f"passage {n // 2}", int(n % 2)),),
            {"title": "one" if n < 8 else "other", "answers": [{"text": "p", "answer_start": 0}] * (n % 2)},
        )
        for n in range(10)
    ]
    found = among_others(pools, 2)
    assert [len(pool) for pool in found] == [3] * 8 + [1] * 2
    for before, pool in zip(pools, found, strict=True):
        assert pool.candidates[0].text == before.answers[0]
        assert pool.labels == [int(bool(before.extra["answers"])), *[0] * (len(pool) - 1)]
        assert len(set(pool.answers)) == len(pool)
