"""Who does the work: this process, or workers of Ray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from demur.errors import UsageError

if TYPE_CHECKING:
    from demur.scale.cluster import Cluster

LOCAL, RAY = "local", "ray"
EngineOption = Annotated[
    str, typer.Option(help="Who does the work: local, or ray (pip install 'demur[ray]').")
]
AddressOption = Annotated[
    str | None,
    typer.Option(help="The Ray cluster to work on: HOST:6379, or auto. Default: this machine alone."),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Number of Ray workers. Default: one for each core.")
]


def on_ray(engine: str, address: str | None, workers: int | None) -> bool:
    """Whether Ray does the work; what cannot be is one line."""
    if engine not in (LOCAL, RAY):
        raise UsageError(f"there is no engine {engine!r}; write --engine {LOCAL} or --engine {RAY}")
    for name, value in (("--address", address), ("--workers", workers)):
        if value is not None and engine == LOCAL:
            raise UsageError(f"{name} is for --engine {RAY}; leave it out, or take that engine")
    return engine == RAY


def cluster(engine: str, address: str | None, workers: int | None) -> Cluster | None:
    """Ray, where it does the work."""
    if not on_ray(engine, address, workers):
        return None
    from demur.scale.cluster import Cluster

    return Cluster(address, workers)
