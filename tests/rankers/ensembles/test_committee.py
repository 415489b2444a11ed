"""Committees: equal members are one, weights come from dev, texts are read once, folders hold them all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import demur
from demur.embedders.word_vectors.tables import table
from demur.errors import UsageError
from demur.evaluation import evaluate
from demur.nets.matching.match_net import Worded
from demur.rankers.ensembles.committee import Committee
from demur.rankers.match_nets import match_nets, word_numbers
from demur.rankers.match_nets.match_nets import Match, Trained
from demur.rankers.match_nets.word_numbers import Lexicon
from demur.rankers.opening import save
from demur.training.committees.members import Members, averaged, sampled
from demur.types import Pool
from laws import toys
from training import made

POOLS = [*made.pools(10), Pool("none", "no candidates?", ())]
WORDS = Lexicon.of(table(toys.vectors()), [], buckets=50)


def net(seed: int, kind: type[Match] = match_nets.MatchPyramid) -> Match:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = Worded(kind.net(wide=8), torch.from_numpy(WORDS.matrix))
    return kind.of(Trained(network, WORDS))


def lists(ranker: demur.rankers.Ranker) -> list[list[float]]:
    return [scores.tolist() for scores in ranker.score_pools(POOLS)]


@pytest.mark.parametrize("how", ["mean", "zscore", "rank"])
@pytest.mark.parametrize("weights", ["dev", "uniform", "0.3, 0.1, 0.1"])
def test_identical_members_reproduce_the_member_exactly(how: str, weights: str) -> None:
    one = net(0)
    three = Committee.of([one, one, one], how, weights, dev=[0.61, 0.62, 0.59])
    assert lists(three) == lists(Committee.of([one], how))
    if how == "mean":
        assert lists(three) == lists(one)
    assert lists(averaged(three)) == lists(one)


def test_the_paper_equation_6() -> None:
    members = [net(seed) for seed in range(3)]
    committee = Committee.of(members, dev=[0.5, 0.25, 0.25])
    for found, *each in zip(*(m.score_pools(POOLS) for m in (committee, *members)), strict=True):
        assert np.allclose(found, 0.5 * each[0] + 0.25 * each[1] + 0.25 * each[2])
    assert Committee.of(members, dev=[0, 0, 0]).shares().tolist() == [1 / 3] * 3
    assert Committee.of(members, weights="uniform", dev=[0.5, 0.2, 0.2]).shares().tolist() == [1 / 3] * 3


def test_ranks_and_zscores_forget_the_scale() -> None:
    scores = [np.array([1.0, 3, 2, 2]), np.array([900.0, 1000, -50, 7])]
    committee = Committee.of([net(0), net(1)], "rank", "uniform")
    [found] = committee.united([[each] for each in scores])
    assert np.allclose(found, [(0 + 2 / 3) / 2, (1 + 1) / 2, (1 / 2 + 0) / 2, (1 / 2 + 1 / 3) / 2])
    [mixed] = Committee.of([net(0), net(1)], "zscore").united([[each] for each in scores])
    [scaled] = Committee.of([net(0), net(1)], "zscore").united([[scores[0] * 7], [scores[1] - 4]])
    assert np.allclose(mixed, scaled, atol=1e-4)


def test_members_of_one_shape_read_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    members = [net(0), net(1), net(2, match_nets.Multihop), net(3)]
    alone = [member.score_pools(POOLS) for member in members]
    reads: list[int] = []
    before = Lexicon.read

    def read(self: Lexicon, texts: Any) -> Any:
        reads.append(1)
        return before(self, texts)

    monkeypatch.setattr(Lexicon, "read", read)
    votes = Committee.of(members).votes(POOLS)
    assert len(reads) == 2, "once for the three pyramids, once for the other"
    for one, other in zip(votes, alone, strict=True):
        assert [a.tolist() for a in one] == [a.tolist() for a in other]


def test_a_folder_like_any_other_that_reads_members_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    committee = Committee.of([net(0), net(1)], dev=[0.6, 0.4], epochs=[0, 3])
    save(committee, tmp_path / "old", {"by": "test"})
    (tmp_path / "old").rename(tmp_path / "model")
    opened: list[Any] = []
    before = Match._read

    def reading(self: Match, folder: Any) -> Any:
        opened.append(folder)
        return before(self, folder)

    monkeypatch.setattr(Match, "_read", reading)
    again = demur.open(tmp_path / "model")
    assert isinstance(again, Committee) and again.taken == [0, 3] and again.figures == [0.6, 0.4]
    assert not opened and not again._held
    assert lists(again) == lists(committee) and len(opened) == 2
    assert again.fingerprint == committee.fingerprint
    files = [tmp_path / "model" / f"member-{n}" / word_numbers.VECTORS for n in (1, 2)]
    assert files[0].samefile(files[1]), "vectors lie there once"
    one, two = again.members
    assert isinstance(one, Match) and isinstance(two, Match) and one.trained.words is two.trained.words


def test_any_rankers_may_be_members(tmp_path: Path) -> None:
    mixed = demur.ranker("committee", rankers="bm25; overlap; length", how="rank")
    assert len(lists(mixed)) == len(POOLS)
    assert demur.ranker(mixed.spec).fingerprint == mixed.fingerprint
    save(Committee.of([demur.ranker("bm25"), net(0)], "zscore"), tmp_path / "model")
    assert isinstance(demur.open(tmp_path / "model"), Committee)


def test_epochs_are_sampled_with_the_first_and_the_last() -> None:
    assert sampled(9, 3) == {0, 3, 6, 9}
    assert sampled(10, 3) == {0, 3, 6, 9, 10}
    assert sampled(0, 3) == {0}


def test_what_may_be_taken_of_a_committee() -> None:
    members = [net(seed) for seed in range(6)]
    every = Committee.of(members, dev=[0.1, 0.2, 0.5, 0.4, 0.3, 0.2], epochs=[0, 1, 2, 3, 4, 5])
    dev = POOLS[:-1]
    assert Members(take="best").train((), start=every) is members[2]
    assert Members(take="last").train((), dev, start=every) is members[5]
    taken = Members().train((), start=every)
    assert isinstance(taken, Committee) and taken.taken == [0, 3, 5] and taken.figures == [0.1, 0.4, 0.2]
    assert isinstance(Members(take="average").train((), dev, start=every), match_nets.MatchPyramid)
    greedy = Members(take="greedy").train((), dev, start=every)
    best = max(evaluate(member, dev, "MAP").measures["MAP"].mean for member in members)
    assert evaluate(greedy, dev, "MAP").measures["MAP"].mean >= best - 1e-9
    with pytest.raises(UsageError, match="start from what"):
        Members().train((), dev, start=members[0])


def test_mistakes_are_one_clear_line() -> None:
    with pytest.raises(UsageError, match="needs members"):
        demur.ranker("committee")
    with pytest.raises(UsageError, match="3 members but 2 weights"):
        demur.ranker("committee", rankers="bm25; overlap; length", weights="1, 2")
    with pytest.raises(UsageError, match="must be numbers"):
        demur.ranker("committee", rankers="bm25; overlap", weights="a, b")
    with pytest.raises(UsageError, match="must be numbers"):
        demur.ranker("committee", rankers="bm25; overlap", weights="uniform", dev="good")
    for epochs in ("last", "1.5", "nan", "-1"):
        with pytest.raises(UsageError, match="epochs="):
            demur.ranker("committee", rankers="bm25; overlap", epochs=epochs)
    three = {"rankers": "bm25; overlap; length", "weights": "uniform"}
    for take in ("last", "best", "greedy", "committee"):
        for said, what in (({"epochs": "0, 1, 2, 3"}, "4 epochs"), ({"dev": "0.1, 0.2"}, "2 figures on dev")):
            of = demur.ranker("committee", **{**three, **said, "dev": said.get("dev", "0.1, 0.2, 0.3")})
            with pytest.raises(UsageError, match=f"3 members but {what}"):
                Members(take=take).train((), POOLS[:-1], start=of)
    with pytest.raises(UsageError, match="one shape"):
        averaged(Committee.of([net(0), net(1, match_nets.Multihop)]))
