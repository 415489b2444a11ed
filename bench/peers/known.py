"""The other libraries: how they are called and installed, and what each is measured at."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = {
    "encode": "all-MiniLM-L6-v2 as each library runs it: candidates ranked by the cosine of sentence vectors",
    "rerank": "one cross-encoder as each library runs it: each candidate read together with its question",
    "start": "from nothing: importing it, its command line's help, and a first ranking of ten candidates",
    "size": "what an installation takes on disk, requirements and all",
    "promise": "thresholds from labelled questions, tried on populations whose true risk is known",
    "ties": "MAP of a scorer that gives every candidate the same score, right answers first in the file",
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
PEERS = (
    Peer("sentence-transformers", "sentence_transformers", ("encode", "rerank", "start", "size")),
    Peer("rerankers", "rerankers", ("rerank", "start", "size"), ("rerankers[transformers]",)),
    Peer("FlashRank", "flashrank", ("rerank", "start", "size")),
    Peer("fastembed", "fastembed", ("encode", "rerank", "start", "size")),
    Peer("txtai", "txtai", ("encode", "start", "size")),
    Peer("haystack-ai", "haystack", ("encode", "start", "size"), ("sentence-transformers-haystack",)),
    Peer("pyterrier", "pyterrier", ("encode", "start", "size", "ties"), ("pyterrier-dr",)),
    Peer("mapie", "mapie", ("start", "size", "promise")),
)
BY_NAME = {peer.name: peer for peer in PEERS}


def rows() -> list[tuple[str, str]]:
    """All rows there can be: a kind and a peer."""
    ours = [(kind, DEMUR) for kind in ("encode", "rerank")]
    return ours + [(kind, peer.name) for kind in KINDS for peer in PEERS if kind in peer.kinds]
