from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demur
from demur.embedders import embedder
from demur.errors import UsageError
from demur.rankers import Ranker, opening
from demur.rankers.ensembles.base import standardised
from demur.rankers.ensembles.fusion import Fusion
from demur.rankers.vectors.net_weights import NetWeights
from demur.rankers.vectors.network import Siamese
from demur.types import FloatArray, Pool
from laws import toys


@dataclass(frozen=True)
class Given(Ranker):
    """The number that an answer begins with, times a scale: what a test wants to be scored."""

    name: ClassVar[str] = "given"
    place: int = 0
    scale: float = 1.0

    def score(self, question: str, answers: Sequence[str]) -> FloatArray:
        return np.array([self.scale * float(answer.split()[self.place]) for answer in answers])


def fused(how: str, rows: Sequence[Sequence[float]], **settings: object) -> list[float]:
    """The fusion of rankers that give each answer the numbers of its row."""
    members = [Given(place) for place in range(len(rows[0]))]
    answers = [" ".join(map(str, row)) for row in rows]
    found = Fusion.of(members, how, **settings)  # type: ignore[arg-type]
    return [float(score) for score in found.score("q", answers)]


def test_zscores_are_averaged() -> None:
    # 1, 2, 3 has a deviation of sqrt(2/3); 0, 0, 3 has a mean of 1 and a deviation of sqrt(2)
    first, second = np.array([-1, 0, 1]) / np.sqrt(2 / 3), np.array([-1, -1, 2]) / np.sqrt(2)
    expected = (first + second) / 2
    assert np.allclose(fused("zscore", [(1, 0), (2, 0), (3, 3)]), expected, atol=1e-6)
    weighed = fused("zscore", [(1, 0), (2, 0), (3, 3)], weights="1, 3")
    assert np.allclose(weighed, (first + 3 * second) / 4, atol=1e-6)
    against = fused("zscore", [(1, 0), (2, 0), (3, 3)], weights="1; -1")
    assert np.allclose(against, (first - second) / 2, atol=1e-6)


def test_reciprocal_ranks_are_shared_by_equals() -> None:
    # ranks 1, 2, 3 and, of 5, 5, 0, the first two share ranks 1 and 2
    shared = (1 / 11 + 1 / 12) / 2
    expected = [(1 / 13 + shared) / 2, (1 / 12 + shared) / 2, (1 / 11 + 1 / 13) / 2]
    assert fused("rrf", [(1, 5), (2, 5), (3, 0)], k=10) == pytest.approx(expected, abs=1e-15)


def test_ranks_are_the_share_of_others_that_are_beaten() -> None:
    assert fused("rank", [(1,), (5,), (5,), (9,)]) == pytest.approx([0, 0.5, 0.5, 1], abs=1e-15)


@pytest.mark.parametrize("how", ["zscore", "rrf", "rank"])
def test_nothing_to_compare_is_defined(how: str) -> None:
    members = [Given(), Given()]
    assert Fusion.of(members, how).score("q", []).tolist() == []
    alone = Fusion.of(members, how).score("q", ["7"]).tolist()
    equal = Fusion.of(members, how).score("q", ["7", "7", "7"]).tolist()
    assert np.isfinite(alone).all() and len(set(equal)) == 1
    if how == "zscore":
        assert alone == [0] and equal == [0, 0, 0]


rows = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=1, max_size=8)


@settings(deadline=None)
@given(rows=rows, how=st.sampled_from(["zscore", "rrf", "rank"]), seed=st.integers(0, 99))
def test_no_order_matters_and_equals_stay_equal(rows: list[tuple[int, int]], how: str, seed: int) -> None:
    scores = fused(how, rows)
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    assert fused(how, [rows[place] for place in order]) == [scores[place] for place in order]
    for one, a in zip(rows, scores, strict=True):
        assert all(a == b for other, b in zip(rows, scores, strict=True) if other == one)


@settings(deadline=None)
@given(rows=rows, scale=st.sampled_from([1e-3, 0.5, 40.0]))
def test_a_scale_of_one_ranker_changes_no_zscore(rows: list[tuple[int, int]], scale: float) -> None:
    answers = [" ".join(map(str, row)) for row in rows]
    plain = Fusion.of([Given(0), Given(1)]).score("q", answers)
    scaled = Fusion.of([Given(0, scale), Given(1)]).score("q", answers)
    assert np.allclose(plain, scaled, atol=1e-6)


