"""Sentence embeddings beside sentence-transformers' own `encode`, on the same texts, model and threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import demur
from bench.common import Row, faster, ratio, seconds, sentences, told
from demur import data
from demur.embedders.caching import cached_on_disk as on_disk
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import located, quietly
from demur.types import Pool

POOLS, FAQ, ASKED = 20, 30, 5


def pools() -> list[Pool]:
    """The first pools of WikiQA test, or made-up ones of about their size."""
    if os.environ.get("DEMUR_DATA"):
        return list(data.pools("wikiqa/test"))[:POOLS]
    texts = sentences(POOLS * 11, 22)
    return [Pool.of(texts[n * 11][:40], texts[n * 11 + 1 : n * 11 + 11], id=str(n)) for n in range(POOLS)]


def run() -> list[Row]:
    """All rows."""
    with quietly():
        import sentence_transformers

        theirs = sentence_transformers.SentenceTransformer(str(located("minilm")), device="cpu")
    ours, half = Encoder(device="cpu", precision="fp32"), Encoder(device="cpu", precision="bf16")
    ranker = demur.ranker("encoder", device="cpu")
    some = pools()
    texts = list(dict.fromkeys(text for pool in some for text in (pool.question, *pool.answers)))

    def encode(texts: list[str]) -> Any:
        return theirs.encode(texts, show_progress_bar=False)

    def pairs() -> None:  # as most do it: a list of questions and a list of answers, of equal length
        encode([pool.question for pool in some for _ in pool.answers])
        encode([answer for pool in some for answer in pool.answers])

    answers = [answer for pool in some for answer in pool.answers][:FAQ]
    questions = [pool.question for pool in some][:ASKED]

    def faq_of_theirs() -> None:
        for question in questions:
            encode([question, *answers])

    def faq_of_ours() -> None:
        for question in questions:
            ranker.rank(question, answers)

    difference = float(np.abs(encode(texts) - ours.embed(texts)).max())
    alike, taken = ratio(lambda: ours.embed(texts), lambda: encode(texts))
    repeated, _ = ratio(lambda: ranker.score_pools(some), pairs)
    asked, one = ratio(faq_of_ours, faq_of_theirs, turns=3)
    faster_half, _ = ratio(lambda: half.embed(texts), lambda: ours.embed(texts))
    per_text, each = f"{taken / len(texts) * 1000:.1f} ms a text", f"{one / ASKED * 1000:.0f} ms"
    return [
        faster(f"{len(texts)} different texts against encode ({per_text})", alike, 1),
        faster("pairs: each question stands with each of its answers", repeated, 1.5),
        faster(f"{FAQ} answers ranked for {ASKED} questions, in turn ({each} each)", asked, 1.5),
        told("largest difference from encode's vectors", f"{difference:.1e}"),
        told("precision=bf16 against fp32", f"{faster_half:.1f}x"),
        *_kept(ours, texts, taken),
    ]


def _kept(encoder: Encoder, texts: list[str], computed: float) -> list[Row]:
    """The same texts from the disk."""
    import tempfile

    before = os.environ.get("DEMUR_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DEMUR_CACHE"] = folder
        try:
            embedder = on_disk(encoder)
            return [
                faster("the same texts, kept on disk", computed / seconds(lambda: embedder.embed(texts)), 20)
            ]
        finally:
            os.environ.pop("DEMUR_CACHE")
            if before is not None:
                os.environ["DEMUR_CACHE"] = before


if __name__ == "__main__":
    for row in run():
        print(row["what"], row["found"], "goal", row["goal"], "" if row["met"] else "MISSED")
