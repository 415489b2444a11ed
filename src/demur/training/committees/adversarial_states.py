"""Where a game of two nets stands, as one safetensors file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from demur.training import tensors

if TYPE_CHECKING:
    from torch import Tensor

    from demur.training.committees.adversarial_loop import Game

_NETS = "discriminator", "generator"


def keep(path: Path, game: Game) -> None:
    """Write all that the next epoch depends on."""
    kept: dict[str, Tensor] = {}
    for name, optimiser in zip(_NETS, game.optimisers, strict=True):
        kept |= {f"{name}.{key}": value for key, value in getattr(game, name).learnt().items()}
        kept |= tensors.moments(optimiser, f"adam.{name}.")
    for epoch, weights in game.kept.items():
        kept |= {f"epoch.{epoch}.{key}": value for key, value in weights.items()}
    tensors.write(path, kept, {"log": json.dumps(game.log)})


def resume(path: Path | None, game: Game) -> bool:
    """Set a game back to where it stood in a file; whether there is one."""
    if path is None or not path.is_file():
        return False
    kept, said = tensors.read(path)
    try:
        game.log = json.loads(said["log"])
    except (ValueError, KeyError) as error:
        raise tensors.broken(path, error) from None
    for name, optimiser in zip(_NETS, game.optimisers, strict=True):
        weights = tensors.named(kept, f"{name}.")
        getattr(game, name).load_state_dict(weights, strict=False)  # without vectors that stay
        tensors.remember(optimiser, kept, f"adam.{name}.")
    for key, value in tensors.named(kept, "epoch.").items():
        number, _, what = key.partition(".")
        game.kept.setdefault(int(number), {})[what] = value
    return True
