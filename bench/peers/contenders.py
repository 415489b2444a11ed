"""Each library as its documentation shows it, opened on a local folder: scores of pools, and an FAQ asked."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import demur
from bench.peers.known import BY_NAME
from bench.peers.ways import AllPairs, Contender, Encoder, Ours, Pairs, Vectors
from demur.types import Pool

LENGTH = 128  # tokens of a pair
TEN = Pool.of("How is it paid?", [f"It is paid in {number} parts." for number in range(10)])


def opened(kind: str, name: str, folder: Path) -> Contender:
    """A library, ready; a name that is none of a library is one of demur's rankers."""
    if name in BY_NAME:
        return OPENERS[kind, name](folder / {"encode": "encoder", "rerank": "cross"}[kind])
    place = folder / "cross" / name
    return Ours(demur.ranker(place if place.exists() else name))


def threads() -> int:
    """How many threads a worker was given."""
    return int(os.environ["OMP_NUM_THREADS"])


def sentence_transformers(folder: Path) -> Contender:
    """`SentenceTransformer.encode`."""
    model = import_module("sentence_transformers").SentenceTransformer(str(folder), device="cpu")
    return Encoder(lambda texts: model.encode(texts, show_progress_bar=False))


def sentence_transformers_pairs(folder: Path) -> Contender:
    """`CrossEncoder.predict` over all pairs at once."""
    library = import_module("sentence_transformers")
    model = library.CrossEncoder(str(folder / "model"), device="cpu", max_length=LENGTH)
    return AllPairs(lambda pairs: model.predict(pairs, show_progress_bar=False))


def fastembed(folder: Path) -> Contender:
    """`TextEmbedding.embed`, with the model named as one of one's own."""
    kinds = import_module("fastembed.common.model_description")
    encoder = import_module("fastembed").TextEmbedding
    encoder.add_custom_model(
        "local/encoder",
        pooling=kinds.PoolingType.MEAN,
        normalization=True,
        sources=kinds.ModelSource(hf="local/none"),
        dim=384,
        model_file="model.onnx",
    )
    model = encoder("local/encoder", specific_model_path=str(folder), threads=threads())
    return Encoder(lambda texts: np.stack(list(model.embed(texts))))


def fastembed_pairs(folder: Path) -> Contender:
    """`TextCrossEncoder.rerank_pairs` over all pairs at once."""
    source = import_module("fastembed.common.model_description").ModelSource
    encoder = import_module("fastembed.rerank.cross_encoder").TextCrossEncoder
    encoder.add_custom_model("local/cross", source(hf="local/none"), model_file="model.onnx")
    path = str(folder / "peers" / "fp32")
    model = encoder("local/cross", specific_model_path=path, threads=threads())
    return AllPairs(lambda pairs: list(model.rerank_pairs(pairs)))


def txtai(folder: Path) -> Contender:
    """`Embeddings.batchtransform`."""
    model = import_module("txtai").Embeddings(path=str(folder), gpu=False)
    return Encoder(lambda texts: np.stack(list(model.batchtransform(texts))))


def haystack(folder: Path) -> Contender:
    """The embedder of documents, which stands in pipelines."""
    document = import_module("haystack").Document
    kind = import_module(HAYSTACK).SentenceTransformersDocumentEmbedder
    device = import_module("haystack.utils").ComponentDevice.from_str("cpu")
    embedder = kind(model=str(folder), device=device, progress_bar=False)
    embedder.warm_up()

    def embed(texts: list[str]) -> Vectors:
        return [
            each.embedding for each in embedder.run([document(content=text) for text in texts])["documents"]
        ]

    return Encoder(embed)


def pyterrier(folder: Path) -> Contender:
    """The vectors of PyTerrier's plugin for dense retrieval."""
    return Encoder(import_module("pyterrier_dr").SBertBiEncoder(str(folder), device="cpu").encode_docs)


def rerankers(folder: Path) -> Contender:
    """`Reranker.rank`."""
    named = {"model_type": "cross-encoder", "device": "cpu", "dtype": "float32", "verbose": 0}
    model = import_module("rerankers").Reranker(str(folder / "model"), **named)

    def rank(question: str, answers: list[str]) -> list[float]:
        found = model.rank(question, answers, doc_ids=list(range(len(answers))))
        by_place = {each.doc_id: float(each.score) for each in found.results}
        return [by_place[place] for place in range(len(answers))]

    return Pairs(rank)


def flashrank(folder: Path) -> Contender:
    """`Ranker.rerank`; the model has the name and the place of one that it knows.

    It has no setting for threads and takes all cores, so its sessions are opened with as many as others have.
    """
    library, runtime = import_module("flashrank"), import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads()
    session = partial(runtime.InferenceSession, sess_options=options)
    vars(import_module("flashrank.Ranker"))["ort"] = SimpleNamespace(InferenceSession=session)
    name = "ms-marco-MiniLM-L-12-v2"
    place = Path(tempfile.mkdtemp()) / name
    shutil.copytree(folder / "peers" / "fp32", place)
    (place / "model.onnx").rename(place / import_module("flashrank.Config").model_file_map[name])
    model = library.Ranker(name, str(place.parent), max_length=LENGTH, log_level="ERROR")

    def rank(question: str, answers: list[str]) -> list[float]:
        passages = [{"id": place, "text": text} for place, text in enumerate(answers)]
        found = model.rerank(library.RerankRequest(query=question, passages=passages))
        by_place = {each["id"]: float(each["score"]) for each in found}
        return [by_place[place] for place in range(len(answers))]

    return Pairs(rank)


HAYSTACK = "haystack_integrations.components.embedders.sentence_transformers"
OPENERS: dict[tuple[str, str], Callable[[Path], Contender]] = {
    ("encode", "sentence-transformers"): sentence_transformers,
    ("encode", "fastembed"): fastembed,
    ("encode", "txtai"): txtai,
    ("encode", "haystack-ai"): haystack,
    ("encode", "pyterrier"): pyterrier,
    ("rerank", "sentence-transformers"): sentence_transformers_pairs,
    ("rerank", "rerankers"): rerankers,
    ("rerank", "FlashRank"): flashrank,
    ("rerank", "fastembed"): fastembed_pairs,
}
