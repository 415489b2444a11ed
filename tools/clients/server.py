"""The server that clients ask, what they should get, and how their errors are tried."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

KEY = "a-key-for-clients-only"
QUESTION = "How long may members keep a drill?"
TEXTS = [
    "The workshop opens at nine and closes at six, except on Sundays.",
    "Members may keep a drill for two weeks. Longer loans need the warden's word.",
    "A drill turns a bit to make holes; it was patented in 1889.",
    "Nobody may eat at the benches.",
]
QUOTED = "two weeks"
LARGE = "x" * 3_000_000
_ROOM = 500  # pairs that the server holds
_TEXTS = 50  # that fill it: each is so long that it counts for ten pairs
_BODY = "2"  # megabytes that it takes
_LONG = 120  # how often a text is repeated to keep the server busy

Rank = Callable[[str, str, list[str]], list[tuple[int, float]]]
"""Places and scores that a client got, best first, with a key, for a question and texts."""


@dataclass(frozen=True)
class Running:
    """A server, and the order and the scores that `demur rank` gives the texts."""

    url: str
    order: list[int]
    scores: list[float]

    def same(self, found: list[tuple[int, float]]) -> None:
        """Check that a client got the order and the scores of `demur rank`."""
        assert [place for place, _ in found] == self.order, found
        for (_, score), expected in zip(found, self.scores, strict=True):
            assert abs(score - 1 / (1 + exp(-expected))) < 1e-3, found

    def requests(self) -> int:
        """How many requests to rank or to quote have come so far."""
        with urlopen(f"{self.url}/metrics") as page:
            text = page.read().decode()
        lines = re.findall(r'^demur_requests_total\{path="([^"]*)",.*\} (\S+)$', text, re.M)
        return sum(int(float(count)) for path, count in lines if path not in ("/metrics", "/ready"))

    @contextmanager
    def busy(self, throughout: bool = True) -> Iterator[None]:
        """A block at whose start the queue is full, and throughout it where that is asked for."""
        body = {"query": QUESTION, "texts": [f"{n} {TEXTS[1]}" * _LONG for n in range(_TEXTS)]}
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        asked = Request(f"{self.url}/rerank", json.dumps(body).encode(), head)

        def ask() -> None:
            with suppress(HTTPError):  # on a slow machine its time may be over before it is done
                urlopen(asked).read()

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            while asking.is_alive() and self._waiting() < _ROOM:
                pass
            assert self._waiting() == _ROOM, "the queue was never full"
            yield
            assert self._waiting() == _ROOM or not throughout, "the queue was not full all the time"
        finally:
            asking.join()
            while self._waiting():
                time.sleep(0.1)

    def refused(
        self,
        call: Callable[[], Any],
        errors: type[BaseException] | tuple[type[BaseException], ...],
        status: int,
    ) -> None:
        """Check that a call ends with one of these errors, which knows the status, after one request."""
        before = self.requests()
        error = fails(call, *(errors if isinstance(errors, tuple) else (errors,)))
        told = getattr(error, "status_code", None) or getattr(error, "response", None)
        assert getattr(told, "status_code", told) == status, f"{error!r} instead of {status}"
        assert self.requests() - before == 1, "it asked again though that cannot help"

    def patient(self, call: Callable[[], Any], error: type[BaseException], tries: int) -> None:
        """Check that a call asks a full queue so many times at most; it may have its answer by then."""
        before = self.requests()
        with suppress(error):
            call()
        # the request that keeps the server busy may have ended, and is counted then
        assert self.requests() - before <= tries + 1, "it asked again and again"

    def tried(self, rank: Rank, errors: tuple[type[BaseException], ...], tries: int = 1) -> None:
        """Check that a client ranks as `demur rank` does, and raises these errors after one request each.

        When the queue is full, a client may ask so many times in all; it may have its answer by then.
        """
        self.same(rank(KEY, QUESTION, TEXTS))
        for key, question, texts in (
            ("wrong", QUESTION, TEXTS),
            (KEY, " ", TEXTS),
            (KEY, QUESTION, [LARGE, *TEXTS[1:]]),
        ):
            before = self.requests()
            fails(lambda: rank(key, question, texts), *errors)  # noqa: B023
            assert self.requests() - before == 1, "it asked again though that cannot help"
        with self.busy(throughout=tries == 1):
            before = self.requests()
            try:
                self.same(rank(KEY, QUESTION, TEXTS))
                assert tries > 1, "no error came"
            except errors:
                pass
            # the request that keeps the server busy may have ended, and is counted then
            assert self.requests() - before <= tries + (tries > 1), "it asked again and again"

    def _waiting(self) -> int:
        """How many pairs the queue holds."""
        with urlopen(f"{self.url}/metrics") as page:
            found = re.search(r"^demur_queue_pairs (\S+)$", page.read().decode(), re.M)
        assert found is not None
        return int(float(found[1]))


def fails(call: Callable[[], Any], *kinds: type[BaseException]) -> BaseException:
    """The error that a call ends with, of one of these kinds."""
    try:
        call()
    except kinds as error:
        return error
    raise AssertionError("no error came")


@contextmanager
def served(demur: str) -> Iterator[Running]:
    """A server with a key, and little room."""
    lines = "\n".join(TEXTS)
    command = [demur, "rank", QUESTION, "--candidates", "-", "--ranker", "mini", "--json"]
    ranked = json.loads(
        subprocess.run(command, input=lines, capture_output=True, text=True, check=True).stdout
    )
    order = [TEXTS.index(each["text"]) for each in ranked["ranking"]]
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder, "keys.txt")
        keys.write_text(KEY, "utf-8")
        words = ["--port", "0", "--key-file", str(keys), "--queue", str(_ROOM), "--max-body", _BODY]
        with subprocess.Popen([demur, "serve", *words], stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                url = process.stderr.readline().split()[3].rstrip(";")
                while '"ready"' not in process.stderr.readline():
                    pass
                drain = threading.Thread(target=process.stderr.read)
                drain.start()
                yield Running(url, order, [each["score"] for each in ranked["ranking"]])
            finally:
                process.terminate()
                drain.join()
        assert process.returncode == 0, "the server did not end well"
