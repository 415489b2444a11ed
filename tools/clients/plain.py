"""huggingface_hub, cohere and litellm."""

from __future__ import annotations

import os

from tools.clients.server import KEY, LARGE, QUESTION, QUOTED, TEXTS, Running, fails


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
    error = fails(lambda: client.question_answering(question=QUESTION, context=LARGE), HfHubHTTPError)
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
