"""What holds of each net that SCAN is compared with, and of no other."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn.functional import gelu, pad

from demur.nets.matching import hyperqa
from demur.nets.matching.adaqa import Acnn, Adaptive, AdaQA
from demur.nets.matching.anmm import Anmm
from demur.nets.matching.cnn import Cnn, Judge, Views
from demur.nets.matching.comp_agg import CompAgg, clipped
from demur.nets.matching.drcn import Drcn
from demur.nets.matching.match_net import Worded
from demur.nets.matching.re2 import Block, Re2, residual
from demur.training.objectives.pairwise import Judged


def there(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def weight(layer: torch.nn.Module) -> torch.Tensor:
    """The first weights of a layer, to be set."""
    return next(layer.parameters()).data


def test_anmm_bins_sum_to_the_matches() -> None:
    torch.manual_seed(0)
    alike, real = torch.rand(2, 5, 7) * 2 - 1, there(7, 4)
    alike[0, 0, :3] = torch.tensor([1.0, -1.0, 0.0])
    binned = Anmm(6, bins=4).binned(alike, real)
    assert binned.shape == (2, 5, 5)
    assert torch.allclose(binned.sum(2), (alike * real[:, None]).sum(2), atol=1e-6)
    assert binned[0, 0, 4] == 1, "the same word has a bin of its own"


def test_anmm_puts_each_cosine_into_its_bin_and_adds_it_there() -> None:
    """By hand: four bins, from -1 to -1/2, to 0, to 1/2 and to 1, and the fifth is for the same word."""
    alike = torch.tensor([[[-1.0, -0.6, -0.4, 0.0, 0.3, 0.5, 0.9, 1.0, 1 - 1e-6, 0.8]]])
    words = torch.ones(1, 10, dtype=torch.bool)
    words[0, 9] = False  # not there
    for place, bin_ in enumerate((0, 0, 1, 2, 2, 3, 3, 4, 4)):
        only = torch.zeros_like(words)
        only[0, place] = True
        expected = [0.0] * 5
        expected[bin_] = alike[0, 0, place].item()
        assert Anmm(6, bins=4).binned(alike, only)[0, 0].tolist() == expected, alike[0, 0, place]
    sums = Anmm(6, bins=4).binned(alike, words)[0, 0].tolist()
    assert sums == pytest.approx([-1.6, -0.4, 0.3, 1.4, 2], abs=1e-5)


def test_anmm_by_hand() -> None:
    """Tanh of the weighed bins of each question word, in shares of a softmax over these."""
    net = Anmm(2, bins=2)
    net.weights.data[:, 0] = torch.tensor([-1.0, 0.5, 2])
    net.gate.weight.data[0] = torch.tensor([1.0, 0])
    question = torch.tensor([[[2.0, 0], [0, 1]]])  # one with a gate of 2, one with 0
    answer = torch.tensor([[[3.0, 0], [-1, 0], [1, 1]]])  # cosines of 1, -1, √½; and 0, 0, √½
    share = 1 / (1 + math.exp(-2.0))
    matched = math.tanh(2 + 1 + 0.5**0.5 / 2), math.tanh(0.5**0.5 / 2)
    expected = share * matched[0] + (1 - share) * matched[1]
    assert net(question, answer, there(2), there(3)).item() == pytest.approx(expected, abs=1e-6)


def test_anmm_weighs_a_match_by_its_strength_and_not_by_its_place() -> None:
    torch.manual_seed(0)
    net, question, answer = Anmm(6), torch.randn(1, 4, 6), torch.randn(1, 5, 6)
    turned = net(question, answer.flip(1), there(4), there(5))
    assert torch.allclose(net(question, answer, there(4), there(5)), turned, atol=1e-6)
    other = net(question.flip(1), answer, there(4), there(5))
    assert torch.allclose(other, turned, atol=1e-6), "nor by that of a question's word"


def test_hyperqa_distances_are_never_negative_nor_arcosh_below_its_range() -> None:
    torch.manual_seed(0)
    points = hyperqa.in_ball(torch.randn(40, 5) * torch.logspace(-6, 6, 40)[:, None])
    assert (points.norm(dim=1) <= hyperqa.LARGEST + 1e-6).all()
    q, a = points.repeat(40, 1), points.repeat_interleave(40, 0)
    assert (hyperqa.beyond_one(q, a) >= 0).all(), "the argument is 1 or more"
    far = hyperqa.distance(q, a)
    assert (far >= 0).all() and torch.isfinite(far).all()
    assert torch.allclose(far, hyperqa.distance(a, q))
    assert hyperqa.distance(points, points).max() < 1e-5
    exact = torch.acosh(1 + hyperqa.beyond_one(q.double(), a.double())).float()
    assert torch.allclose(far, exact, rtol=1e-3, atol=1e-5)


def test_hyperqa_is_the_hyperbolic_distance_from_the_middle() -> None:
    point = torch.tensor([[0.6, 0.0]])
    assert hyperqa.distance(point * 0, point).item() == pytest.approx(2 * torch.atanh(torch.tensor(0.6)))


def test_hyperqa_learns_of_texts_that_are_the_same() -> None:
    point = torch.tensor([[0.3, 0.1]], requires_grad=True)
    hyperqa.distance(point, point.detach()).sum().backward()  # type: ignore[no-untyped-call]
    assert point.grad is not None and torch.isfinite(point.grad).all()


def test_comp_agg_keeps_the_best_shares_and_they_sum_to_one() -> None:
    torch.manual_seed(0)
    shares = clipped(torch.randn(2, 3, 7), there(7, 2)[:, None], 4)
    assert torch.allclose(shares.sum(2), torch.ones(2, 3))
    assert ((shares > 0).sum(2) == torch.tensor([[4], [2]])).all(), "of a short text all are kept"
    whole = torch.randn(1, 3, 7)
    assert torch.allclose(clipped(whole, there(7)[:, None], 9), whole.softmax(2))


def test_comp_agg_gates_words_and_may_do_without_clusters() -> None:
    torch.manual_seed(0)
    net, question, answer = CompAgg(6, clusters=0).eval(), torch.randn(1, 4, 6), torch.randn(1, 5, 6)
    assert net(question, answer, there(4), there(5)).shape == (1,)
    [gated] = net.read(question, there(4), answer=False)
    assert (gated.abs() < 1).all()


def test_re2_sees_words_and_the_sum_of_the_last_two_blocks() -> None:
    words = torch.ones(1, 2, 3), torch.ones(1, 4, 3)
    made = [tuple(torch.full((1, n, 2), value) for n in (2, 4)) for value in (1.0, 3.0)]
    assert residual(words, []) is words
    q, a = residual(words, made[:1])  # type: ignore[arg-type]
    assert q[0, 0].tolist() == [1, 1, 1, 1, 1] and a.shape == (1, 4, 5)
    q, _ = residual(words, made)  # type: ignore[arg-type]
    assert q[0, 0].tolist() == pytest.approx([1, 1, 1, 4 / 2**0.5, 4 / 2**0.5])


def test_re2_compares_a_word_with_what_it_is_aligned_with_in_three_ways() -> None:
    """By hand: the word beside what it is aligned with, beside the difference, and beside the product."""
    block = Block(2, hidden=1, layers=1, drop=0.0)
    x, aligned = torch.tensor([[[2.0, 3, 1]]]), torch.tensor([[[5.0, 1, 4]]])
    for number, view in enumerate(([5.0, 1, 4], [-3.0, 2, -3], [10.0, 3, 4])):
        for place in range(3):
            for each in block.parameters():
                each.data.fill_(0)
            block.fusion.weight.data[0, number] = 1.0  # sees this view alone
            weight(block.fusions[number])[0, 3 + place] = 1.0
            expected = gelu(gelu(torch.tensor(view)[place]))
            assert block.fused(x, aligned, there(1)).item() == pytest.approx(expected.item(), abs=1e-6)
            weight(block.fusions[number])[0, place] = 1.0  # and the word itself
            expected = gelu(gelu(torch.tensor(view)[place] + x[0, 0, place]))
            assert block.fused(x, aligned, there(1)).item() == pytest.approx(expected.item(), abs=1e-6)


def test_re2_aligns_a_word_with_the_mean_of_words_that_are_like_it() -> None:
    """By hand: with one number that says how words are alike, and shares by a softmax over the other text."""
    block = Block(1, hidden=1, layers=1, drop=0.0)
    for each in block.parameters():
        each.data.fill_(0)
    block.project.weight.data[0, 0] = block.heat.data[()] = 1.0
    weight(block.fusions[0])[0, 2] = block.fusion.weight.data[0, 0] = 1.0  # what it is aligned with
    texts = torch.tensor([[[1.0], [3.0]]]), torch.tensor([[[2.0], [4.0], [9.0]]])
    real = there(2), torch.tensor([[True, True, False]])
    made = block((texts[0], texts[1] * real[1][:, :, None]), real)
    q, a = texts[0][0, :, 0], texts[1][0, :2, 0]
    alike = gelu(q)[:, None] * gelu(a)
    assert torch.allclose(made[0][0, :, 0], gelu(gelu(alike.softmax(1) @ a)), atol=1e-6)
    assert torch.allclose(made[1][0, :2, 0], gelu(gelu(alike.softmax(0).T @ q)), atol=1e-6)
    assert made[1][0, 2, 0] == 0, "what is padding stays zeros"


def test_re2_leaves_pads_alone_in_every_block() -> None:
    torch.manual_seed(0)
    net, texts = Re2(6, hidden=5, blocks=3).eval(), (torch.randn(2, 4, 6), torch.randn(2, 5, 6))
    real = there(4, 2), there(3, 5)
    texts = tuple(text * mask[:, :, None] for text, mask in zip(texts, real, strict=True))  # type: ignore[assignment]
    wider = [pad(text, (0, 0, 0, 3)) for text in texts]
    masks = [pad(mask, (0, 3)) for mask in real]
    for made, more in zip(net.blocks[0](texts, real), net.blocks[0](wider, masks), strict=True):
        assert torch.allclose(pad(made, (0, 0, 0, 3)), more, atol=1e-6)


def test_cnn_finds_texts_like_themselves_and_either_way_round() -> None:
    torch.manual_seed(0)
    net, q, a = Cnn(6, filters=5), torch.randn(2, 4, 6), torch.randn(2, 5, 6)
    real = there(4, 2), there(5, 3)
    assert torch.allclose(net(q, q, real[0], real[0]), torch.ones(2))
    assert torch.allclose(net(q, a, *real), net(a, q, *real[::-1]))


def test_a_judge_and_who_is_judged_learn_from_opposite_losses() -> None:
    torch.manual_seed(0)
    vectors = torch.randn(9, 6)
    net, views, judge = Worded(Cnn(6, 5), vectors), Worded(Views(6, 5), vectors), Judge(5, 3)
    texts = torch.randint(1, 9, (4, 3)), torch.randint(1, 9, (4, 5))
    Judged(views, judge).of(net, lambda one: one(*texts)).backward()  # type: ignore[no-untyped-call]
    weights = [w for part in (net, views, judge) for w in part.parameters() if w.requires_grad]
    assert all(w.grad is not None and w.grad.abs().sum() > 0 for w in weights)
    ours = [w.grad.clone() for w in net.parameters() if w.grad is not None]
    for w in weights:
        w.grad = None
    scores = (1 + net(*texts)) / 2
    good, bad = scores.chunk(2)
    right, wrong = (each.detach() for each in views(*texts).chunk(2))
    torch.nn.functional.softplus(-judge(right, wrong, good, bad)).mean().backward()  # type: ignore[no-untyped-call]
    alone = [w.grad for w in net.parameters() if w.grad is not None]
    assert all(torch.allclose(one, other) for one, other in zip(ours, alone, strict=True))


def test_drcn_layers_see_all_that_was_made_before_and_coders_make_it_fewer() -> None:
    net = Drcn(6, hidden=3, layers=5, small=7)
    assert [layer.right.input_size for layer in net.layers] == [7, 19, 7, 19, 7]  # type: ignore[union-attr]
    assert len(net.coders) == 2 and net.dense.in_features == 5 * 19


def test_drcn_marks_the_words_that_stand_in_both_texts() -> None:
    torch.manual_seed(0)
    net = Drcn(6, hidden=3, layers=1).eval()
    seen: list[tuple[torch.Tensor, ...]] = []
    net.layers[0].register_forward_pre_hook(lambda _, given: seen.append(given))
    words = torch.randn(7, 6)
    question, answer = words[[0, 1, 2]][None], words[[3, 2, 4, 2, 5]][None].clone()
    answer[0, 4] = words[1]
    answer[0, 0] = 2 * words[0]  # longer, but the same way
    answer[0, 2] = words[0] + 0.02 * words[4]  # nearly the same way
    net(question, answer, there(3), there(5))
    (q, _), (a, _) = seen
    assert q[0, :, :6].equal(question[0]) and a[0, :, :6].equal(answer[0])
    assert q[0, :, 6].tolist() == [1, 1, 1] and a[0, :, 6].tolist() == [1, 1, 0, 1, 1]
    seen.clear()
    net(question, pad(words[[3, 4]][None], (0, 0, 0, 2)), there(3), there(2, 4)[:1])
    assert seen[0][0][0, :, 6].tolist() == [0, 0, 0] and seen[1][0][0, :, 6].tolist() == [0, 0, 0, 0]


def test_drcn_says_what_its_coders_lose_only_where_it_is_asked() -> None:
    torch.manual_seed(0)
    net, q, a = Drcn(6, hidden=3, layers=2, small=7, weight=2), torch.randn(1, 3, 6), torch.randn(1, 4, 6)
    net(q, a, there(3), there(4))
    assert net.aside is None
    net.aside = []
    net(q, a, there(3), there(4))
    assert len(net.aside) == 2 and all(lost > 0 for lost in net.aside), "of both texts"


def test_acnn_makes_filters_from_the_text_itself_and_adaqa_from_the_other() -> None:
    torch.manual_seed(0)
    answer, questions = torch.randn(1, 5, 6), torch.randn(2, 4, 6)
    net = Acnn(6, filters=4, code=3, drop=0.0)
    [alone] = net.read(answer, there(5), answer=True)
    assert alone.shape == (1, 1, 4) and net.apart
    other = AdaQA(6, filters=4, code=3, drop=0.0)
    made = other.made(questions, there(4, 4))
    assert made.shape == (2, 18, 4)
    seen = other.seen(answer.expand(2, 5, 6), there(5, 5), made)
    assert not torch.allclose(seen[0], seen[1]), "the same answer is another one to each question"
    own = net.made(answer, there(5))
    assert torch.allclose(net.seen(answer, there(5), own), alone[:, 0])


@pytest.mark.parametrize("kind", [Acnn, AdaQA])
@pytest.mark.parametrize("wide", [50, 300])
def test_filters_come_from_the_text(kind: type[Adaptive], wide: int) -> None:
    """Between texts of words of length 4 that all lean one way, most of the filters differ, as they begin."""
    torch.manual_seed(0)
    net, draws = kind(wide), torch.Generator().manual_seed(1)
    words = torch.randn(200, wide, generator=draws) + torch.randn(wide, generator=draws) / 4
    words *= 4 / words.norm(dim=1, keepdim=True)
    texts, real = words[torch.randint(200, (40, 20), generator=draws)], there(*range(1, 21), *[20] * 20)
    made = net.made(texts, real)  # 40 × w·e × f
    varying = (made - made.mean(0)).square().sum() / made.square().sum()
    assert varying > 0.5 and "bias" not in dict(net.maker.named_parameters())
    windows = torch.cat([pad(texts, (0, 0, 1, 1))[:, at : at + 20] for at in range(3)], 2)
    before = (windows @ made.roll(1, 0))[real]  # of another text
    assert 0.5 < before.std() < 1.2, "of order 1"
    assert net.seen(texts, real, made.roll(1, 0)).mean() < 0.9, "not at the end of tanh"
