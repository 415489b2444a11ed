"""What holds of each net that SCAN is compared with, and of no other."""

from __future__ import annotations

import torch

from demur.nets.matching.anmm import Anmm


def there(*lengths: int) -> torch.Tensor:
    return torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


def test_anmm_bins_sum_to_the_matches() -> None:
    torch.manual_seed(0)
    alike, real = torch.rand(2, 5, 7) * 2 - 1, there(7, 4)
    alike[0, 0, :3] = torch.tensor([1.0, -1.0, 0.0])
    binned = Anmm(6, bins=4).binned(alike, real)
    assert binned.shape == (2, 5, 5)
    assert torch.allclose(binned.sum(2), (alike * real[:, None]).sum(2), atol=1e-6)
    assert binned[0, 0, 4] == 1, "the same word has a bin of its own"


def test_anmm_weighs_a_match_by_its_strength_and_not_by_its_place() -> None:
    torch.manual_seed(0)
    net, question, answer = Anmm(6), torch.randn(1, 4, 6), torch.randn(1, 5, 6)
    turned = net(question, answer.flip(1), there(4), there(5))
    assert torch.allclose(net(question, answer, there(4), there(5)), turned, atol=1e-6)
    other = net(question.flip(1), answer, there(4), there(5))
    assert torch.allclose(other, turned, atol=1e-6), "nor by that of a question's word"
