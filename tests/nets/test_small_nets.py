"""The small nets against their formulas in numpy, and what each way to begin promises."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from demur.nets.small.base import SmallNet
from demur.nets.small.concat import Concat
from demur.nets.small.siamese import Siamese

NETS: list[type[SmallNet]] = [Siamese, Concat]
WIDTH = 6


@pytest.fixture(autouse=True)
def seeded() -> None:
    """Nets begin at the same numbers in every run: a few beginnings project a text to nothing."""
    torch.manual_seed(1)


def drawn(seed: int, rows: int = 9, width: int = WIDTH) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32))


def still(net: SmallNet) -> SmallNet:
    net.double().eval()
    return net


def arrays(net: SmallNet) -> dict[str, NDArray[np.float64]]:
    return {name: value.double().numpy() for name, value in net.state_dict().items()}


def test_siamese_is_the_cosine_of_projections() -> None:
    net = Siamese(WIDTH)
    torch.nn.init.normal_(net.hidden.bias)
    net.double().eval()
    q, a = drawn(1).double().numpy(), drawn(2).double().numpy()
    weights = arrays(net)
    one, other = (np.maximum(x @ weights["hidden.weight"].T + weights["hidden.bias"], 0) for x in (q, a))
    expected = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    assert net(torch.from_numpy(q), torch.from_numpy(a)).detach().numpy() == pytest.approx(
        expected, abs=1e-12
    )


def test_concat_sees_both_texts_their_product_and_distance() -> None:
    net = still(Concat(WIDTH))
    q, a = drawn(1).double().numpy(), drawn(2).double().numpy()
    weights = arrays(net)
    pair = np.concatenate([q, a, q * a, np.abs(q - a)], axis=1)
    hidden = np.maximum(pair @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
    expected = hidden @ weights["output.weight"][0] + weights["output.bias"]
    assert net(torch.from_numpy(q), torch.from_numpy(a)).detach().numpy() == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("kind", NETS)
def test_layers_are_as_wide_as_the_paper_says(kind: type[SmallNet]) -> None:
    units = WIDTH * (4 if kind is Concat else 1)
    assert arrays(kind(WIDTH))["hidden.weight"].shape == (units, units)


@pytest.mark.parametrize("kind", NETS)
def test_they_begin_as_keras_does(kind: type[SmallNet]) -> None:
    torch.manual_seed(0)
    weights = arrays(kind(40))
    sizes = np.abs(weights["hidden.weight"])
    limit = (6 / sum(sizes.shape)) ** 0.5
    assert not weights["hidden.bias"].any()
    assert sizes.max() <= limit * (1 + 1e-6) and sizes.mean() == pytest.approx(limit / 2, rel=0.05)


@pytest.mark.parametrize("kind", NETS)
def test_triplets_are_two_pairs(kind: type[SmallNet]) -> None:
    net = still(kind(WIDTH))
    q, one, other = (drawn(seed).double() for seed in (1, 2, 3))
    right, wrong = net.triplets(q, one, other)
    assert torch.allclose(right, net(q, one)) and torch.allclose(wrong, net(q, other))


@pytest.mark.parametrize("kind", NETS)
def test_dropout_drops_three_in_ten_while_it_learns(kind: type[SmallNet]) -> None:
    torch.manual_seed(0)
    net = kind(200)
    dropped = net.get_submodule("dropout")(torch.ones(100, 200))
    assert (dropped == 0).float().mean().item() == pytest.approx(0.3, abs=0.02)
    pairs = drawn(1, width=200), drawn(2, width=200)
    assert not torch.equal(net(*pairs), net(*pairs))


@pytest.mark.parametrize("kind", NETS)
def test_an_empty_text_has_a_finite_score(kind: type[SmallNet]) -> None:
    net = kind(WIDTH)
    net.eval()
    nothing = torch.zeros(2, WIDTH)
    scores = net(nothing, drawn(1, 2))
    net.entropy(scores, torch.tensor([1.0, 0.0])).backward()  # type: ignore[no-untyped-call]
    assert torch.isfinite(scores).all()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in net.parameters())


@pytest.mark.parametrize("kind", NETS)
def test_begun_like_the_cosine_they_rank_like_it(kind: type[SmallNet]) -> None:
    """On unit vectors, as encoders make them: Glorot's projection or layer does not come near."""
    torch.manual_seed(0)
    width = 256
    q, a = (torch.nn.functional.normalize(drawn(seed, 400, width)) for seed in (1, 2))
    a = torch.nn.functional.normalize(a + q * torch.linspace(0, 2, 400)[:, None])
    cosine = (q * a).sum(1).numpy()

    def likeness(net: SmallNet) -> float:
        net.eval()
        scores = net(q, a).detach().numpy()
        return float(np.corrcoef(np.argsort(np.argsort(cosine)), np.argsort(np.argsort(scores)))[0, 1])

    net, glorot = kind(width), kind(width)
    net.like_cosine(float(q.square().mean().sqrt()))
    assert likeness(net) > 0.99 > likeness(glorot)
