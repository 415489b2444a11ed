"""Nets that match words: padding, the references' quirks, gradients, and the same graph in ONNX."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import adaptive_max_pool2d, pad

from demur import runtime
from demur.export.match_graph import INPUTS, write_graph
from demur.nets.matching.deep_matching import DeepMatching
from demur.nets.matching.match_net import MatchNet, Worded, along, here, padding, windows
from demur.nets.matching.match_pyramid import MatchPyramid
from demur.nets.matching.multihop import Multihop, attended
from nets.matching import NETS, worded


@pytest.fixture(params=NETS)
def net(request: pytest.FixtureRequest) -> Worded:
    return worded(NETS[request.param])


def numbers(*lengths: int, wide: int = 0) -> Tensor:
    draws = torch.Generator().manual_seed(sum(lengths))
    made = torch.zeros(len(lengths), max(wide, *lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        made[row, :length] = torch.randint(1, 30, (length,), generator=draws)
    return made


QUESTIONS, ANSWERS = numbers(3, 1, 7, 0, 5), numbers(9, 2, 1, 4, 0)


def test_one_finite_score_per_pair(net: Worded) -> None:
    scores = net(QUESTIONS, ANSWERS)
    assert scores.shape == (5,) and torch.isfinite(scores).all()
    assert len(set(scores.tolist())) > 2


def test_appended_padding_leaves_scores_unchanged(net: Worded) -> None:
    before = net(QUESTIONS, ANSWERS)
    for of_question, of_answer in itertools.product((0, 1, 6), repeat=2):
        wider = net(pad(QUESTIONS, (0, of_question)), pad(ANSWERS, (0, of_answer)))
        assert torch.allclose(wider, before, atol=1e-6)
    for row, (q, a) in enumerate(zip(QUESTIONS, ANSWERS, strict=True)):
        alone = net(q[: max(int((q > 0).sum()), 1)][None], a[: max(int((a > 0).sum()), 1)][None])
        assert torch.allclose(alone[0], before[row], atol=1e-6)


def test_every_weight_learns(net: Worded) -> None:
    net.train()
    net.net.aside = []
    loss = net(numbers(6, 5, 7), numbers(9, 8, 13)).square().sum()
    sum(net.net.aside, loss).backward()  # type: ignore[no-untyped-call]
    for name, weight in net.named_parameters():
        assert weight.grad is not None and torch.isfinite(weight.grad).all(), name
        last = "memories" in name and name.startswith("net.memories")
        assert last or weight.grad.abs().sum() > 0, name
    assert net.vectors.grad is not None and (net.vectors.grad[0] == 0).all(), "padding is learnt nothing of"


def test_gradients_are_those_of_small_steps(net: Worded) -> None:
    """In double precision, along a direction in which every weight moves."""
    net.double()
    names, weights = zip(*net.named_parameters(), strict=True)
    draws = torch.Generator().manual_seed(1)
    ways = [torch.randn(each.shape, generator=draws, dtype=torch.float64) for each in weights]
    ways[names.index("vectors")][0] = 0  # the vector of padding stays as it is

    def loss(by: float = 0.0) -> Tensor:
        net.net.aside = []
        moved = {name: w + by * way for name, w, way in zip(names, weights, ways, strict=True)}
        scores = torch.func.functional_call(net, moved, (QUESTIONS, ANSWERS))
        return sum(net.net.aside, scores.sin().sum())

    found = torch.autograd.grad(loss(), weights)
    slope = sum(float((one * way).sum()) for one, way in zip(found, ways, strict=True))
    step = 1e-6
    assert slope == pytest.approx((loss(step) - loss(-step)).item() / (2 * step), rel=1e-4)


def test_built_again_from_its_sizes(net: Worded) -> None:
    again = type(net.net)(**net.net.sizes)
    again.load_state_dict(net.net.state_dict())
    assert torch.equal(
        Worded(again, net.vectors.detach()).eval()(QUESTIONS, ANSWERS), net(QUESTIONS, ANSWERS)
    )


def test_onnx_scores_the_same(net: Worded, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    write_graph(net.net, tmp_path / "model.onnx")
    session = runtime.session(tmp_path / "model.onnx")
    vectors = net.vectors.detach()
    for q, a in ((QUESTIONS, ANSWERS), (numbers(2), numbers(11)), (numbers(6, 9, 3), numbers(5, 5, 12))):
        given = dict(zip(INPUTS, (vectors[q], vectors[a], here(q), here(a)), strict=True))
        [scores] = session.run(None, {name: each.numpy() for name, each in given.items()})
        assert np.allclose(scores, net(q, a).detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("window", [1, 2, 3, 4, 7])
def test_a_convolution_says_of_each_word_what_torch_says_and_warns_of_nothing(window: int) -> None:
    one, torchs = (torch.nn.Conv1d(4, 3, window, padding=each) for each in (padding(window), "same"))
    torchs.load_state_dict(one.state_dict())
    text = torch.randn(2, 4, 9)
    found = along(one, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.allclose(found, torchs(text), atol=1e-6) and found.shape == (2, 3, 9)


@pytest.mark.parametrize("length", [1, 2, 3, 7, 10, 23])
@pytest.mark.parametrize("count", [1, 3, 10])
def test_windows_are_those_of_adaptive_pooling(length: int, count: int) -> None:
    values = torch.rand(1, 1, 1, length)
    there = torch.arange(length + 4)[None] < length
    found = (pad(values[0, 0], (0, 4))[:, None] * windows(there, count)).amax(2)
    assert torch.equal(found, adaptive_max_pool2d(values, (1, count))[0, 0])


def test_words_are_matched_where_they_stand() -> None:
    """MatchPyramid by hand: SAME padding, as TensorFlow has it, then the largest of each window."""
    net = MatchPyramid(2, filters=1, rows=1, columns=2, hidden=1)
    for weight in net.parameters():
        weight.data.fill_(0)
    net.convolution.weight.data[0, 0, 0, 4] = 1  # the place itself
    net.dense.weight.data[0] = torch.tensor([1.0, 10])
    net.output.weight.data.fill_(1)
    question, answer = torch.tensor([[[1.0, 0]]]), torch.tensor([[[2.0, 0], [3, 1], [-5, 0], [4, 0]]])
    there = torch.ones(1, 4, dtype=torch.bool)
    assert net(question, answer, there[:, :1], there).tolist() == [3 + 10 * 4]


@pytest.mark.parametrize("words", [(1, 1), (4, 7), (12, 14), (13, 2), (20, 30)])
def test_a_deep_matching_net_sees_its_whole_grid(
    words: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(3)
    net = DeepMatching(6, rows=12, columns=14, hidden=5).eval()
    texts = [torch.randn(2, length, 6) for length in words]
    there = [torch.ones(2, length, dtype=torch.bool) for length in words]
    texts[1][1, 1:], there[1][1, 1:] = 0, False
    found = net(*texts, *there)
    monkeypatch.setattr(
        torch.onnx, "is_in_onnx_export", lambda: True
    )  # exported, it computes what is padding too
    assert torch.allclose(net(*texts, *there), found, atol=1e-6)


def test_the_memory_of_a_hop_is_what_the_hop_before_saw() -> None:
    """The released code adds the question's mean again (m1 = m0 + o0); `fixed` adds what the hop saw."""
    torch.manual_seed(1)
    net, q = Multihop(6, hidden=3, drop=0).eval(), torch.randn(2, 4, 6)
    there = torch.ones(2, 4, dtype=torch.bool)
    mean, first, second = net.hops(q, there)
    assert torch.allclose(mean, q.mean(1))

    def hop(number: int, memory: Tensor) -> Tensor:
        mixed = net.looks[number](q).tanh() * net.memories[number](memory).tanh()[:, None]
        return attended(q, net.weights[number](mixed)[:, :, 0], there)

    assert torch.allclose(first, hop(0, mean), atol=1e-6)
    assert torch.allclose(second, hop(1, mean + first), atol=1e-6)
    net.length = 4
    assert torch.allclose(net.hops(q, there)[2], hop(1, 2 * mean), atol=1e-6)


def test_the_code_lets_padding_have_attention() -> None:
    torch.manual_seed(1)
    nets = [Multihop(6, hidden=3, drop=0, length=length).eval() for length in (0, 9, 14)]
    for other in nets[1:]:
        other.load_state_dict(nets[0].state_dict())
    texts = [torch.randn(2, 4, 6), torch.randn(2, 5, 6)]
    found = [net(*texts, *(here(text[:, :, 0].abs().long() + 1) for text in texts)) for net in nets]
    assert not torch.allclose(found[0], found[1], atol=1e-4)
    assert not torch.allclose(found[1], found[2], atol=1e-4)


def test_a_margin_and_a_heat_of_its_own() -> None:
    kinds: list[type[MatchNet]] = [MatchPyramid, DeepMatching, Multihop]
    assert [kind.margin for kind in kinds] == [1, 1, 0.1]
    assert Multihop.heat == 0.05, "1 / 20, as sharp as the released IRGAN"
