"""Probes taught on a reader's states, which nothing here can change: they come as arrays."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from demur.doubt.observing import Shown, shown
from demur.doubt.probing.probes import Probes
from demur.errors import UsageError
from demur.nets.readers.probe import Probe
from demur.reading.base import Reader
from demur.specs import Spelled
from demur.types import Pool

_SCALED_BY = 64  # windows whose states say how far each number spreads
_SLOWEST = 0.02  # of the learning rate, at the end

Windows = Callable[[int], Iterable[Shown]]
"""The windows of an epoch, each with where its answer starts and ends; 0 and 0 where it has none."""


@dataclass(frozen=True)
class ProbeTrainer(Spelled):
    """Adam on the probes of all layers at once: the loss is convex, so in time any start comes to the same.

    The learning rate falls to nearly nothing over all epochs. Two of them, from nothing, win most of what
    there is to win; a start far from nothing needs more.
    """

    name: ClassVar[str] = "probes"
    epochs: int = 2
    batch: int = 32
    learning_rate: float = 0.01
    spread: float = 0.0
    """How far from nothing the vectors start, at random."""
    seed: int = 0

    def train(self, reader: Reader, pools: Sequence[Pool]) -> Probes:
        """The probes of a reader, taught on questions of SQuAD."""
        pools = [pool for pool in pools if len(pool)]

        def windows(epoch: int) -> Iterator[Shown]:
            order = np.random.default_rng([self.seed, epoch]).permutation(len(pools))
            return shown(reader, [pools[place] for place in order])

        return self.fit(windows, len(pools))[0]

    def fit(self, windows: Windows, count: int) -> tuple[Probes, list[float]]:
        """The probes, and the mean loss of each layer in the last epoch; `count` windows or so an epoch."""
        first = list(itertools.islice(iter(windows(0)), _SCALED_BY))
        if not first:
            raise UsageError("there is nothing to train probes on; give questions with a passage")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            net = Probe(_scales(first), self.spread)
        optimiser = torch.optim.Adam(net.parameters(), lr=self.learning_rate)
        done, total = 0, max(1, count * self.epochs)
        losses: list[Tensor] = []
        for epoch in range(self.epochs):
            losses = []
            for batch in _by(self.batch, windows(epoch)):
                for group in optimiser.param_groups:
                    group["lr"] = self.learning_rate * max(_SLOWEST, 1 - done / total)
                each = net.losses(*batched(batch))
                optimiser.zero_grad(set_to_none=True)
                each.sum().backward()  # type: ignore[no-untyped-call]  # torch says no type here
                optimiser.step()
                done += len(batch)
                losses.append(each.detach())
        weights = tuple(each.numpy().astype(np.float32) for each in net.weights())
        return Probes(weights), torch.stack(losses).mean(0).tolist() if losses else []


def _by(size: int, windows: Iterable[Shown]) -> Iterator[list[Shown]]:
    waiting = iter(windows)
    while batch := list(itertools.islice(waiting, size)):
        yield batch


def batched(windows: Sequence[Shown]) -> tuple[list[Tensor], Tensor, Tensor, Tensor]:
    """Of each layer windows × positions × width; which positions there are; starts; ends."""
    longest = max(len(each.states[0]) for each in windows)
    there = torch.zeros(len(windows), longest, dtype=torch.bool)
    layers = [torch.zeros(len(windows), longest, each.shape[1]) for each in windows[0].states]
    for row, window in enumerate(windows):
        there[row, : len(window.states[0])] = True
        for layer, states in zip(layers, window.states, strict=True):
            layer[row, : len(states)] = torch.from_numpy(np.asarray(states, np.float32))
    start = torch.tensor([window.start for window in windows])
    end = torch.tensor([window.end for window in windows])
    return layers, there, start, end


def _scales(windows: Sequence[Shown]) -> list[Tensor]:
    """Of each layer, the spread of each number of a state; 1 where it is the same everywhere."""
    found = []
    for layer in range(len(windows[0].states)):
        spread = np.concatenate([window.states[layer] for window in windows]).std(axis=0)
        found.append(torch.from_numpy(np.where(spread > 1e-6, spread, 1.0).astype(np.float32)))
    return found
