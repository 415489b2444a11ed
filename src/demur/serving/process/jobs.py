"""Work that outlives its request: it is told of while it runs, and for some while after."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from demur.errors import DemurError
from demur.serving.messages.problems import Refusal, refusal_of

_KEPT = 500  # jobs that are over, of which is still told
_log = logging.getLogger("demur.serving")


@dataclass
class Job:
    """One piece of work, and what became of it."""

    kind: str
    about: str
    id: str = field(default_factory=lambda: secrets.token_hex(8))
    state: str = "running"
    """running, done or failed."""
    done: int = 0
    total: int | None = None
    result: dict[str, Any] | None = None
    error: str | None = None
    refusal: Refusal | None = None
    """What is answered to who waits for it, if it failed."""
    began: float = field(default_factory=time.time)
    task: asyncio.Task[None] | None = None

    def plain(self) -> dict[str, Any]:
        """What is told of it."""
        shown = "id", "kind", "about", "state", "done", "total", "result", "error"
        return {name: getattr(self, name) for name in shown}


class Jobs:
    """The jobs of one server."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def start(self, kind: str, about: str, work: Callable[[Job], Awaitable[dict[str, Any]]]) -> Job:
        """A job that has begun."""
        job = Job(kind, about)
        self._jobs[job.id] = job
        over = [each for each in self._jobs.values() if each.state != "running"]
        for old in over[: max(0, len(over) - _KEPT)]:
            del self._jobs[old.id]
        job.task = asyncio.ensure_future(self._run(job, work))
        return job

    def named(self, id: str) -> Job:
        """The job with an id; a refusal if there is none."""
        if id not in self._jobs:
            raise Refusal(
                404, f"there is no job {id[:40]!r}; jobs are forgotten when the server is restarted"
            )
        return self._jobs[id]

    def running(self) -> list[Job]:
        """Those that are not over."""
        return [job for job in self._jobs.values() if job.state == "running"]

    async def within(self, job: Job, seconds: float) -> bool:
        """Whether the job is over, in so many seconds; it goes on if not."""
        assert job.task is not None
        await asyncio.wait({job.task}, timeout=seconds)
        return job.state != "running"

    async def close(self, seconds: float) -> None:
        """Wait until all jobs are over, and break them off after so many seconds."""
        tasks = {job.task for job in self.running() if job.task is not None}
        if tasks:
            _, left = await asyncio.wait(tasks, timeout=seconds)
            for task in left:
                task.cancel()

    async def _run(self, job: Job, work: Callable[[Job], Awaitable[dict[str, Any]]]) -> None:
        try:
            job.result = await work(job)
            job.state = "done"
        except (DemurError, Refusal) as error:
            job.refusal = refusal_of(error) if isinstance(error, DemurError) else error
            job.state, job.error = "failed", job.refusal.message
        except asyncio.CancelledError:
            job.state, job.error = "failed", "the server was stopped"
            raise
        except Exception:
            _log.exception("a job failed: %s", job.kind)
            job.state, job.error = "failed", "the server failed at this; see its log"
