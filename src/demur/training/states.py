"""Where training stands, as one safetensors file: weights now and at their best, Adam's moments, the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import DataError

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
    """Write all that the next epoch depends on, beside the file, and rename it."""
    from safetensors.torch import save_file

    tensors = {f"now.{name}": value for name, value in net.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"adam.{number}.{name}": value for name, value in state.items()}
    beside = path.with_name(f".{path.name}.part")
    save_file(tensors, beside, {"facts": json.dumps(facts)})
    beside.replace(path)


def resume(
    path: Path, net: SmallNet, optimiser: torch.optim.Optimizer
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The best weights and the facts of a file, after net and optimiser were set back to where they were."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            facts: dict[str, Any] = json.loads(file.metadata()["facts"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"no checkpoint ({error})", path=path, fix="remove it, and train anew") from None

    def named(start: str) -> dict[str, Tensor]:
        return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}

    net.load_state_dict(named("now."))
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in named("adam.").items():
        number, _, key = name.partition(".")
        state.setdefault(int(number), {})[key] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    return named("best."), facts
