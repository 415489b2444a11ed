"""Settings for what cannot be built by its bare name, as it needs vectors or a model: tiny ones, made once.

``settings(name)`` is empty for all that need nothing. To add one, write a function and name it in TOYS.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from demur import registry
from demur.specs import Setting
from laws.toy_berts import WORDS, answerer, bert, classifier, folder, mpnet, of_torch, other_bert

__all__ = [
    "MATCHING",
    "TOYS",
    "WORDS",
    "answerer",
    "bert",
    "beside",
    "bi_encoder",
    "bidaf",
    "classifier",
    "committee",
    "exported",
    "exported_match",
    "folder",
    "match",
    "mini",
    "mpnet",
    "net",
    "other_bert",
    "settings",
    "small",
    "vectors",
]
MATCHING = (
    *("acnn", "adaqa", "anmm", "cnn", "comp-agg", "deep-matching"),
    *("drcn", "hyperqa", "match-pyramid", "multihop", "re2"),
)
"""The nets that match words, all of them trained by a trainer of the same name."""


@cache
def vectors() -> str:
    """A file of vectors, 8 wide, for some words of the contracts' texts."""
    rows = np.random.default_rng(4).normal(size=(len(WORDS), 8))
    lines = [f"{word} {' '.join(f'{x:.6f}' for x in row)}" for word, row in zip(WORDS, rows, strict=True)]
    path = folder() / "vectors.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


@of_torch
def mini() -> str:
    """A folder with that classifier as a mini of torch, whose heads were drawn and not learnt."""
    import torch

    from demur.rankers.opening import save
    from demur.reading.readers.mini_torch import MiniTorch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        made = MiniTorch(model=classifier(), max_length=40, stride=12)
        network, tokenizer = made.fresh()
        with torch.no_grad():
            for name, value in network.named_parameters():
                if not name.startswith("scorer."):
                    value.normal_()
    save(made.holding(network, tokenizer), folder() / "mini")
    return str(folder() / "mini")


@of_torch
def small(precision: str = "int8") -> str:
    """A folder with that mini as an ONNX file."""
    import demur
    from demur.export.export import export

    export(demur.ranker(mini()), folder() / "small" / precision, precision)
    return str(folder() / "small" / precision)


@of_torch
def bidaf() -> str:
    """A folder with a small BiDAF, whose weights were drawn and not learnt."""
    import torch

    from demur.nets.readers.bidaf import BiDAF
    from demur.rankers.opening import save
    from demur.reading.readers.bidaf import Bidaf
    from demur.reading.vocabulary import Vocabulary

    known = Vocabulary(WORDS, "abcdefghijklmnopqrstuvwxyz?.船🎉")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        network = BiDAF(*known.sizes, wide=8, hidden=6, filters=5)
    save(Bidaf(model="drawn", max_length=40, stride=12).holding(network, known), folder() / "bidaf")
    return str(folder() / "bidaf")


@of_torch
def exported(precision: str = "int8") -> str:
    """A folder with that classifier as an ONNX file."""
    from demur.export.export import export
    from demur.rankers.cross_encoders.cross_encoder import CrossEncoder

    export(CrossEncoder(model=classifier()), folder() / "exported" / precision, precision)
    return str(folder() / "exported" / precision)


@of_torch
def exported_match() -> str:
    """A folder with a net that matches words as an ONNX file."""
    from demur.export.export import export
    from demur.rankers.opening import ranker

    export(ranker(match("multihop")), folder() / "exported" / "match")
    return str(folder() / "exported" / "match")


