"""Golden runs of what scores, embeds and reads: the toys, whose weights were drawn, on texts of our own."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial

import numpy as np

import demur
from demur import registry
from demur.asking import example
from demur.embedders import embedder
from demur.embedders.word_vectors.skipgram import Training, train
from demur.reading.opening import reader
from demur.risk import qualifier
from demur.specs import Setting
from demur.types import Pool
from laws import toys

OWN = [
    Pool.of(
        "which ship sailed round the cape?",
        ["the ship sailed in may", "abc cafe", "round the cape"],
        [1, 0, 0],
    ),
    Pool.of("the cape in may", ["nothing", "the cape 🎉 café", "ship ship ship sailed"], [0, 1, 0]),
]


@cache
def pools() -> list[Pool]:
    """Three questions about the handbook, each with five passages, and two of the toys' words."""
    found = []
    for number, pool in enumerate(list(example.pools())[:3]):
        right = [candidate for candidate in pool.candidates if candidate.label][:1]
        others = [candidate for candidate in pool.candidates if not candidate.label][number : number + 4]
        found.append(Pool(pool.id, pool.question, tuple(right + others)))
    return found + OWN


def texts() -> list[str]:
    return [text for pool in pools() for text in (pool.question, *pool.answers)]


def _settings(name: str) -> dict[str, Setting]:
    """The toys' settings; what is exported stands in single precision, which all processors round alike."""
    folders = {"mini": toys.small, "onnx": toys.exported}
    return toys.settings(name) | ({"folder": folders[name]("fp32")} if name in folders else {})


def ranker(name: str) -> list[float]:
    scores = demur.ranker(name, **_settings(name)).prepare(pools()).score_pools(pools())
    return flat(scores)


def net(name: str) -> list[float]:
    """A net's scores are those of the ranker around it."""
    return ranker({"mini": "mini-torch"}.get(name, name))


def embedded(name: str) -> list[float]:
    spec = {"encoder": f'encoder(model="{toys.bert()}")', "words": f'words(vectors="{toys.vectors()}")'}[name]
    return flat(embedder(spec).embed(texts())[:, :3])


def reading(name: str) -> list[float]:
    """Where each best quote starts and ends, and how likely it is, and no answer."""
    where = next(key for key in ("model", "folder", "reader") if key in _settings(name))
    found = reader(f'{name}({where}="{_settings(name)[where]}")')
    rows = []
    for pool in pools():
        for answer in pool.answers[:2]:
            said = found.read_all([(pool.question, answer)])
            for one in said:
                best = one.quotes[0] if one.quotes else None
                rows.append([one.null_probability] + ([best.span.start, best.span.end] if best else [-1, -1]))
    return flat(rows)


def qualified(name: str) -> list[float]:
    needs: dict[str, dict[str, Setting]] = {
        "committee": {"model": toys.committee() if name == "committee" else ""},
        "mini": {"folder": toys.small("fp32") if name == "mini" else ""},
        "reading": {"reader": toys.answerer() if name == "reading" else ""},
    }
    asked = pools() * 3
    scores = demur.ranker("bm25").prepare(asked).score_pools(asked)
    fitted = qualifier(name, **needs.get(name, {})).fit(asked, scores)
    return flat([fitted.confidence(pools(), scores[: len(pools())])])


def vectors(model: str) -> list[float]:
    """How alike the most frequent words are; of those by counting also where their vectors point."""
    how = Training(width=4, window=3, min_count=2, epochs=2, model=model)
    table = train([passage.text for passage in example.passages()], how)
    first = np.asarray(table.vectors[:8], np.float64)
    alike = first @ first.T / np.abs(first @ first.T).max()
    return flat([*alike, *first]) if model == "ppmi" else flat(alike)


def flat(rows: Iterable[Iterable[float]]) -> list[float]:
    return [float(value) for row in rows for value in np.asarray(row, np.float64).ravel()]


RUNS = {
    **{f"ranker {name}": partial(ranker, name) for name in registry.OURS["ranker"]},
    **{f"reader {name}": partial(reading, name) for name in registry.OURS["reader"]},
    **{f"embedder {name}": partial(embedded, name) for name in registry.OURS["embedder"]},
    **{f"qualifier {name}": partial(qualified, name) for name in registry.OURS["qualifier"]},
}
