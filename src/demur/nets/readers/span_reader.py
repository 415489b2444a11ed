"""A transformer that reads question and passage together: how well each token starts or ends an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from demur.errors import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import torch
    from numpy.typing import NDArray
    from torch import Tensor


def load(model: str) -> torch.nn.Module:
    """A Hugging Face encoder with two outputs per token; where they are missing, torch's seed draws them."""
    require("torch", extra="encoder")
    transformers: Any = require("transformers", extra="encoder")
    network: torch.nn.Module = transformers.AutoModelForQuestionAnswering.from_pretrained(
        model,
        use_safetensors=True,
        num_labels=2,  # a start and an end, whatever the encoder was made for
    )
    return network


def span_logits(
    network: torch.nn.Module,
    batch: dict[str, Tensor],
    index: Tensor,
    there: Tensor,
    states: bool = False,
    through: Sequence[NDArray[np.float32]] = (),
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """How well each position starts and ends, and its states, layer by layer, the words' embeddings first.

    With `through` these are multiplied by that, before anything else is done with them.

    The batch holds what the network takes: windows × tokens. `index` says which tokens are positions, the
    first for no answer: windows × positions; `there` where it says so and does not fill up.
    """
    from demur.nets.readers.probe import times

    found = network(**batch, output_hidden_states=states or bool(through))
    starts, ends = (
        logits.float().gather(1, index).masked_fill(~there, float("-inf"))  # windows × positions
        for logits in (found.start_logits, found.end_logits)
    )
    layers = found.hidden_states if states or through else []  # of each windows × tokens × width
    if through:
        layers = times(layers, through)  # windows × tokens × k
    chosen = index[:, :, None]  # windows × positions × 1
    return starts, ends, [h.float().gather(1, chosen.expand(-1, -1, h.shape[2])) for h in layers]
