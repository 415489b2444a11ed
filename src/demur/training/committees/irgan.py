"""The arithmetic of IRGAN (Wang et al. 2017), pairwise, after Gupta and Carvalho (2019).

A generator shows wrong answers of a pool to a discriminator, which learns to put the right one above them by
a margin; the generator is rewarded by how far it falls short. B questions, P answers in a pool, K of them
shown.
"""

from __future__ import annotations

import torch
from torch import Tensor


def reward(right: Tensor, shown: Tensor, margin: float, signed: bool) -> Tensor:
    """What the generator gets for each answer shown, B × K: from how it stands to the right one, B × 1.

    It is 2 σ(x) - 1 of what is missing to the margin, which is 0 at least unless rewards are signed.
    """
    missing = margin - (right - shown)
    return 2 * torch.sigmoid(missing if signed else missing.clamp(min=0)) - 1


def chances(scores: Tensor, there: Tensor, heat: float) -> Tensor:
    """The logarithm of the chance of each answer of a pool: B × P, -inf where there is none."""
    return (scores / heat).masked_fill(~there, -torch.inf).log_softmax(1)


def drawn(log_chances: Tensor, count: int, again: bool) -> tuple[Tensor, Tensor]:
    """The places of answers that are drawn by their chances, B × K; and which of them there are.

    Without `again` none is drawn twice, so that a small pool has fewer than `count`.
    """
    if again:
        places = torch.multinomial(log_chances.exp(), count, replacement=True)
        return places, torch.ones_like(places, dtype=torch.bool)
    noise = -torch.empty_like(log_chances).exponential_().log()  # Gumbel's: the largest are a sample
    return highest(log_chances.detach() + noise, count)


def highest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The places of the highest scores, B × K; and which of them there are, where others are -inf."""
    found = scores.topk(min(count, scores.shape[1]), dim=1)
    return found.indices, found.values > -torch.inf


def deserved(rewards: Tensor, shown: Tensor, baseline: bool) -> Tensor:
    """What the log-probability of each answer shown is weighed by: B × K.

    The baseline of an answer is the mean reward of the others shown. That is the reward less the mean of
    all, times K / (K - 1): with the answer's own reward in the mean, the gradient would be too short by that.
    So the weights of a question are 0 in sum, and what its pool's probabilities share has no say.
    """
    rewards = rewards * shown
    count = shown.sum(1, keepdim=True)
    if baseline:
        others = (rewards.sum(1, keepdim=True) - rewards) / (count - 1).clamp(min=1)
        rewards = (rewards - others) * (count > 1)
    return (rewards / count.clamp(min=1) / len(shown)).detach()


def reinforce(log_chance: Tensor, rewards: Tensor, shown: Tensor, baseline: bool) -> Tensor:
    """The generator's loss, from B × K: its gradient is that of minus the expected reward, on average."""
    return -(torch.where(shown, log_chance, 0.0) * deserved(rewards, shown, baseline)).sum()


def hinge(right: Tensor, shown: Tensor, there: Tensor, margin: float, summed: bool) -> Tensor:
    """The discriminator's loss: what is missing to the margin, from B × 1 and B × K."""
    missing = (margin - right + shown).clamp(min=0) * there
    return missing.sum() if summed else missing.sum() / there.sum().clamp(min=1)
