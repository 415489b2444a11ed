"""The paths on which people say what is right: questions to label, labels, and the gate they make."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Query, Request, Response

from demur.asking.gates.labels import fits, fresh, labelled, parted
from demur.asking.quoting import asked as words_of
from demur.asking.quoting import quote
from demur.asking.reading import within
from demur.asking.searching import DEPTH
from demur.errors import DemurError, UsageError
from demur.kb.folder import KnowledgeBase
from demur.serving.answering.base import Base
from demur.serving.answering.certifying import calibrated, labels_for_a_gate
from demur.serving.answering.labelling import (
    SHOWN,
    Desk,
    exported,
    keep_new,
    next_question,
    waiting,
)
from demur.serving.messages.base_bodies import (
    CalibrateBody,
    Job,
    Kept,
    LabelBody,
    Labels,
    NextQuestion,
    QuestionsBody,
    Shown,
    Standing,
)
from demur.serving.messages.bodies import Question, Quoted
from demur.serving.messages.problems import Refusal
from demur.serving.paths.documents import REFUSED, _answer
from demur.serving.process.jobs import Job as Running
from demur.serving.server import Server
from demur.types import Candidate, Ranking

T = TypeVar("T")
JSONL = "application/jsonl"
_TRIES = 3  # of asking all labelled questions, while the base changes


def paths(server: Server) -> APIRouter:
    """The router with these paths."""
    router = APIRouter(responses=REFUSED)
    desks: dict[int, Desk] = {}

    def desk(base: Base) -> Desk:
        return desks.setdefault(id(base), Desk(base.qualifier))

    async def ask_all(base: Base, questions: Sequence[str], job: Running | None = None) -> Desk:
        """What is found for each question, asked in its turn among those of others."""
        mine = desk(base)
        for _ in range(_TRIES):
            mine.forget(await asyncio.to_thread(_state, base))
            missing = mine.missing(questions)
            if job is not None:
                job.done = len(questions) - len(missing)
            for question in missing:
                mine.keep(*await _in_turn(server, partial(_found, base, mine, question), job is not None))
                if job is not None:
                    job.done += 1
            if not mine.missing(questions):
                return mine.copy()
        raise UsageError("the knowledge base is being changed; try again when that is over")

    @router.get("/v1/labels", summary="Which risks the labels can promise")
    async def labels() -> Labels:
        """How many questions are labelled, and how many more it takes to promise 20, 10 and 5 %."""
        base = server.base()
        known, stale, left, generation = await server.looked(
            lambda kb: (
                fresh(kb),
                sum(each.stale for each in labelled(kb.labels()).values()),
                len(waiting(kb)),
                kb.generation,
            )
        )
        found = await ask_all(base, [each.question for each in known])
        levels = await asyncio.to_thread(found.standing, known)
        certify = len(parted(known)[0])
        await asyncio.to_thread(base.current)
        return Labels(
            labelled=len(known),
            fit=len(known) - certify,
            certify=certify,
            answerable=sum(bool(each.right) for each in known),
            stale=stale,
            waiting=left,
            levels=[Standing(**each) for each in levels],
            promise=server.ready().promise,
            generation=generation,
        )

    @router.post("/v1/labels", summary="Label passages: which of them answer a question", status_code=201)
    async def label(body: LabelBody) -> Kept:
        """It takes the place of what was said of this question before; with none right, none answers."""
        server.base(True)

        def kept(kb: KnowledgeBase) -> Kept:
            right, wrong = (list(dict.fromkeys(_places(kb, some))) for some in (body.right, body.wrong))
            if both := sorted({*right} & {*wrong}):
                raise UsageError(f"passage {both[0]} cannot be right and wrong; name it in one of the two")
            kb.settle(body.question, right, wrong)
            return Kept(kept=max(1, len(right)))

        return await server.looked(kept)

    @router.delete("/v1/labels", summary="Delete the labels of a question")
    async def unlabel(question: Annotated[str, Query(min_length=1, max_length=20_000)]) -> Kept:
        """It waits to be labelled again."""
        server.base(True)

        def taken(kb: KnowledgeBase) -> Kept:
            if not kb.forget(question):
                raise Refusal(404, "this question has no labels")
            keep_new(kb, [question], logged=True)  # where it is kept already, as what it was
            return Kept(kept=0)

        return await server.looked(taken)

    @router.post("/v1/questions", summary="Add questions to label", status_code=201)
    async def questions(body: QuestionsBody) -> Kept:
        """How many of them are new; too many are refused, and then none of them is kept."""
        server.base(True)
        return await server.looked(lambda kb: Kept(kept=keep_new(kb, body.questions)))

    @router.get("/v1/labels/next", summary="The question to label next")
    async def following(
        request: Request,
        question: Annotated[
            str | None, Query(max_length=20_000, description="Ask for this question only.")
        ] = None,
        skip: Annotated[list[Question] | None, Query(max_length=100, description="Not these.")] = None,
    ) -> NextQuestion:
        """The question that teaches most, or in its turn one by chance, with what was found for it."""
        base = server.base()
        asked, left = await server.looked(
            lambda kb: (question or next_question(kb, skip or ()), len(waiting(kb)))
        )
        if asked is None or not asked.strip():
            return NextQuestion(waiting=left)
        ranking = (await ask_all(base, [asked])).ranking(asked)
        if question:  # anything may be asked so, and not all is kept
            desk(base).drop(asked)
        shown = await server.looked(lambda kb: _shown(kb, ranking))
        part = "fit" if fits(asked) else "certify"
        return NextQuestion(question=asked, part=part, passages=shown, waiting=left)

    @router.get(
        "/v1/labels/export",
        response_class=Response,
        responses={200: {"content": {JSONL: {"schema": {"type": "string"}}}}},
        summary="Labelled questions, for demur train",
    )
    async def export(part: Literal["fit", "certify", "all"] = "fit") -> Response:
        """JSONL, a question a line; without more, those that do not count for the promise."""
        base = server.base()
        known = await server.looked(fresh)
        found = await ask_all(base, [each.question for each in known])
        rows = exported(known, part, found.ranking)
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        return Response(text, media_type=JSONL)

    @router.post(
        "/v1/calibrate",
        response_model=dict[str, Any],
        responses={202: {"model": Job}},
        summary="Calibrate a gate on the labels; it is in force at once",
    )
    async def calibration(body: CalibrateBody) -> Response:
        """The gate's promise; or why there is none, and how many more labels it takes."""
        base = server.base(True)
        if any(job.kind == "calibrate" for job in server.jobs.running()):
            raise Refusal(429, "a gate is being calibrated already; try again when that is over", 5)

        async def work(job: Running) -> dict[str, Any]:
            known = await server.looked(labels_for_a_gate)
            job.total = len(known)
            found = await ask_all(base, [each.question for each in known], job)
            gate = await asyncio.to_thread(calibrated, base, found, known, body.risk, body.confidence)
            await asyncio.to_thread(base.keep, gate)
            await asyncio.to_thread(base.current)
            return {
                "promise": server.ready().promise,
                "threshold": gate.plain_threshold,
                "certificate": dict(gate.certificate),
            }

        return await _answer(server, server.jobs.start("calibrate", f"{body.risk:g}", work), 200)

    return router


