"""Weights of samples under which features depend less on each other (Zhong et al. 2022, section 3.2).

Dependence is measured by random Fourier features: r functions of each feature, and the squared covariances
of all functions of one feature with all of another. With n samples, d features and all r functions in Z that
is the squared norm of a d·r × d·r matrix less its blocks of a feature with itself. As n is far below d·r, the
norm is taken from the n × n Gram matrix of Z, which does not depend on the weights and so is made once.

Weights of a few hundred pairs can make a few features independent, but not the 384 of a small encoder: see
docs/decorrelation.md for what was measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Choices:
    """What the paper leaves open, or gets wrong, and what is done about it."""

    pooled: bool = False  # the features: the first token's last state, or the encoder's tanh over it
    standard: bool = True  # features have mean 0 and spread 1, as the functions expect; or see `ranged`
    blocks: bool = True  # each function of a feature against each of another, or only against its like
    squared: bool = False  # weights in the second moment are squared, as Eq. 6 has it
    fresh: bool = False  # functions are drawn anew at each inner step
    adam: bool = True  # else stochastic gradient descent with momentum
    rate: float = 0.1
    steps: int = 30
    mean: bool = (
        True  # the dependence of a mean pair of features counts, times 276; or of all, times `strength`
    )
    strength: float = 1.0
    penalty: float = 3.0  # times n · sum of squared weights
    queue: bool = True  # the memory: rows that were seen; or means over rows that have nothing in common
    decay: float = 0.9  # of those means
    plain: int = 0  # first steps over which the mean is a plain one
    functions: int = 5
    nodes: int = 0  # of a quadrature in place of random functions: the mean over all draws; 0 is to draw
    memory: int = 140


# How what the paper leaves open is resolved: features, their scale, pairs of functions, moments, memory.
PRESETS = {
    # Eqs. 3-8 to the letter: √2 cos, all pairs of functions, w² in the second moment, no penalty, Eq. 11 as
    # memory. Said nowhere: the inner optimiser's steps and rate, which are the released ones.
    "paper": Choices(
        squared=True, adam=False, rate=1e-3, steps=20, mean=False, penalty=0.0, queue=False, decay=0.7
    ),
    # As released: arguments min-max scaled over a sample's features, functions paired by number and drawn at
    # each step.
    "code": Choices(
        pooled=True, standard=False, blocks=False, fresh=True, adam=False, rate=1e-3, steps=20, mean=False,
        strength=2 / 0.01, penalty=1 / 140, queue=False, plain=10,
    ),
    # A proper weighted covariance, a queue of real rows whose weights are learnt too, Adam, λ = 3; and the
    # mean over all draws of functions, so that weights are not fitted to one draw. All features, though few
    # mixed ones could be made far less dependent: all of them would then depend on each other no less.
    "fixed": Choices(nodes=8),
}  # fmt: skip


def ranged(inside: Tensor) -> Tensor:
    """What a function is taken of, n × d × r, put between 0 and π/2 over each sample's features, as released.

    Of two features nothing is left but which of them is larger, and cosine and sine then sum to 1 for both.
    """
    inside = inside - inside.amin(1, keepdim=True)
    return inside / inside.amax(1, keepdim=True).clamp(min=1e-12) * (math.pi / 2)


def standardised(features: Tensor) -> Tensor:
    """Each feature with mean 0 and spread 1, or all 0 if it is constant."""
    centred = features - features.mean(0)
    spread = centred.square().mean(0).sqrt()
    return centred / torch.where(spread > 1e-6, spread, torch.ones_like(spread))


def drawn(features: Tensor, choices: Choices) -> Tensor:
    """Random functions of features: views × n × d × r; blocks are taken within a view."""
    if choices.nodes:
        return averaged(features, choices)[None]
    d, r = features.shape[1], choices.functions
    omega = torch.randn(d if choices.standard else 1, r).to(features)  # as released one for all features
    phase = (torch.rand(d, r) * 2 * math.pi).to(features)
    if choices.standard:
        z = math.sqrt(2) * (standardised(features)[:, :, None] * omega + phase).cos()
    else:
        inside = ranged(features[:, :, None] * omega + phase)
        z = math.sqrt(2 / r) * (inside.cos() + inside.sin())
    return z[None] if choices.blocks else z.permute(2, 0, 1)[..., None]


def averaged(features: Tensor, choices: Choices) -> Tensor:
    """Functions of features, n × d × nodes, whose dependence is the mean over all draws of random ones.

    In the mean, random functions of x and y multiply to a Gaussian of x - y: the mean of cosines over normal
    frequencies, for which few nodes of Gauss and Hermite are enough as far as most features reach.
    """
    omega, share = np.polynomial.hermite_e.hermegauss(choices.nodes)
    half = omega > 0
    inside = standardised(features)[:, :, None] * torch.from_numpy(omega[half]).to(features)
    size = torch.from_numpy(np.sqrt(2 * choices.functions * share[half] / share.sum())).to(features)
    return torch.cat([size * inside.cos(), size * inside.sin()], 2)


def moments(weights: Tensor, squared: bool) -> tuple[Tensor, Tensor]:
    """The a and b of a covariance Zᵀ diag(a) Z - Zᵀb (Zᵀb)ᵀ under weights whose sum is 1."""
    if not squared:
        return weights, weights
    n = len(weights)
    more = max(n - 1, 1)
    return (n * weights).square() / more, n * weights / math.sqrt(n * more)


class Dependence:
    """The sum over pairs of features of the squared norm of their covariance block, for any weights."""

    def __init__(self, z: Tensor, choices: Choices) -> None:
        if not choices.squared:  # the covariance does not change, and sums lose fewer digits
            z = z - z.mean(1, keepdim=True)
        r = z.shape[-1]
        self.squared = choices.squared
        self.flat = z.flatten(2)  # views × n × d·r
        self.gram = self.flat @ self.flat.mT  # views × n × n
        self.one, self.other = torch.triu_indices(r, r, device=z.device)
        self.shape = z.shape[2:]
        self.own = (z[..., self.one] * z[..., self.other]).flatten(2)  # views × n × d·r(r + 1)/2
        self.twice = (2 - (self.one == self.other).to(z.dtype)).repeat(z.shape[2])

    def __call__(self, weights: Tensor) -> Tensor:
        """The dependence under weights whose sum is 1."""
        a, b = moments(weights, self.squared)
        leaning = self.gram @ b  # views × n: of each row on the mean
        whole = (self.gram.square() @ a) @ a - 2 * leaning.square() @ a + (leaning @ b).square()
        mean = (b @ self.flat).reshape(-1, *self.shape)  # views × d × r
        own = a @ self.own - (mean[..., self.one] * mean[..., self.other]).flatten(1)
        total: Tensor = ((whole - own.square() @ self.twice) / 2).sum()
        return total


def dependence(features: Tensor, weights: Tensor, functions: int = 5) -> float:
    """How much features depend on each other under weights, by functions drawn for this once."""
    choices = Choices(functions=functions)
    return float(Dependence(drawn(features, choices), choices)(weights))


def learnt(features: Tensor, logits: Tensor, free: int, choices: Choices) -> Tensor:
    """Logits whose softmax, as weights, makes features less dependent; the last `free` of them move."""
    n, d = features.shape
    pairs = d * (d - 1) / 2
    strength = 276 / max(pairs, 1) if choices.mean else choices.strength
    with torch.enable_grad():
        held, moving = logits[: n - free], logits[n - free :].clone().requires_grad_()
        optimiser: torch.optim.Optimizer = (
            torch.optim.Adam([moving], choices.rate)
            if choices.adam
            else torch.optim.SGD([moving], choices.rate, momentum=0.9)
        )
        found = None if choices.fresh else Dependence(drawn(features, choices), choices)
        for step in range(choices.steps):
            if not choices.adam and step == choices.steps // 2:
                optimiser.param_groups[0]["lr"] = choices.rate / 10
            weights = torch.softmax(torch.cat([held, moving]), 0)
            depends = (found or Dependence(drawn(features, choices), choices))(weights)
            spread = torch.softmax(moving, 0).square().sum() * free
            optimiser.zero_grad()
            (strength * depends + choices.penalty * spread).backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return torch.cat([held, moving.detach()])
