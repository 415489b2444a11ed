"""The paths that rank given texts, in the words of TEI, Cohere, Jina and vLLM."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request

from demur.asking.plain import finite
from demur.logistic import expit
from demur.serving.answering.reads import Read
from demur.serving.answering.service import Service
from demur.serving.answering.together import Waiting
from demur.serving.messages.bodies import (
    EitherBody,
    Judged,
    RelevantSpan,
    RelevantSpans,
    RerankAnswer,
    RerankBody,
    RerankResult,
    TeiResult,
    Text,
)
from demur.serving.messages.problems import Refusal, responses
from demur.serving.process.metrics import Figures
from demur.serving.server import Server
from demur.types import Ranking

_LEAST = 0.1  # of a quote's score, where the client names none; as Cohere has it
REFUSED = responses(401, 403, 408, 413, 415, 422, 429, 503)


@dataclass(frozen=True)
class _Ranked:
    """A ranking, cut to what is wanted, with the gate's word and the quotes of what is left."""

    ranking: Ranking
    judged: Judged | None
    reads: Sequence[Read] = ()


def paths(server: Server) -> APIRouter:
    """The router with these paths."""
    router = APIRouter(responses=REFUSED)

    async def ranked(
        request: Request, query: str, texts: list[str], top: int | None, quotes: bool
    ) -> _Ranked:
        server.heard(request, query)
        with server.together.waiting(query, texts) as waiting:

            def work(service: Service) -> _Ranked:
                return _rank(service, waiting, top, quotes, server.figures)

            found = await server.do(request, max(1, waiting.pairs), work)
        if found.judged is not None:
            server.figures.judged("rerank", found.judged.abstained, found.judged.confidence)
        return found

    async def cohere(request: Request, body: RerankBody, shown: bool) -> RerankAnswer:
        texts = [each if isinstance(each, str) else each.text for each in body.documents]
        wanted = body.relevant_spans
        if wanted is not None and wanted.mode == "disabled":
            wanted = None
        found = await ranked(request, body.query, texts, body.top_n, wanted is not None)
        name = body.model or server.ready().given.ranker.spec
        return _answer(found, name, body.query, texts, shown, wanted)

    @router.post(
        "/rerank", response_model_exclude_none=True, summary="Rank texts (TEI) or documents (Cohere)"
    )
    async def rerank(request: Request, body: EitherBody) -> list[TeiResult] | RerankAnswer:
        """A list for `texts`, an object with `results` for `documents`."""
        if body.documents is not None and body.texts is not None:
            raise Refusal(422, "texts and documents are both there; send one of them")
        if body.documents is not None:
            same = RerankBody.model_validate(body.model_dump())
            return await cohere(request, same, body.return_documents is not False)
        if body.texts is None:
            raise Refusal(422, "there is nothing to rank; send texts, or documents")
        found = await ranked(request, body.query, body.texts, body.top_n, False)
        results = [
            TeiResult(
                index=int(candidate.id),
                score=score if body.raw_scores else relevance(score),
                text=candidate.text if body.return_text else None,
            )
            for candidate, score in found.ranking
        ]
        if results:
            results[0].demur = found.judged
        return results

    @router.post(
        "/v1/rerank", response_model_exclude_none=True, summary="Rank documents (Cohere v1, Jina, vLLM)"
    )
    async def rerank_v1(request: Request, body: RerankBody) -> RerankAnswer:
        """Results with their documents, unless `return_documents` is false."""
        return await cohere(request, body, body.return_documents is not False)

    @router.post("/v2/rerank", response_model_exclude_none=True, summary="Rank documents (Cohere v2)")
    async def rerank_v2(request: Request, body: RerankBody) -> RerankAnswer:
        """Results; with `relevant_spans`, each with the words that answer."""
        return await cohere(request, body, body.return_documents is True)

    return router


def relevance(score: float) -> float:
    """A score as a number from 0 to 1, in the same order: the logistic function, as TEI has it."""
    return float(expit(score))


def _rank(
    service: Service,
    waiting: Waiting,
    top: int | None,
    quotes: bool,
    figures: Figures,
) -> _Ranked:
    given, query = service.given, waiting.pool.question
    with figures.timed("score"):
        ranking = given.rank(query, waiting.pool.answers, waiting)
        verdict = given.verdict(ranking)
    judged = None
    if verdict is not None and given.gate is not None:
        judged = Judged(
            abstained=bool(verdict.refusal),
            reason=verdict.refusal or None,
            confidence=finite(verdict.confidence),
            certificate=dict(given.gate.certificate),
        )
    left = Ranking(query, ranking.candidates[:top], ranking.scores[:top])
    if not quotes:
        return _Ranked(left, judged)
    with figures.timed("quote"):
        return _Ranked(left, judged, given.read(query, [each.text for each, _ in left]))


def _answer(
    found: _Ranked, model: str, query: str, texts: Sequence[str], shown: bool, wanted: RelevantSpans | None
) -> RerankAnswer:
    results = [
        RerankResult(
            index=int(candidate.id),
            relevance_score=relevance(score),
            document=Text(text=candidate.text) if shown else None,
        )
        for candidate, score in found.ranking
    ]
    if wanted is not None:
        for result, read in zip(results, found.reads, strict=True):
            result.relevant_spans = _spans(read, wanted)
    meta: dict[str, Any] = {"api_version": {"version": "2"}, "billed_units": {"search_units": 0}}
    words = sum(len(text.split()) for text in (query, *texts))
    return RerankAnswer(
        id=str(uuid.uuid4()),
        model=model,
        results=results,
        meta=meta,
        usage={"total_tokens": words},
        demur=found.judged,
    )


def _spans(read: Read, wanted: RelevantSpans) -> list[RelevantSpan]:
    """The quotes of a text in which the answer is."""
    if not read.answers:
        return []
    kept = read.apart(wanted.max_spans, _LEAST if wanted.threshold is None else wanted.threshold)
    return [RelevantSpan(start=span.start, end=span.end, score=score) for span, score in kept]
