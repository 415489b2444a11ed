"""Ray on a cluster, or on this machine: how it is begun and let go of."""

from __future__ import annotations

import logging
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, Self

from demur import processor
from demur.errors import DemurError, UsageError, require
from demur.scale.work import why

QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}
"""What Ray reads: it reports to nobody, unless somebody has said otherwise."""
UNHEARD: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
STARTS = 3
"""How often Ray is started before that is given up."""


class Cluster:
    """Workers on a cluster, or on this machine if no address is given; let go of at the end of a block."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self.address, self.workers = address, workers
        self.ray: Any = _ray()

    def __enter__(self) -> Self:
        self._told = redirect_stdout(sys.stderr)  # where Ray tells that a worker has died
        self._told.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self.ray.is_initialized():
                self.ray.shutdown()
        finally:
            self._told.__exit__(None, None, None)

    def begin(self) -> int:
        """How many workers there are to be, once Ray is there."""
        if not self.ray.is_initialized():
            self._start()
        cores = int(self.ray.cluster_resources().get("CPU", 0))
        if self.workers is not None and self.workers > cores:
            what = f"{self.workers} workers need as many cores, and Ray has {cores}"
            raise UsageError(f"{what}; ask for fewer with --workers")
        return self.workers or max(cores, 1)

    def _start(self) -> None:
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        if self.address is None:
            self._start_here(self.workers or processor.threads())
        else:
            self._join_cluster(self.address)

    def _start_here(self, cores: int) -> None:
        for left in reversed(range(STARTS)):
            try:
                with _hushed():
                    self.ray.init(address="local", num_cpus=cores, include_dashboard=False, **UNHEARD)
                return
            except Exception as error:  # it waits for 30 seconds, which a busy machine may exceed
                self.ray.shutdown()
                if not left:
                    what = f"Ray could not be started on this machine ({why(error)})"
                    raise DemurError(f"{what}; run the same again when it has less to do") from error

    def _join_cluster(self, address: str) -> None:
        try:
            host, _, port = address.rpartition(":")
            if port.isdigit():  # Ray itself would try for minutes
                socket.create_connection((host.removeprefix("ray://"), int(port)), timeout=10).close()
            with _hushed():
                self.ray.init(address=address, **UNHEARD)
        except Exception as error:
            fix = "start one with ray start --head, or leave --address out"
            if os.environ.get("RAY_AUTH_MODE") != "token":
                fix += "; if ray start said that it wants a token, set RAY_AUTH_MODE=token"
            raise UsageError(f"there is no Ray cluster at {address} ({why(error)}); {fix}") from None


@contextmanager
def _hushed() -> Iterator[None]:
    """A block in which nothing reaches stderr: Ray's parts in C++ write there that they write nothing."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _ray() -> Any:
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns of what is to come
    ray = require("ray", extra="ray")
    return ray
