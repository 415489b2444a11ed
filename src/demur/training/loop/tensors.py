"""What checkpoints share: tensors and facts in one safetensors file, Adam's moments among them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from demur.errors import DataError
from demur.files import written

if TYPE_CHECKING:
    from torch import Tensor


def write_tensors(path: Path, tensors: Mapping[str, Tensor], facts: dict[str, str]) -> None:
    """Write tensors and facts beside the file, and rename it."""
    from safetensors.torch import save_file

    beside = path.with_name(f".{path.name}.part")
    with written(path):  # clones, since some share memory
        save_file({name: value.contiguous().clone() for name, value in tensors.items()}, beside, facts)
        beside.replace(path)


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors and facts of a file; an error that says so, if it is none."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            names = file.keys()  # the file itself is no mapping
            return {name: file.get_tensor(name) for name in names}, dict(file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise broken(path, error) from None


def broken(path: Path, error: Exception) -> DataError:
    """The error of a file that holds something else."""
    return DataError(f"no checkpoint ({error})", path=path, fix="remove it, and train anew")


def moments(optimiser: Any, start: str = "adam.") -> dict[str, Tensor]:
    """What an optimiser remembers of each weight."""
    import torch

    return {
        f"{start}{number}.{name}": torch.as_tensor(value)
        for number, state in optimiser.state_dict()["state"].items()
        for name, value in state.items()
    }


def remember(optimiser: Any, tensors: Mapping[str, Tensor], start: str = "adam.") -> None:
    """Set an optimiser back to what it remembered."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in starting_with(tensors, start).items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})


def starting_with(tensors: Mapping[str, Tensor], start: str) -> dict[str, Tensor]:
    """Those whose names start so, without that."""
    return {name.removeprefix(start): value for name, value in tensors.items() if name.startswith(start)}