async def _in_turn(server: Server, work: Callable[[], T], patient: bool) -> T:
    """What the work on one question comes to; a patient one waits until there is room in the queue."""
    while True:
        try:
            return await server.queue.do(DEPTH, work)
        except Refusal as full:
            if not patient or full.status != 429 or server.stopping.is_set():
                raise
            await asyncio.sleep(1)


def _found(base: Base, desk: Desk, question: str) -> tuple[str, str, Ranking, float]:
    state, ranking = base.find(question)
    return state, question, ranking, desk.confidence(ranking)


def _state(base: Base) -> str:
    base.current()
    found: str = base.search.fingerprint
    return found


def _places(kb: KnowledgeBase, passages: Sequence[int | str]) -> list[int]:
    """The places that are meant, by numbers or by the ids that answers have."""
    found = []
    for each in passages:
        if isinstance(each, int):
            try:
                kb.passage(each)
            except (DemurError, OverflowError):
                raise UsageError(f"there is no passage {each}; it may have been removed") from None
            found.append(each)
            continue
        places = kb.places(each)
        if len(places) != 1:
            what = f"there is no passage {each[:200]!r}"
            if places:
                what = f"{len(places)} passages have the id {each[:200]!r}; name one by its number"
            raise UsageError(what)
        found += places
    return found


def _place(kb: KnowledgeBase, one: Candidate) -> int | None:
    """Where a passage is that was found; other files may have one of the same id and text."""
    told = one.id, one.text, one.extra["source"], one.extra["heading"]
    for place in kb.places(one.id):
        each = kb.passage(place)
        if (each.id, each.text, each.source, each.heading) == told:
            return place
    return None


def _shown(kb: KnowledgeBase, ranking: Ranking) -> list[Shown]:
    """The best passages, with the sentence that shares the weightiest words.

    Rows of an FAQ and other passages take turns, so that neither kind hides the other.
    """
    words = words_of(ranking.question, kb.stem)
    weights = {word: kb.idf(word) for word in words}
    shown: list[Shown] = []
    for one in _in_turns(ranking):
        place = _place(kb, one)
        if place is None or any(each.passage == place for each in shown):
            continue
        span = quote(one.text, weights, kb.stem)
        look = one.extra.get("look")
        if look is not None:
            above = len(one.extra["heading"]) + 1 if one.extra["heading"] else 0
            span = within(look.span, above, one.text) or span
        shown.append(
            Shown(
                passage=place,
                text=one.text,
                heading=one.extra["heading"],
                source=one.extra["source"],
                line=one.extra["line"],
                span=None if span is None else Quoted(start=span.start, end=span.end, text=span.text),
            )
        )
        if len(shown) == SHOWN:
            break
    return shown


def _in_turns(ranking: Ranking) -> list[Candidate]:
    """What was found, the first and every other one of its kind: rows of an FAQ, and all else."""
    row = [bool(one.extra.get("question")) for one in ranking.candidates]
    kinds = [
        [one for one, its in zip(ranking.candidates, row, strict=True) if its is kind]
        for kind in (True, False)
    ]
    if row and not row[0]:
        kinds.reverse()
    return [one for pair in zip_longest(*kinds) for one in pair if one is not None]
