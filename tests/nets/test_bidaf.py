from __future__ import annotations

import pytest
import torch

from demur.nets.readers.bidaf import BiDAF


@pytest.fixture
def net() -> BiDAF:
    torch.manual_seed(0)
    return BiDAF(20, 9, wide=7, hidden=5, filters=4).eval()


def texts(*lengths: int) -> list[torch.Tensor]:
    """Words and letters of a question and of a passage, for as many pairs as there are pairs of lengths."""
    draws = torch.Generator().manual_seed(1)
    found = []
    for some in (lengths[::2], lengths[1::2]):
        words, letters = (
            torch.zeros(len(some), max(some), dtype=torch.long),
            torch.zeros(len(some), max(some), 6),
        )
        for row, length in enumerate(some):
            words[row, :length] = torch.randint(1, 20, (length,), generator=draws)
            letters[row, :length, :4] = torch.randint(1, 9, (length, 4), generator=draws).float()
        found += [words, letters.long()]
    return found


def test_each_position_has_a_start_and_an_end_and_each_layer_its_states(net: BiDAF) -> None:
    starts, ends, layers = net(*texts(3, 8, 5, 6))
    assert starts.shape == ends.shape == (2, 9)
    assert [layer.shape for layer in layers] == [(2, 8, wide) for wide in (11, 10, 40, 10, 10)]
    assert torch.isfinite(starts[0]).all() and torch.isinf(starts[1, 7:]).all()
    assert (starts[:, 0] == net.null).all() and (ends[:, 0] == net.null).all()


def test_padding_changes_nothing(net: BiDAF) -> None:
    both = texts(3, 8, 5, 6)
    question, letters, passage, spelt = (
        each[:1, :length] for each, length in zip(both, (3, 3, 8, 8), strict=True)
    )
    together, alone = net(*both), net(question, letters, passage, spelt)
    for one, other in zip(alone[:2], together[:2], strict=True):
        assert torch.allclose(one[0], other[0], atol=1e-6)
    wider = net(
        torch.nn.functional.pad(question, (0, 4)),
        torch.nn.functional.pad(letters, (0, 0, 0, 4)),
        torch.nn.functional.pad(passage, (0, 3)),
        torch.nn.functional.pad(spelt, (0, 0, 0, 3)),
    )
    for one, other in zip(alone[:2], wider[:2], strict=True):
        assert torch.allclose(one, other[:, :9], atol=1e-6) and torch.isinf(other[:, 9:]).all()
    for one, other in zip(alone[2], wider[2], strict=True):
        assert torch.allclose(one, other[:, :8], atol=1e-6)


def test_every_weight_learns(net: BiDAF) -> None:
    net.train()
    starts, ends, _ = net(*texts(3, 8, 5, 6))
    wanted = torch.tensor([2, 0])
    loss = torch.nn.functional.cross_entropy(starts, wanted) + torch.nn.functional.cross_entropy(ends, wanted)
    loss.backward()  # type: ignore[no-untyped-call]
    for name, weight in net.named_parameters():
        if name == "fixed.weight":
            assert weight.grad is None
            continue
        assert weight.grad is not None and weight.grad.abs().sum() > 0, name
        assert torch.isfinite(weight.grad).all(), name


def test_what_is_asked_and_where_words_stand_both_matter(net: BiDAF) -> None:
    question, letters, passage, spelt = texts(3, 8)
    first = net(question, letters, passage, spelt)[0]
    assert not torch.allclose(net(question.flip(1), letters.flip(1), passage, spelt)[0], first)
    assert not torch.allclose(net(question, letters, passage.flip(1), spelt.flip(1))[0].flip(1), first)


def test_the_last_words_have_fixed_vectors() -> None:
    net = BiDAF(6, 9, wide=2, hidden=5, filters=4, fixed=3).eval()
    net.words.weight.data = torch.tensor([[0.0, 0], [1, 1], [2, 2]])
    net.fixed.weight.data = torch.tensor([[0.0, 0], [3, 3], [4, 4], [5, 5]])
    seen: list[torch.Tensor] = []
    net.gates[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    net.embed(torch.arange(6)[None], torch.zeros(1, 6, 6, dtype=torch.long))
    assert seen[0][0, :, 0].tolist() == [0, 1, 2, 3, 4, 5]
