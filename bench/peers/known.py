"""The other libraries: how they are called and installed, and what each is measured at."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {  # quick ones first
    "size": "what an installation takes on disk, requirements and all",
    "names": "whether names that docs/templates/comparison.toml says are there are there",
    "ties": "MAP of a scorer that gives every candidate the same score",
    "promise": "thresholds from labelled questions, tried on populations whose true risk is known",
    "encode": "all-MiniLM-L6-v2 as each library runs it: candidates ranked by the cosine of sentence vectors",
    "asked": "the same model, asked one question after the other about an FAQ",
    "rerank": "one cross-encoder as each library runs it: each candidate read together with its question",
    "start": "from nothing: importing it, its command line's help, and a first ranking of ten candidates",
}


@dataclass(frozen=True)
class Peer:
    """A library, and the kinds of rows that it has here."""

    name: str  # of its distribution
    module: str
    kinds: tuple[str, ...]
    needs: str = ""  # what `pip install` is given so that it ranks with a model on this disk

    @property
    def install(self) -> tuple[str, ...]:
        """What `pip install` is given."""
        return tuple((self.needs or self.name).split())


DEMUR = "demur"
RANKS = ("encode", "rerank")
QUESTIONS = 200  # of WikiQA's train that the cross-encoder learns from: it need not be good, but not blind
ALL = ("start", "size", "names")
PEERS = (
    Peer("sentence-transformers", "sentence_transformers", ("encode", "asked", "rerank", *ALL)),
    Peer("rerankers", "rerankers", ("rerank", *ALL), "rerankers[transformers]"),
    Peer("FlashRank", "flashrank", ("rerank", *ALL)),
    Peer("fastembed", "fastembed", ("encode", "asked", "rerank", *ALL)),
    Peer("txtai", "txtai", ("encode", "asked", *ALL)),
    Peer("haystack-ai", "haystack", ("encode", "asked", *ALL), "haystack-ai sentence-transformers-haystack"),
    Peer("pyterrier", "pyterrier", ("encode", "asked", "ties", *ALL), "pyterrier pyterrier-dr"),
    Peer("mapie", "mapie", ("promise", *ALL)),
)
BY_NAME = {peer.name: peer for peer in PEERS}


def rows() -> list[tuple[str, str]]:
    """All rows there can be: a kind and a peer; where rankers are compared demur has a row, too."""
    found = []
    for kind in KINDS:
        found += [(kind, DEMUR)] if kind in RANKS else []
        found += [(kind, peer.name) for peer in PEERS if kind in peer.kinds]
    return found
