"""Where the training of two nets stands, as one safetensors file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from demur.training.loop import tensors

if TYPE_CHECKING:
    from torch import Tensor

    from demur.training.committees.adversarial_loop import TwoNets

_NETS = "discriminator", "generator"


def keep(path: Path, state: TwoNets) -> None:
    """Write all that the next epoch depends on."""
    kept: dict[str, Tensor] = {}
    for name, optimiser in zip(_NETS, state.optimisers, strict=True):
        kept |= {f"{name}.{key}": value for key, value in getattr(state, name).learnt().items()}
        kept |= tensors.moments(optimiser, f"adam.{name}.")
    for epoch, weights in state.kept.items():
        kept |= {f"epoch.{epoch}.{key}": value for key, value in weights.items()}
    tensors.write_tensors(path, kept, {"log": json.dumps(state.log)})


def resume(path: Path | None, state: TwoNets) -> bool:
    """Set two nets back to where they stood in a file; whether there is one."""
    if path is None or not path.is_file():
        return False
    kept, said = tensors.read_tensors(path)
    try:
        state.log = json.loads(said["log"])
    except (ValueError, KeyError) as error:
        raise tensors.broken(path, error) from None
    for name, optimiser in zip(_NETS, state.optimisers, strict=True):
        weights = tensors.starting_with(kept, f"{name}.")
        getattr(state, name).load_state_dict(weights, strict=False)  # without vectors that stay
        tensors.remember(optimiser, kept, f"adam.{name}.")
    for key, value in tensors.starting_with(kept, "epoch.").items():
        number, _, what = key.partition(".")
        state.kept.setdefault(int(number), {})[what] = value
    return True
