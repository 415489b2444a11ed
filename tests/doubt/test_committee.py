"""What a committee's disagreement says of its top candidate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau

from demur.doubt.committee import BY, rank_agreement, vote_entropy
from demur.errors import UsageError
from demur.rankers import ranker
from demur.rankers.opening import save
from demur.risk import Gate, calibrate, qualifier
from demur.types import Pool
from training import made


def test_votes_for_first_place_have_an_entropy() -> None:
    assert vote_entropy(np.array([[3.0, 1, 2], [9, 0, 0], [1, 0, 0]])) == 0
    assert vote_entropy(np.array([[3.0, 1, 2], [0, 9, 0], [0, 0, 1]])) == pytest.approx(-1)
    two = vote_entropy(np.array([[1.0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]))
    assert two == pytest.approx(np.log(0.5) / np.log(4))
    assert vote_entropy(np.array([[1.0], [2.0]])) == 0
    assert vote_entropy(np.array([[1.0, 1.0]])) == 0, "one member alone cannot disagree"


def test_pairwise_rank_agreement_is_the_mean_of_kendalls_tau() -> None:
    scores = np.random.default_rng(0).normal(size=(4, 9))
    pairs = [kendalltau(scores[a], scores[b]).statistic for a in range(4) for b in range(a)]
    assert rank_agreement(scores) == pytest.approx(np.mean(pairs))
    assert rank_agreement(np.array([[1.0, 2, 3], [4, 5, 6]])) == 1
    assert rank_agreement(np.array([[1.0, 2, 3], [6, 5, 4]])) == -1
    assert rank_agreement(np.ones((3, 1))) == 1


def test_equal_members_agree_in_every_way(tmp_path: Path) -> None:
    pools = [*made.pools(6), Pool.of("hen eats", ["corn"], id="lone")]
    save(ranker("committee", rankers="random; random"), tmp_path / "one")
    save(ranker("committee", rankers="length; random(seed=1); random", how="rank"), tmp_path / "three")
    alike, mixed = ranker(tmp_path / "one"), ranker(tmp_path / "three")
    highest = {"votes": 1.0, "variance": 0.0, "entropy": 0.0, "ranks": 1.0}
    for by in BY:
        one, other = (
            qualifier("committee", model=str(tmp_path / name), by=by).confidence(
                pools, members.score_pools(pools)
            )
            for name, members in (("one", alike), ("three", mixed))
        )
        assert one[-1] >= other[-1]
        if by in ("variance", "entropy"):
            assert other[:-1].mean() < one[:-1].mean()
        if by == "ranks":
            assert other[-1] == highest[by]


def test_a_gate_asks_the_committee_it_was_made_for(tmp_path: Path) -> None:
    save(ranker("committee", rankers="bm25; length", how="rank"), tmp_path / "model")
    pools = made.pools(3)
    scores = ranker(tmp_path / "model").score_pools(pools)
    made_for = qualifier("committee", model=str(tmp_path / "model"))
    again = qualifier(made_for.spec)
    assert again.confidence(pools, scores).tolist() == made_for.confidence(pools, scores).tolist()
    with pytest.raises(UsageError, match="has changed; calibrate"):
        qualifier(made_for.spec, of="0123").confidence(pools, scores)
    with pytest.raises(UsageError, match="needs the folder"):
        qualifier("committee").confidence(pools, scores)
    save(ranker("committee", rankers="bm25(stats=dataset); length", how="rank"), tmp_path / "other")
    with pytest.raises(UsageError, match=r"needs word statistics first; .* stats=pool"):
        qualifier("committee", model=str(tmp_path / "other")).confidence(pools, scores)
    with pytest.raises(UsageError, match="not a committee"):
        qualifier("committee", model="bm25").confidence(pools, scores)


def test_a_gate_finds_its_committee_where_both_were_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save(ranker("committee", rankers="bm25; length", how="rank"), "model")
    pools = [replace(pool, id=f"{n}") for n, pool in enumerate(made.pools(200, seed=3))]
    gate = calibrate("model", pools, 0.9, qualifier="committee(model=model)", grid=np.array([-1.0]))
    gate.save("model/gate.json")
    before = gate.confidence_of("model", pools)
    (tmp_path / "elsewhere").mkdir()
    Path("model").rename("elsewhere/moved")
    monkeypatch.chdir("elsewhere")
    after = Gate.load("moved").confidence_of("moved", pools)
    assert after.tolist() == before.tolist()
    Path("moved").rename("model")
    monkeypatch.chdir("..")
    assert Gate.load("elsewhere/model").confidence_of("elsewhere/model", pools).tolist() == before.tolist()
    save(ranker("committee", rankers="bm25; overlap", how="rank"), "model")  # another of that name, here
    assert Gate.load("elsewhere/model").confidence_of("elsewhere/model", pools).tolist() == before.tolist()


def test_a_committee_written_anew_is_read_anew(tmp_path: Path) -> None:
    pools = made.pools(3)
    model = str(tmp_path / "model")
    save(ranker("committee", rankers="bm25; length", how="rank"), model)
    first = qualifier("committee", model=model).spec
    save(ranker("committee", rankers="bm25; overlap", how="rank"), model)
    assert qualifier("committee", model=model).spec != first
    with pytest.raises(UsageError, match="has changed; calibrate"):
        qualifier(first).confidence(pools, ranker(model).score_pools(pools))
