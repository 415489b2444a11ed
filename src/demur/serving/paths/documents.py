"""The paths that change what is asked: documents are sent, listed, removed and read again."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from demur.asking.meaning import finding
from demur.errors import DataError, DemurError, count_of
from demur.kb.folder import KnowledgeBase
from demur.serving.answering.base import Base
from demur.serving.answering.service import Service
from demur.serving.guards import uploads
from demur.serving.guards.uploads import Sent, Unreadable
from demur.serving.messages.base_bodies import Changed, Document, Documents, Job
from demur.serving.messages.problems import Refusal, responses
from demur.serving.process.jobs import Job as Running
from demur.serving.server import Server, busy

REFUSED = responses(401, 403, 404, 408, 413, 415, 422, 429, 503)
_WAIT = 2.0  # seconds that a request waits for its job; then it is told the job
_LOOK = 5.0  # seconds between two looks for passages without vectors, which others may have added
_SENT = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
Name = Annotated[str, Query(max_length=1000, description="The document's name.")]
_log = logging.getLogger("demur.serving")


class _Stopped(Exception):
    """The server is told to stop; the vectors that were made are kept."""


def paths(server: Server) -> APIRouter:
    """The router with these paths."""
    router = APIRouter(responses=REFUSED)

    @router.get("/v1/documents", summary="What is in the knowledge base")
    async def documents(
        offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> Documents:
        """Each document with the number of its passages, in the order of their names."""
        base = server.base()

        def seen(kb: KnowledgeBase) -> Documents:
            rows = kb.sources()
            return Documents(
                generation=kb.generation,
                passages=len(kb),
                embedded=base.embedded(kb),
                total=len(rows),
                documents=[
                    Document(name=name, kind=kind, passages=count)
                    for name, kind, count in rows[offset : offset + limit]
                ],
                jobs=[Job(**each.plain()) for each in server.jobs.running()],
            )

        return await server.looked(seen)

    @router.post(
        "/v1/documents",
        status_code=201,
        response_model=Changed,
        responses={202: {"model": Job}},
        openapi_extra=_SENT,
        summary="Add a document, or send a newer version of it",
    )
    async def add(request: Request, name: Name) -> Response:
        """The body is the file as it is; once it is in, it is found by its words."""
        base = server.base(True)
        server.writer.check_room()
        if request.headers.get("content-type", "").startswith("multipart/"):
            what = "a form is not taken; send the file itself as the body"
            raise Refusal(415, f"{what}, as with curl --data-binary @FILE and ?name=FILE")
        called, body = uploads.checked_name(name), await request.body()
        upload = await asyncio.to_thread(uploads.spooled, base.uploads, called, body)
        return await _answer_sent(server, upload, 201)

    @router.delete(
        "/v1/documents",
        response_model=Changed,
        responses={202: {"model": Job}},
        summary="Remove a document",
    )
    async def remove(name: Name) -> Response:
        """It is not found any more; a file on the disk stays where it is."""
        base = server.base(True)
        server.writer.check_room()

        def check(kb: KnowledgeBase) -> str:
            kb.check_writable()
            return uploads.check_there(kb, name)

        called = uploads.plain(name)
        if not any(job.kind == "add" and job.about == called for job in server.jobs.running()):
            called = await server.looked(
                check
            )  # nobody waits for those who write, to be told that it is not there
        removal = await asyncio.to_thread(uploads.removal, base.uploads, called)
        return await _answer_sent(server, removal, 200)

    @router.post(
        "/v1/documents/update",
        status_code=202,
        response_model=Job,
        summary="Read again the files and folders that were added on the command line",
    )
    async def update() -> Response:
        """A job; only what has changed is read."""
        server.base(True)
        server.writer.check_room()
        await server.looked(KnowledgeBase.check_writable)

        async def work(job: Running) -> dict[str, Any]:
            reports = await server.written(lambda kb: kb.update(lambda many: _count(job, many)))
            server.new.set()
            counts = Counter(each.status for each in reports)
            skipped = [each.told for each in reports if each.status == "skipped"]
            return {**counts, "why_skipped": skipped[:20]}

        job = server.jobs.start("update", "all files", work)
        await server.jobs.within(job, 0.05)
        return JSONResponse(Job(**job.plain()).model_dump(), 202, {"Location": f"/v1/jobs/{job.id}"})

    @router.get("/v1/jobs/{id}", summary="The state of a job, and its result")
    async def job(id: str) -> Job:
        """It is running, done or failed; after a restart it is not known any more."""
        server.ready()
        return Job(**server.jobs.named(id).plain())

    return router


async def begin(server: Server, service: Service) -> None:
    """Let the service answer; what was sent before the server was stopped goes in before what comes now."""
    left: list[Sent] = []
    if service.base is not None:
        left = await asyncio.to_thread(uploads.left, service.base.uploads)
    if left and server.settings.read_only:
        what = f"{count_of(len(left), 'change')} sent before the server was stopped"
        _log.warning("left for a start without --read-only: %s", what)
        left = []
    server.service = service
    for sent in left:
        _log.info("making a change that was sent before the server was stopped: %s a document", sent.kind)
        _putting(server, sent)


async def tend(server: Server) -> None:
    """Make vectors for passages that have none, as long as the server runs."""
    base = server.base()
    said = ""
    while not server.stopping.is_set():
        try:
            if await asyncio.to_thread(_embed, server, base):
                continue
        except _Stopped:
            return
        except Exception as error:  # passages are found by their words all the same
            if busy(error) is None and str(error) != said:
                said = str(error)
                _log.warning("no vectors are computed for now: %s", error)
        server.new.clear()
        for _ in range(int(_LOOK / 0.1)):
            if server.new.is_set() or server.stopping.is_set():
                break
            await asyncio.sleep(0.1)


def _embed(server: Server, base: Base) -> int:
    """How many passages got vectors."""

    def lacking(kb: KnowledgeBase) -> int:
        return len(kb) - base.embedded(kb)

    if not base.looked(lacking):
        return 0

    def advance(many: int) -> None:
        if server.stopping.is_set():
            raise _Stopped

    kb = KnowledgeBase(base.path, wait=0)
    try:
        kb.refresh()
        return kb.embed(finding.maker(), advance)
    finally:
        kb.close()


def _putting(server: Server, sent: Sent) -> Running:
    """The job that makes a change; one that can never be made is dropped, and the job says why."""

    async def work(job: Running) -> dict[str, Any]:
        try:
            report, generation = await server.written(lambda kb: (sent.put(kb), kb.generation))
        except Refusal:
            await asyncio.to_thread(sent.drop)
            raise
        except DemurError as error:
            later = isinstance(error, DataError) and not isinstance(error, Unreadable)
            if later or busy(error) is not None:  # it is taken in at the next start
                server.put_off.append(sent)
            else:
                await asyncio.to_thread(sent.drop)
            raise
        told = {"name": sent.name, "generation": generation}
        if report is None:
            return {**told, "status": "overtaken", "passages": 0, "note": sent.overtaken}
        await _supersede(server, sent.name)
        if report.passages:
            server.new.set()
            job.done = job.total = report.passages
        note = report.reason or None
        return {**told, "status": report.status, "passages": report.passages, "note": note}

    return server.jobs.start(sent.kind, sent.name, work)


async def _supersede(server: Server, name: str) -> None:
    """Drop what was put off of a document: as changes are made in turn, it is older than this one."""
    older = [each for each in server.put_off if each.name == name]
    server.put_off = [each for each in server.put_off if each not in older]
    for each in older:
        await asyncio.to_thread(each.drop)


async def _answer_sent(server: Server, sent: Sent, status: int) -> Response:
    """The same for a change that lies on the disk: a refusal says that nothing was kept of it."""
    try:
        return await _answer(server, _putting(server, sent), status)
    except Refusal:
        await asyncio.to_thread(sent.drop)
        raise


async def _answer(server: Server, job: Running, status: int) -> Response:
    """What came of a job, if it is over soon; the job itself, if not."""
    if not await server.jobs.within(job, _WAIT):
        return JSONResponse(Job(**job.plain()).model_dump(), 202, {"Location": f"/v1/jobs/{job.id}"})
    if job.state == "failed":
        raise job.refusal or Refusal(500, job.error or "the server failed at this; see its log")
    return JSONResponse(job.result, status)


def _count(job: Running, many: int) -> None:
    job.done += many
