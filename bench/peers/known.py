"""The other libraries: how they are called and installed, and what each is measured at."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {  # quick ones first
    "size": "what an installation takes on disk, requirements and all",
    "names": "whether names that docs/templates/comparison.toml says are there are there",
    "ties": "MAP of a scorer that gives every candidate the same score",
    "promise": "thresholds from labelled questions, tried on populations whose true risk is known",
    "encode": "all-MiniLM-L6-v2 as each library runs it: candidates ranked by the cosine of sentence vectors",
    "rerank": "one cross-encoder as each library runs it: each candidate read together with its question",
    "start": "from nothing: importing it, its command line's help, and a first ranking of ten candidates",
}


@dataclass(frozen=True)
class Peer:
    """A library, and the kinds of rows that it has here."""

    name: str  # of its distribution
    module: str
    kinds: tuple[str, ...]
    also: tuple[str, ...] = ()  # what else must be installed for a model that lies on this disk

    @property
    def install(self) -> tuple[str, ...]:
        """What `pip install` is given."""
        return (self.name, *self.also)


DEMUR = "demur"
RANKS = ("encode", "rerank")
PEERS = (
    Peer("sentence-transformers", "sentence_transformers", ("encode", "rerank", "start", "size", "names")),
    Peer("rerankers", "rerankers", ("rerank", "start", "size", "names"), ("rerankers[transformers]",)),
    Peer("FlashRank", "flashrank", ("rerank", "start", "size", "names")),
    Peer("fastembed", "fastembed", ("encode", "rerank", "start", "size", "names")),
    Peer("txtai", "txtai", ("encode", "start", "size", "names")),
    Peer(
        "haystack-ai", "haystack", ("encode", "start", "size", "names"), ("sentence-transformers-haystack",)
    ),
    Peer("pyterrier", "pyterrier", ("encode", "start", "size", "names", "ties"), ("pyterrier-dr",)),
    Peer("mapie", "mapie", ("start", "size", "names", "promise")),
)
BY_NAME = {peer.name: peer for peer in PEERS}


def rows() -> list[tuple[str, str]]:
    """All rows there can be: a kind and a peer; where rankers are compared demur has a row, too."""
    found = []
    for kind in KINDS:
        found += [(kind, DEMUR)] if kind in RANKS else []
        found += [(kind, peer.name) for peer in PEERS if kind in peer.kinds]
    return found
