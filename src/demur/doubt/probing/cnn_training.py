"""PROBE-CNN taught on answers of a validation set, none of which the reader has learnt from."""

from __future__ import annotations

import copy

import numpy as np
import torch
from torch import nn

from demur.doubt.base import Arrays
from demur.doubt.observed import Observed
from demur.doubt.probing.probe_cnn import FIRST, SECOND, ProbeCNN, batches
from demur.errors import UsageError
from demur.evaluation.selective.measures import AURC
from demur.nets.readers import probe_cnn as nets
from demur.risk.predictions import BoolArray
from demur.types import FloatArray, IntArray


def train_cnn(doubt: ProbeCNN, seen: Observed, right: BoolArray) -> Arrays:
    """The weights that tell right answers from wrong ones; what is not answered has no part."""
    generator = np.random.default_rng(doubt.seed)
    train, held = _parted(seen.says, right, doubt.held_out, generator)
    lowest, waited = np.inf, 0
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(doubt.seed)
        net = nets.ProbeCNN(doubt.height(seen), FIRST, SECOND, doubt.top)
        best = copy.deepcopy(net.state_dict())
        optimiser = torch.optim.Adam(net.parameters(), lr=doubt.learning_rate)
        for _ in range(doubt.epochs):
            for places in _drawn(train, right, doubt.batch, generator):
                images, there = doubt.images(seen, places)
                logits = net(torch.from_numpy(images), torch.from_numpy(there))
                error = nets.loss(logits, torch.from_numpy(right[places]), doubt.loss)
                optimiser.zero_grad(set_to_none=True)
                error.backward()  # type: ignore[no-untyped-call]  # torch says no type here
                optimiser.step()
            found = AURC.of(scores(net, doubt, seen.take(held)), ~right[held])
            if found < lowest:
                lowest, waited, best = found, 0, copy.deepcopy(net.state_dict())
            elif (waited := waited + 1) >= doubt.patience:
                break
    return {name: each.numpy().astype(np.float32) for name, each in best.items()}


def scores(net: nn.Module, doubt: ProbeCNN, seen: Observed) -> FloatArray:
    """What the network says of each answer."""
    found = np.empty(len(seen))
    with torch.inference_mode():
        for places in batches(seen.sizes, doubt.height(seen)):
            images, there = doubt.images(seen, places)
            found[places] = net(torch.from_numpy(images), torch.from_numpy(there)).double().numpy()
    return found


def _parted(
    says: BoolArray, right: BoolArray, share: float, generator: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The answers to learn from and those held out, with right and wrong ones in both."""
    train, held = [], []
    for kind in (right & says, ~right & says):
        places = generator.permutation(np.flatnonzero(kind))
        if len(places) < 2:
            raise UsageError("probe-cnn needs right and wrong answers to train on, two of each or more")
        count = min(len(places) - 1, max(1, round(share * len(places))))
        held.append(places[:count])
        train.append(places[count:])
    return np.concatenate(train), np.concatenate(held)


def _drawn(train: IntArray, right: BoolArray, size: int, generator: np.random.Generator) -> list[IntArray]:
    """An epoch of batches, each with right and wrong answers in about the shares that all have."""
    kinds = [generator.permutation(train[right[train]]), generator.permutation(train[~right[train]])]
    count = max(1, min(len(train) // size, *map(len, kinds)))
    parts = zip(*(np.array_split(kind, count) for kind in kinds), strict=True)
    return [np.concatenate(part) for part in parts]
