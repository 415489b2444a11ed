"""What is told about the service while it runs: figures for Prometheus, and a line of JSON a request."""

from __future__ import annotations

import logging
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demur.serving.paths.routes import Routes

_log = logging.getLogger("demur.serving")
_TENTHS = tuple(n / 10 for n in range(1, 11))
_LAST, _FEWEST = 500, 50  # confidences that are held against those at calibration
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
NOTED = "demur.noted"
"""Where in a request's scope the facts lie that its log line tells."""


class Figures:
    """Counts and gauges of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        of = self.registry
        self.requests = Counter("demur_requests", "Requests answered.", ["path", "status"], registry=of)
        self.refusals = Counter("demur_refusals", "Requests refused, by status.", ["status"], registry=of)
        self.abstentions = Counter("demur_abstentions", "Answers withheld.", ["path"], registry=of)
        self.pairs = Counter("demur_pairs", "Pairs of a question and a text that were scored.", registry=of)
        self.confidence = Histogram(
            "demur_confidence", "Confidence of the best text.", ["path"], buckets=_TENTHS, registry=of
        )
        self.seconds = Histogram(
            "demur_seconds",
            "Seconds by stage: wait in the queue, work; and of the work: score, quote, ask.",
            ["stage"],
            buckets=_SECONDS,
            registry=of,
        )
        self.queue = Gauge("demur_queue_pairs", "Pairs in the queue or being scored.", registry=of)
        self.room = Gauge("demur_queue_room_pairs", "Largest number of pairs in the queue.", registry=of)
        self.passages = Gauge("demur_passages", "Passages that can be found.", registry=of)
        self.generation = Gauge("demur_generation", "Generation of the base that is searched.", registry=of)
        self.changed = Gauge(
            "demur_changed_share", "Share of passages changed since the gate was made.", registry=of
        )
        self.lapsed = Gauge("demur_gate_lapsed", "1 once the gate's promise has lapsed.", registry=of)
        self.drift = Gauge(
            "demur_drift",
            "How far the last confidences are from those at calibration, 0 to 1 (Kolmogorov-Smirnov); "
            "0 until 50 are there.",
            registry=of,
        )
        self.last: dict[float | None, deque[float]] = defaultdict(partial(deque, maxlen=_LAST))
        """The last confidences of answers to questions, by the threshold that they were held against."""
        self.ready = Gauge("demur_ready", "1 once the models are loaded.", registry=of)

    def stage(self, name: str, seconds: float) -> None:
        """Note the seconds of one stage."""
        self.seconds.labels(name).observe(seconds)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """A block whose seconds are noted as those of a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stage(name, time.perf_counter() - began)

    def judged(
        self, path: str, abstained: bool, confidence: float | None, threshold: float | None = None
    ) -> None:
        """Note how sure an answer was, and whether it was withheld."""
        if abstained:
            self.abstentions.labels(path).inc()
        if confidence is not None:
            self.confidence.labels(path).observe(confidence)
            if path == "ask":
                self.last[threshold].append(confidence)

    def page(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return generate_latest(self.registry)


def apart(now: Collection[float], then: Sequence[float]) -> float:
    """The greatest distance of two distributions, 0 to 1; 0 where either is too small to tell."""
    if len(now) < _FEWEST or not then:
        return 0.0
    ours, theirs = np.sort(np.array(now)), np.sort(np.array(then))
    both = np.concatenate([ours, theirs])
    shares = [np.searchsorted(each, both, "right") / len(each) for each in (ours, theirs)]
    return float(np.abs(shares[0] - shares[1]).max())


def note(scope: Scope, **facts: Any) -> None:
    """Add facts to the log line of a request."""
    scope.setdefault(NOTED, {}).update(facts)


class Watch:
    """An ASGI layer that counts each request, and logs it as one line."""

    def __init__(
        self, app: ASGIApp, figures: Figures, routes: Routes | None = None, access_log: bool = True
    ) -> None:
        self.app, self.figures, self.access_log = app, figures, access_log
        self.routes = routes or Routes(())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer, and measure it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        scope.setdefault(NOTED, {})
        status = 499  # unless something is answered: the client hung up before

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception:
            status = 500
            raise
        finally:
            self._tell(scope, status, time.perf_counter() - began)

    def _tell(self, scope: Scope, status: int, seconds: float) -> None:
        path = self.routes.path(scope)
        self.figures.requests.labels(path, str(status)).inc()
        if status >= 400:
            self.figures.refusals.labels(str(status)).inc()
        if self.access_log:
            facts = {"method": scope["method"], "path": path, "status": status}
            facts |= {"seconds": round(seconds, 4), "id": uuid.uuid4().hex[:12], **scope[NOTED]}
            _log.info("request", extra={"facts": facts})
