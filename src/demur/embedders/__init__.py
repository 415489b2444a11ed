"""Texts as vectors: words of a table of vectors, or a sentence encoder. Rankers and nets stand on them."""

from __future__ import annotations

from demur import registry
from demur.embedders.base import Embedder, Tokens
from demur.specs import Setting

__all__ = ["Embedder", "Tokens", "embedder"]


def embedder(spec: str, **settings: Setting) -> Embedder:
    """The embedder a spec names, such as ``encoder`` or ``words(vectors=wiki.safetensors)``."""
    built: Embedder = registry.build("embedder", spec, settings)
    return built