def test_rounding_is_not_blown_up() -> None:
    noise = np.array([0.5, 0.5 + 1e-8, 0.5 - 1e-8])
    assert np.abs(standardised(noise)).max() > 1
    assert np.abs(standardised(noise, 1e-3)).max() < 1e-4
    assert np.allclose(standardised(1e8 * noise, 1e-3), standardised(1e8 * noise), atol=1e-5)


@pytest.mark.extras
def test_bare_it_is_words_and_meaning() -> None:
    bare = demur.ranker("fusion")
    assert 'rankers="bm25(stem=english); encoder"' in bare.spec and 'weights="1, 4"' in bare.spec
    assert demur.ranker("fusion(weights='1, 1')").fingerprint != bare.fingerprint
    assert bare.tolerance == 1e-5 and demur.ranker("fusion(rankers=bm25)").tolerance == 1e-9


def test_a_ranker_alone_ranks_as_it_does() -> None:
    answers = ["ape", "ape bee", "cat", "ape bee cat"]
    alone, plain = (demur.ranker(spec).rank("ape bee", answers) for spec in ("fusion(rankers=bm25)", "bm25"))
    assert alone.candidates == plain.candidates


def test_rankers_that_need_statistics_get_them() -> None:
    pools = [Pool.of("ape", ["ape bee", "cat"], id="a"), Pool.of("cat", ["ape", "cat dog"], id="b")]
    ranker = demur.ranker("fusion(rankers='bm25(stats=dataset); length')")
    assert ranker.needs_preparing
    prepared = ranker.prepare(iter(pools))
    assert not prepared.needs_preparing and ranker.needs_preparing
    assert prepared.fingerprint != ranker.fingerprint
    expected = Fusion.of([demur.ranker("bm25(stats=dataset)").prepare(pools), demur.ranker("length")])
    for one, other in zip(prepared.score_pools(pools), expected.score_pools(pools), strict=True):
        assert one.tolist() == other.tolist()
    with pytest.raises(UsageError, match="was prepared for some texts"):
        opening.save(prepared, "never")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("fusion(how=sum)", "unknown way to combine 'sum'"),
        ("fusion(k=-1)", "k=-1 of fusion must be 0 or more"),
        ("fusion(rankers='; ')", "fusion needs rankers"),
        ("fusion(rankers='bm25; bm26')", "unknown ranker 'bm26'"),
        ("fusion(rankers='bm25; length', weights='1')", "2 rankers but 1 weights"),
        ("fusion(rankers='bm25; length', weights='1, x')", "must be numbers"),
        ("fusion(rankers='bm25; length', weights='0, 0')", "must not all be 0"),
        ("fusion(rankers='bm25; length', weights='1, inf')", "must be finite numbers"),
    ],
)
def test_wrong_settings_are_one_line(spec: str, message: str) -> None:
    with pytest.raises(demur.DemurError, match=message):
        demur.ranker(spec)


def siamese() -> Siamese:
    """A net that learnt nothing in particular, over the toy words."""
    weights = {"hidden.weight": np.eye(8, dtype=np.float32), "hidden.bias": np.zeros(8, np.float32)}
    features = f'words(vectors="{toys.vectors()}")'
    return Siamese.of(NetWeights(features, weights, embedder(features)))


def test_what_its_rankers_learnt_is_saved_within_its_folder(tmp_path: Path) -> None:
    question, answers = "which ship sailed?", ["the ship sailed", "round the cape in may", "nothing"]
    made = Fusion.of([demur.ranker("bm25"), siamese()], weights="1, 2")
    opening.save(made, tmp_path / "one", {"by": "a test"})
    (tmp_path / "one").rename(tmp_path / "moved")
    opened = opening.open_model(tmp_path / "moved")
    assert opened.score(question, answers).tolist() == made.score(question, answers).tolist()
    assert opened.fingerprint == made.fingerprint
    again = opening.ranker(opened.spec)
    assert again.spec == opened.spec and again.fingerprint == made.fingerprint
    travelled = pickle.loads(pickle.dumps(made))
    assert travelled.score(question, answers).tolist() == made.score(question, answers).tolist()
    nested = opening.ranker(f"fusion(rankers='length; {tmp_path / 'moved'}')")
    opening.save(nested, tmp_path / "two")
    fingerprint = nested.fingerprint
    (tmp_path / "moved").rename(tmp_path / "away")
    assert opening.open_model(tmp_path / "two").fingerprint == fingerprint
