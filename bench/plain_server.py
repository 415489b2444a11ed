"""The server that one writes in an afternoon, for `bench serve`: FastAPI and a CrossEncoder."""

from __future__ import annotations

import sys
from threading import Lock

import torch
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sentence_transformers import CrossEncoder

app = FastAPI()
turn = Lock()  # without it 64 requests share two cores, and all are slower
model = CrossEncoder(sys.argv[1], device="cpu", max_length=int(sys.argv[3]))


class Body(BaseModel):
    """A question and texts, as TEI has them."""

    query: str
    texts: list[str]


@app.post("/rerank")
def rerank(body: Body) -> list[dict[str, float]]:
    """The texts' places and scores, best first."""
    with turn:
        scores = model.predict([(body.query, text) for text in body.texts], show_progress_bar=False)
    order = sorted(range(len(scores)), key=lambda at: -float(scores[at]))
    return [{"index": at, "score": float(scores[at])} for at in order]


@app.get("/health")
async def health() -> dict[str, str]:
    """It runs."""
    return {"status": "ok"}


if __name__ == "__main__":
    torch.set_num_threads(2)
    uvicorn.run(app, port=int(sys.argv[2]), log_level="warning")
