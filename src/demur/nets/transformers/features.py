"""What a Hugging Face encoder says of each text or pair, caught while a classifier on top of it scores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


@contextmanager
def caught(network: torch.nn.Module, which: str) -> Iterator[list[torch.Tensor]]:
    """A list that holds, inside the block, the features of the last batch: pairs × width.

    `which` is ``first``, the last state of the first token, or ``pooled``, what the encoder makes of it for a
    classifier; some encoders make nothing, and then it is the first token again. With an empty `which`
    nothing is caught.
    """
    held: list[torch.Tensor] = []
    if not which:
        yield held
        return

    def hold(module: torch.nn.Module, given: Any, said: Any) -> None:
        pooled = getattr(said, "pooler_output", None) if which == "pooled" else None
        held[:] = [said.last_hidden_state[:, 0] if pooled is None else pooled]

    encoder: Any = getattr(network, "base_model")  # noqa: B009  # a Hugging Face model's
    hook = encoder.register_forward_hook(hold)
    try:
        yield held
    finally:
        hook.remove()
        held.clear()
