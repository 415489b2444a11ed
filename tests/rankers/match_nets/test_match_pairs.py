"""Pairs of texts for nets that match words: each text is read once, and that changes no score or gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from demur.nets.matching.deep_matching import DeepMatching
from demur.nets.matching.match_net import Worded
from demur.nets.matching.multihop import Multihop
from demur.rankers.match_nets import match_pairs
from demur.rankers.match_nets.match_nets import scored
from demur.rankers.match_nets.match_pairs import scores, stretches
from demur.rankers.match_nets.word_numbers import Read
from nets.matching import NETS, worded

LENGTHS = [3, 0, 7, 1, 5, 9, 4]
FIRST = np.cumsum([0, *LENGTHS])
READ = Read(1 + np.random.default_rng(0).integers(0, 29, FIRST[-1]), FIRST)
QUESTIONS, ANSWERS = np.array([0, 0, 1, 2, 2, 2]), np.array([3, 4, 3, 5, 6, 1])
BATCHES = [np.array([5, 0, 2]), np.array([4, 1, 3])]
WORDS = (6, 8)
ALL = dict(NETS)
ALL["deep-matching, a small grid"] = lambda: DeepMatching(6, rows=5, columns=6, hidden=5)


@pytest.fixture(params=ALL)
def network(request: pytest.FixtureRequest) -> Worded:
    return worded(ALL[request.param])


def plain(network: Worded) -> Tensor:
    """The same scores, each of a pair alone."""
    found = []
    for q, a in zip(QUESTIONS, ANSWERS, strict=True):
        texts = READ.filled(np.array([q]), WORDS[0]), READ.filled(np.array([a]), WORDS[1])
        found.append(network(*map(torch.from_numpy, texts)))
    return torch.cat(found)


def test_scores_and_gradients_are_those_of_each_pair_alone(network: Worded) -> None:
    gradients = []
    for found in (scores(network, READ, QUESTIONS, ANSWERS, WORDS, BATCHES), plain(network)):
        network.zero_grad()
        found.square().sum().backward()  # type: ignore[no-untyped-call]
        gradients.append([weight.grad for weight in network.parameters() if weight.grad is not None])
    assert torch.allclose(
        scores(network, READ, QUESTIONS, ANSWERS, WORDS, BATCHES), plain(network), atol=1e-6
    )
    for ours, theirs in zip(*gradients, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("name", ["deep-matching", "multihop"])
def test_each_text_is_read_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = worded(NETS[name])
    seen: list[tuple[bool, int]] = []
    read = network.net.read

    def counted(text: Tensor, there: Tensor, answer: bool) -> tuple[Tensor, ...]:
        seen.append((answer, len(text)))
        return read(text, there, answer)

    monkeypatch.setattr(network.net, "read", counted)
    scores(network, READ, QUESTIONS, ANSWERS, WORDS, BATCHES)
    assert sum(count for answer, count in seen if not answer) == len(set(QUESTIONS.tolist()))
    assert sum(count for answer, count in seen if answer) == len(set(ANSWERS.tolist()))


def test_words_that_are_dropped_are_dropped_anew_in_each_pair() -> None:
    """In training a text is another one each time, so it is read for each of its pairs."""
    torch.manual_seed(0)
    network = Worded(Multihop(6, hidden=5, drop=0.5), torch.randn(30, 6)).train()
    pair = np.array([2, 2, 2, 2]), np.array([5, 5, 5, 5])
    assert not network.net.apart
    assert len(set(scores(network, READ, *pair, WORDS, [np.arange(4)]).tolist())) > 1
    assert Worded(Multihop(6, drop=0.0), torch.randn(30, 6)).train().net.apart


def test_texts_that_are_held_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_pairs, "_HELD", 14)
    found = list(stretches(READ, QUESTIONS, ANSWERS, WORDS))
    assert np.concatenate(found).tolist() == list(range(len(QUESTIONS)))
    assert len(found) > 1
    for some in found:
        held = sum(min(LENGTHS[text], WORDS[0]) for text in set(QUESTIONS[some].tolist()))
        held += sum(min(LENGTHS[text], WORDS[1]) for text in set(ANSWERS[some].tolist()))
        assert held <= 14 or len(some) == 1


def test_stretches_change_no_score(network: Worded, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scored([network, network], READ, QUESTIONS, ANSWERS, *WORDS)
    monkeypatch.setattr(match_pairs, "_HELD", 14)
    parted = scored([network, network], READ, QUESTIONS, ANSWERS, *WORDS)
    assert np.allclose(whole, plain(network).detach().numpy(), atol=1e-6)
    assert np.allclose(parted, whole, atol=1e-6) and len(set(whole[0].tolist())) > 3


def test_of_no_pairs_there_is_one_stretch_of_none() -> None:
    [nothing] = stretches(READ, np.zeros(0, int), np.zeros(0, int), WORDS)
    assert len(nothing) == 0
