"""Asks `demur serve` with clients that know nothing of it; says what each did, and exits 1 if one failed.

It runs in a place of its own, which `make clients` builds, and starts the server of another one. What clients
get is compared with `demur rank`, and requests are counted, so that none asks again and again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEY = "a-key-for-clients-only"
QUESTION = "How long may members keep a drill?"
TEXTS = [
    "The workshop opens at nine and closes at six, except on Sundays.",
    "Members may keep a drill for two weeks. Longer loans need the warden's word.",
    "A drill turns a bit to make holes; it was patented in 1889.",
    "Nobody may eat at the benches.",
]
QUOTED = "two weeks"


@dataclass(frozen=True)
class Running:
    """A server, and the order and the scores that `demur rank` gives the texts."""

    url: str
    order: list[int]
    scores: list[float]

    def same(self, found: list[tuple[int, float]], share: bool = True) -> None:
        """Nothing, if a client got the order and the scores of `demur rank`."""
        assert [place for place, _ in found] == self.order, found
        for (_, score), expected in zip(found, self.scores, strict=True):
            assert abs(score - (_logistic(expected) if share else expected)) < 1e-3, found

    def requests(self) -> int:
        """How many requests to rank or to quote have come so far."""
        with urllib.request.urlopen(f"{self.url}/metrics") as page:
            text = page.read().decode()
        lines = re.findall(r'^demur_requests_total\{path="([^"]*)",.*\} (\S+)$', text, re.M)
        return sum(int(float(count)) for path, count in lines if path not in ("/metrics", "/ready"))

    @contextmanager
    def busy(self) -> Iterator[None]:
        """A block during which the queue is full."""
        body = {"query": QUESTION, "texts": [f"{n} {TEXTS[1]}" * 120 for n in range(_ROOM)]}
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
        asked = urllib.request.Request(f"{self.url}/rerank", json.dumps(body).encode(), head)
        asking = threading.Thread(target=lambda: urllib.request.urlopen(asked).read())
        asking.start()
        while asking.is_alive() and not self._full():
            pass
        assert asking.is_alive(), "the queue was never full"
        yield
        assert asking.is_alive(), "the queue was not full all the time"
        asking.join()

    def _full(self) -> bool:
        with urllib.request.urlopen(f"{self.url}/metrics") as page:
            return f"demur_queue_pairs {_ROOM}.0" in page.read().decode()


_ROOM = 50  # pairs that the server holds
_BODY = "2"  # megabytes that it takes


def _logistic(score: float) -> float:
    from math import exp

    return 1 / (1 + exp(-score))


def fails(call: Callable[[], Any], *kinds: type[BaseException]) -> BaseException:
    """The error that a call ends with, of one of these kinds."""
    try:
        call()
    except kinds as error:
        return error
    raise AssertionError("no error came")


def hugging_face(server: Running) -> str:
    """huggingface_hub: question answering, with and without an answer, and its own errors."""
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import HfHubHTTPError

    client = InferenceClient(model=server.url, token=KEY)
    found = client.question_answering(question=QUESTION, context=TEXTS[1])
    assert not isinstance(found, list)
    assert (found.answer, TEXTS[1][found.start : found.end]) == (QUOTED, QUOTED), found
    nothing = client.question_answering(question=QUESTION, context=TEXTS[3], handle_impossible_answer=True)
    assert not isinstance(nothing, list) and nothing.answer == "", nothing
    wrong = InferenceClient(model=server.url, token="wrong")
    before = server.requests()
    error = fails(lambda: wrong.question_answering(question=QUESTION, context=TEXTS[1]), HfHubHTTPError)
    assert isinstance(error, HfHubHTTPError) and error.response.status_code == 401
    large = "x" * 3_000_000
    error = fails(lambda: client.question_answering(question=QUESTION, context=large), HfHubHTTPError)
    assert isinstance(error, HfHubHTTPError) and error.response.status_code == 413
    assert server.requests() - before == 2
    return "quoted, found no answer where there is none, was refused for its key and for its size"


def cohere(server: Running) -> str:
    """cohere: v1 and v2, relevant spans, and its own errors."""
    import cohere as sdk
    from cohere.errors import TooManyRequestsError, UnauthorizedError, UnprocessableEntityError

    one = sdk.Client(KEY, base_url=server.url)
    old = one.rerank(model="any", query=QUESTION, documents=TEXTS, return_documents=True)
    server.same([(each.index, each.relevance_score) for each in old.results])
    assert [each.document.text for each in old.results] == [TEXTS[n] for n in server.order]
    two = sdk.ClientV2(KEY, base_url=server.url)
    new = two.rerank(
        model="any", query=QUESTION, documents=TEXTS, relevant_spans=sdk.RerankRelevantSpans(mode="enabled")
    )
    server.same([(each.index, each.relevance_score) for each in new.results])
    span = new.results[0].relevant_spans[0]
    assert TEXTS[new.results[0].index][span.start : span.end] == QUOTED, span
    before = server.requests()
    wrong = sdk.ClientV2("wrong", base_url=server.url)
    fails(lambda: wrong.rerank(model="any", query=QUESTION, documents=TEXTS), UnauthorizedError)
    fails(lambda: two.rerank(model="any", query=" ", documents=TEXTS), UnprocessableEntityError)
    assert server.requests() - before == 2
    with server.busy():
        before, at_once = server.requests(), {"max_retries": 0}
        ask = lambda: two.rerank(model="any", query=QUESTION, documents=TEXTS, request_options=at_once)  # noqa: E731
        fails(ask, TooManyRequestsError)
        assert server.requests() - before == 1
    return (
        "v1 and v2 rank as demur rank, spans are quotes; wrong key, bad body and overload are its own errors"
    )


def litellm(server: Running) -> str:
    """litellm: as Cohere, Jina, vLLM and Hugging Face, and its own errors."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched from elsewhere
    import litellm as sdk

    sdk.suppress_debug_info = True
    sdk.telemetry = False
    for model, path in (
        ("cohere/any", ""),
        ("jina_ai/any", "/v1/rerank"),
        ("hosted_vllm/any", ""),
        ("huggingface/any", ""),
    ):
        base = f"{server.url}{path}"
        found = sdk.rerank(model=model, query=QUESTION, documents=TEXTS, top_n=4, api_base=base, api_key=KEY)
        server.same([(each["index"], each["relevance_score"]) for each in found.results])
    before = server.requests()
    asked = {"model": "cohere/any", "query": QUESTION, "documents": TEXTS, "api_base": server.url}
    fails(lambda: sdk.rerank(**asked, api_key="wrong"), sdk.AuthenticationError)
    assert server.requests() - before == 1
    with server.busy():
        before = server.requests()
        fails(lambda: sdk.rerank(**asked, api_key=KEY), sdk.RateLimitError)
        assert server.requests() - before == 1
    return "as Cohere, Jina, vLLM and Hugging Face it ranks as demur rank; errors are its own"


CLIENTS = (hugging_face, cohere, litellm)


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


def main() -> int:
    """How many clients failed."""
    failed = 0
    with served(sys.argv[1]) as server:
        for client in CLIENTS:
            try:
                print(f"ok    {client.__name__}: {client(server)}", flush=True)
            except Exception as error:
                failed += 1
                where = error.__traceback__ and error.__traceback__.tb_next
                line = where.tb_lineno if where else 0
                print(f"FAIL  {client.__name__}, line {line}: {type(error).__name__}: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
