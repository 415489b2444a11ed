"""cohere-ai of npm; NODE_PATH names the folder it lies in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tools.clients.server import Running

_SCRIPT = Path(__file__).with_name("cohere_ai.cjs")


class Thrown(Exception):
    """An error of the client, by its name and status."""


def cohere_ai(server: Running) -> str:
    """cohere-ai: v1 and v2, its own errors, and the retries that it makes itself."""
    for version in (1, 2):
        for retries in (0, None):

            def rank(
                key: str,
                question: str,
                texts: list[str],
                version: int = version,
                retries: int | None = retries,
            ) -> list[tuple[int, float]]:
                found = _called(server.url, key, question, texts, version, retries)
                return [(each["index"], each["relevanceScore"]) for each in found["results"]]

            server.tried(rank, (Thrown,), 1 if retries == 0 else 3)
    return "v1 and v2 rank as demur rank; errors are its own"


def _called(
    url: str, key: str, question: str, texts: list[str], version: int, retries: int | None
) -> dict[str, Any]:
    asked = {"url": url, "key": key, "query": question, "documents": texts, "version": version}
    done = subprocess.run(
        ["node", str(_SCRIPT)],
        input=json.dumps({**asked, "retries": retries}),
        capture_output=True,
        text=True,
        check=True,
    )
    said: dict[str, Any] = json.loads(done.stdout)
    if "status" in said:
        wanted = {401: "UnauthorizedError", 422: "UnprocessableEntityError", 429: "TooManyRequestsError"}
        assert said["name"] == wanted.get(said["status"], "CohereError"), said
        raise Thrown(f"{said['name']} {said['status']}")
    return said
