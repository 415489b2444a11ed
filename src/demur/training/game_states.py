"""Where a game of two nets stands, as one safetensors file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from demur.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor

    from demur.training.game import Game

_NETS = "discriminator", "generator"


def keep(path: Path, game: Game) -> None:
    """Write all that the next epoch depends on, beside the file, and rename it."""
    from safetensors.torch import save_file

    tensors: dict[str, Tensor] = {}
    for name, optimiser in zip(_NETS, game.optimisers, strict=True):
        tensors |= {f"{name}.{key}": value for key, value in getattr(game, name).learnt().items()}
        for number, state in optimiser.state_dict()["state"].items():
            tensors |= {f"adam.{name}.{number}.{key}": value for key, value in state.items()}
    for epoch, weights in game.kept.items():
        tensors |= {f"epoch.{epoch}.{key}": value for key, value in weights.items()}
    beside = path.with_name(f".{path.name}.part")
    kept = {key: value.contiguous().clone() for key, value in tensors.items()}  # clones: some share memory
    save_file(kept, beside, {"log": json.dumps(game.log)})
    beside.replace(path)


def resume(path: Path | None, game: Game) -> bool:
    """Set a game back to where it stood in a file; whether there is one."""
    if path is None or not path.is_file():
        return False
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            game.log = json.loads(file.metadata()["log"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"no checkpoint ({error})", path=path, fix="remove it, and train anew") from None

    def named(start: str) -> dict[str, Tensor]:
        return {key.removeprefix(start): value for key, value in tensors.items() if key.startswith(start)}

    for name, optimiser in zip(_NETS, game.optimisers, strict=True):
        getattr(game, name).load_state_dict(named(f"{name}."), strict=False)  # without vectors that stay
        state: dict[int, dict[str, Tensor]] = {}
        for key, value in named(f"adam.{name}.").items():
            number, _, what = key.partition(".")
            state.setdefault(int(number), {})[what] = value
        optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    for key, value in named("epoch.").items():
        number, _, what = key.partition(".")
        game.kept.setdefault(int(number), {})[what] = value
    return True
