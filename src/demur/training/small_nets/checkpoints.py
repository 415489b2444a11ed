"""Where training stands, as one safetensors file: weights now and at their best, Adam's moments, the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.training import tensors

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from demur.nets.small import SmallNet


def keep(
    path: Path,
    net: SmallNet,
    optimiser: torch.optim.Optimizer,
    best: dict[str, Tensor],
    facts: dict[str, Any],
) -> None:
    """Write all that the next epoch depends on."""
    kept = {f"now.{name}": value for name, value in net.state_dict().items()}
    kept |= {f"best.{name}": value for name, value in best.items()}
    tensors.write(path, kept | tensors.moments(optimiser), {"facts": json.dumps(facts)})


def resume(
    path: Path, net: SmallNet, optimiser: torch.optim.Optimizer
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The best weights and the facts of a file, after net and optimiser were set back to where they were."""
    kept, said = tensors.read(path)
    try:
        facts: dict[str, Any] = json.loads(said["facts"])
    except (ValueError, KeyError) as error:
        raise tensors.broken(path, error) from None
    net.load_state_dict(tensors.starting_with(kept, "now."))
    tensors.remember(optimiser, kept)
    return tensors.starting_with(kept, "best."), facts
