"""huggingface_hub, cohere and litellm."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from tools.clients.server import KEY, LARGE, QUESTION, QUOTED, TEXTS, Running

_COHERE_TRIES = 3  # its client asks twice more, as late as it is told to


def hugging_face(server: Running) -> str:
    """huggingface_hub: question answering, with and without an answer, and its own errors."""
    from huggingface_hub import InferenceClient
    from huggingface_hub.errors import HfHubHTTPError

    def asked(key: str = KEY, question: str = QUESTION, context: str = TEXTS[1], **more: Any) -> Any:
        client = InferenceClient(model=server.url, token=key)
        return client.question_answering(question=question, context=context, **more)

    found = asked()
    assert (found.answer, TEXTS[1][found.start : found.end]) == (QUOTED, QUOTED), found
    nothing = asked(context=TEXTS[3], handle_impossible_answer=True)
    assert nothing.answer == "", nothing
    server.refused(lambda: asked(key="wrong"), HfHubHTTPError, 401)
    server.refused(lambda: asked(question=" "), HfHubHTTPError, 422)
    server.refused(lambda: asked(context=LARGE), HfHubHTTPError, 413)
    with server.busy():
        server.refused(asked, HfHubHTTPError, 429)
    return "quoted, found no answer where there is none; all its errors are its own"


def cohere(server: Running) -> str:
    """cohere: v1 and v2, relevant spans, and its own errors."""
    import cohere as sdk
    from cohere.core import ApiError
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

    def asks(version: Any, key: str = KEY, **other: Any) -> Callable[[], Any]:
        body = {"model": "any", "query": QUESTION, "documents": TEXTS, **other}
        return lambda: version(key, base_url=server.url).rerank(**body)

    at_once = {"max_retries": 0}
    for version in (sdk.Client, sdk.ClientV2):
        server.refused(asks(version, "wrong"), UnauthorizedError, 401)
        server.refused(asks(version, query=" "), UnprocessableEntityError, 422)
        server.refused(asks(version, documents=[LARGE, *TEXTS]), ApiError, 413)  # it has no other for this
    with server.busy(throughout=False):
        for version in (sdk.Client, sdk.ClientV2):
            server.refused(asks(version, request_options=at_once), TooManyRequestsError, 429)
        server.patient(asks(sdk.ClientV2), TooManyRequestsError, _COHERE_TRIES)
    return "v1 and v2 rank as demur rank, spans are quotes; all its errors are its own"


def litellm(server: Running) -> str:
    """litellm: as Cohere, Jina, vLLM and Hugging Face, and its own errors."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # nothing is fetched from elsewhere
    import litellm as sdk

    sdk.suppress_debug_info = True
    sdk.telemetry = False
    paths = {"cohere/any": "", "jina_ai/any": "/v1/rerank", "hosted_vllm/any": "", "huggingface/any": ""}

    def asks(
        model: str, key: str = KEY, query: str = QUESTION, texts: list[str] = TEXTS
    ) -> Callable[[], Any]:
        base = f"{server.url}{paths[model]}"
        return lambda: sdk.rerank(
            model=model, query=query, documents=texts, top_n=4, api_base=base, api_key=key
        )

    for model in paths:
        found = asks(model)()
        server.same([(each["index"], each["relevance_score"]) for each in found.results])
        server.refused(asks(model, key="wrong"), sdk.AuthenticationError, 401)
        bad = (sdk.BadRequestError, sdk.APIError)  # which of both depends on whom it takes the server for
        server.refused(asks(model, query=" "), bad, 422)
        server.refused(asks(model, texts=[LARGE, *TEXTS]), bad, 413)
    with server.busy():
        for model in paths:
            server.refused(asks(model), sdk.RateLimitError, 429)
    return "as Cohere, Jina, vLLM and Hugging Face it ranks as demur rank; all its errors are its own"