@cache
def net(name: str) -> str:
    """A folder with a small net over the vectors of words, whose weights were drawn and not learnt."""
    from demur.embedders import embedder
    from demur.rankers.opening import save
    from demur.rankers.vectors import network
    from demur.rankers.vectors.net_weights import NetWeights

    kind = {"siamese": network.Siamese, "concat": network.Concat}[name]
    draws, wide = np.random.default_rng(6), 8 if name == "siamese" else 32
    shapes = {"hidden.weight": (wide, wide), "hidden.bias": (wide,)}
    if name == "concat":
        shapes |= {"output.weight": (1, wide), "output.bias": (1,)}
    weights = {key: draws.normal(size=shape).astype(np.float32) for key, shape in shapes.items()}
    features = f'words(vectors="{vectors()}")'
    save(kind.of(NetWeights(features, weights, embedder(features))), folder() / name)
    return str(folder() / name)


@of_torch
def match(name: str) -> str:
    """A folder with a net that matches words, whose weights were drawn and not learnt."""
    import torch

    from demur.embedders.word_vectors.tables import table
    from demur.nets.matching.match_net import Worded
    from demur.rankers.match_nets import match_nets
    from demur.rankers.match_nets.word_numbers import Lexicon
    from demur.rankers.opening import save

    kind = registry.find("ranker", name)
    words = Lexicon.of(table(vectors()), [], buckets=50)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = Worded(kind.net(wide=8), torch.from_numpy(words.matrix))
    save(kind.of(match_nets.Trained(network, words)), folder() / name)
    return str(folder() / name)


def _matching(name: str) -> dict[str, Setting]:
    return {"folder": match(name)}


@of_torch
def committee() -> str:
    """A folder with a committee of two such nets and of bm25."""
    from demur.rankers.opening import ranker, save

    members = f"{match('match-pyramid')}; {match('multihop')}; bm25"
    save(ranker("committee", rankers=members, how="zscore"), folder() / "committee")
    return str(folder() / "committee")


@of_torch
def bi_encoder() -> str:
    """A folder with that BERT as a bi-encoder; nothing was learnt."""
    from demur.rankers.vectors.bi_encoder import BiEncoder

    made = BiEncoder(model=bert())
    made.holding(*made.fresh()).save(folder() / "bi-encoder")
    return str(folder() / "bi-encoder")


@of_torch
def beside(name: str) -> str:
    """A folder with that classifier as a ranker that reads two others too; nothing was learnt."""
    made = registry.find("ranker", name)(model=classifier(), k=2, first="length")
    network, tokenizer = made.fresh()
    if name == "support":  # a line that begins as zeros
        network.support.weight.data.copy_(network.classifier.weight.data * 2)
    made.holding(network, tokenizer).save(folder() / name)
    return str(folder() / name)


TOYS: dict[str, Callable[[], dict[str, Setting]]] = {
    **{each: partial(_matching, each) for each in MATCHING},
    "average": lambda: {"vectors": vectors()},
    "bi-encoder": lambda: {"folder": bi_encoder()},
    "bidaf": lambda: {"folder": bidaf(), "max_length": 40, "stride": 12},
    "committee": lambda: {"rankers": f"{match('match-pyramid')}; {match('multihop')}"},
    "concat": lambda: {"folder": net("concat")},
    "cross-encoder": lambda: {"model": classifier()},
    "encoder": lambda: {"model": bert()},
    "feedback": lambda: {"first": "bm25", "features": f'encoder(model="{bert()}")'},
    "fusion": lambda: {"rankers": f'bm25; encoder(model="{bert()}")', "weights": "1, 2"},
    "joint": lambda: {"folder": beside("joint"), "k": 2, "first": "length"},
    "mini": lambda: {"folder": small(), "max_length": 40, "stride": 12},
    "mini-torch": lambda: {"folder": mini(), "max_length": 40, "stride": 12},
    "onnx": lambda: {"folder": exported()},
    "onnx-match": lambda: {"folder": exported_match()},
    "span-reader": lambda: {"model": answerer()},
    "siamese": lambda: {"folder": net("siamese")},
    "support": lambda: {"folder": beside("support"), "k": 2, "first": "length"},
    "twice": lambda: {"reader": small()},
}


def settings(name: str) -> dict[str, Setting]:
    """What a ranker of this name is built with in tests."""
    return TOYS[name]() if name in TOYS else {}
