"""The paths that answer questions: about one text that is given, and about the server's documents."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, BackgroundTasks, Request

from demur.asking import as_plain
from demur.asking.plain import finite
from demur.asking.searching import DEPTH
from demur.serving.answering.reads import Read
from demur.serving.answering.service import Service
from demur.serving.messages.bodies import AskAnswer, AskBody, Judged, QaAnswer, QaBody, pairs
from demur.serving.messages.problems import responses
from demur.serving.server import Server
from demur.types import Abstention, Answer

REFUSED = responses(401, 403, 408, 413, 415, 422, 429, 503)


def paths(server: Server) -> APIRouter:
    """The router with these paths."""
    router = APIRouter(responses=REFUSED)

    @router.post("/", response_model_exclude_none=True, summary="Quote the answer (Hugging Face)")
    async def question_answering(request: Request, body: QaBody) -> QaAnswer | list[QaAnswer]:
        """The best quote; with `top_k` above 1 a list of the best."""
        asked = body.inputs
        top = (body.parameters and body.parameters.top_k) or 1
        impossible = bool(body.parameters and body.parameters.handle_impossible_answer)
        words = body.parameters.max_answer_len if body.parameters else None
        server.heard(request, asked.question)

        def quote(service: Service) -> Read:
            with server.figures.timed("quote"):
                return service.given.read(asked.question, [asked.context])[0]

        read = await server.do(request, pairs([asked.context]), quote)
        found = _quoted(read, top, impossible, words)
        return found if top > 1 else found[0]

    @router.post(
        "/v1/ask", responses=responses(404), summary="Answer from the documents of the server, or say why not"
    )
    async def ask(request: Request, body: AskBody, after: BackgroundTasks) -> AskAnswer:
        """What `demur ask --json` says."""
        server.heard(request, body.question)

        def answer(service: Service) -> Answer | Abstention:
            with server.figures.timed("ask"):
                return service.ask(body.question, body.top or 5, body.risk, body.kb)

        result = await server.do(request, DEPTH, answer)
        plain: dict[str, Any] = as_plain(result)
        server.figures.judged("ask", plain["abstained"], plain["confidence"], plain["threshold"])
        if server.settings.keep_questions and server.ready().base is not None:
            after.add_task(server.kept, body.question)
        return AskAnswer.model_validate(plain)

    return router


def _quoted(read: Read, top: int, impossible: bool, words: int | None) -> list[QaAnswer]:
    """The best quotes; where none answers and that may be said, an empty one, by its score among them."""
    judged = Judged(abstained=not read.answers, confidence=finite(read.confidence))
    found = [
        QaAnswer(answer=span.text, score=score, start=span.start, end=span.end)
        for span, score in read.apart(top, words=words)
    ]
    nothing = QaAnswer(answer="", score=read.nothing, start=0, end=0)
    if not found or (impossible and not read.answers):
        found.insert(0, nothing)
    found[0].demur = judged
    return found[:top]
