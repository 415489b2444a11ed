"""The rerankers of LangChain, LlamaIndex and Haystack."""

from __future__ import annotations

import os
from typing import Any

from tools.clients.server import KEY, QUESTION, TEXTS, Running

_MODEL = "any"
_COHERE_TRIES = 3  # its client asks twice more, as late as it is told to
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
os.environ["DO_NOT_TRACK"] = "1"


def langchain_cohere(server: Running) -> str:
    """langchain-cohere: `rerank` and `compress_documents`."""
    from cohere.core import ApiError
    from langchain_cohere import CohereRerank
    from langchain_core.documents import Document

    def made(key: str) -> Any:
        return CohereRerank(base_url=server.url, cohere_api_key=key, model=_MODEL, top_n=len(TEXTS))

    def rank(key: str, question: str, texts: list[str]) -> list[tuple[int, float]]:
        return [(each["index"], each["relevance_score"]) for each in made(key).rerank(texts, question)]

    server.tried(rank, (ApiError,), _COHERE_TRIES)
    found = made(KEY).compress_documents([Document(text) for text in TEXTS], QUESTION)
    assert [each.page_content for each in found] == [TEXTS[n] for n in server.order]
    return "rerank and compress_documents rank as demur rank; errors are cohere's own"


def llama_index_cohere(server: Running) -> str:
    """llama-index-postprocessor-cohere-rerank."""
    from cohere.core import ApiError
    from llama_index.postprocessor.cohere_rerank import CohereRerank

    def made(key: str) -> Any:
        return CohereRerank(base_url=server.url, api_key=key, model=_MODEL, top_n=len(TEXTS))

    return _llama_index(server, made, (ApiError,), _COHERE_TRIES, "cohere's own")


def llama_index_jinaai(server: Running) -> str:
    """llama-index-postprocessor-jinaai-rerank."""
    from llama_index.postprocessor.jinaai_rerank import JinaRerank

    def made(key: str) -> Any:
        return JinaRerank(base_url=f"{server.url}/v1", api_key=key, model=_MODEL, top_n=len(TEXTS))

    return _llama_index(server, made, (RuntimeError,), 1, "its RuntimeError with our words")


def llama_index_tei(server: Running) -> str:
    """llama-index-postprocessor-tei-rerank; it looks at no status, and has no error of its own."""
    from llama_index.postprocessor.tei_rerank import TextEmbeddingInference

    def made(key: str) -> Any:
        return TextEmbeddingInference(base_url=server.url, auth_token=f"Bearer {key}", top_n=len(TEXTS))

    return _llama_index(
        server, made, (TypeError, AssertionError), 1, "what it makes of any error: a TypeError"
    )


def _llama_index(
    server: Running, made: Any, errors: tuple[type[BaseException], ...], tries: int, told: str
) -> str:
    from llama_index.core.schema import NodeWithScore, TextNode

    def rank(key: str, question: str, texts: list[str]) -> list[tuple[int, float]]:
        nodes = [NodeWithScore(node=TextNode(text=text, id_=str(n)), score=0) for n, text in enumerate(texts)]
        found = made(key).postprocess_nodes(nodes, query_str=question)
        return [(int(each.node.node_id), each.score) for each in found]

    server.tried(rank, errors, tries)
    return f"postprocess_nodes ranks as demur rank; errors are {told}"


def haystack_tei(server: Running) -> str:
    """huggingface-api-haystack."""
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.huggingface_api import HuggingFaceTEIRanker

    def made(key: str) -> Any:
        return HuggingFaceTEIRanker(url=server.url, token=Secret.from_token(key), top_k=len(TEXTS))

    return _haystack(server, made, (RuntimeError,), 3)


def haystack_cohere(server: Running) -> str:
    """cohere-haystack."""
    from cohere.core import ApiError
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.cohere import CohereRanker

    def made(key: str) -> Any:
        return CohereRanker(
            model=_MODEL, api_base_url=server.url, api_key=Secret.from_token(key), top_k=len(TEXTS)
        )

    return _haystack(server, made, (ApiError,), _COHERE_TRIES)


def haystack_jina(server: Running) -> str:
    """jina-haystack."""
    from haystack.utils import Secret
    from haystack_integrations.components.rankers.jina import JinaRanker

    def made(key: str) -> Any:
        return JinaRanker(
            model=_MODEL, base_url=f"{server.url}/v1/rerank", api_key=Secret.from_token(key), top_k=len(TEXTS)
        )

    return _haystack(server, made, (RuntimeError,), 1)


def _haystack(server: Running, made: Any, errors: tuple[type[BaseException], ...], tries: int) -> str:
    from haystack import Document

    def rank(key: str, question: str, texts: list[str]) -> list[tuple[int, float]]:
        given = [Document(id=str(n), content=text) for n, text in enumerate(texts)]
        found = made(key).run(query=question, documents=given)["documents"]
        return [(int(each.id), each.score) for each in found]

    server.tried(rank, errors, tries)
    return f"ranks as demur rank; errors are {errors[0].__name__}"
