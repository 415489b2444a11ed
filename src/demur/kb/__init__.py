"""A knowledge base in a folder, to add files to and to ask: ``demur.kb("handbook.kb")``.

`add` reads files and folders, and again only what has changed; `ask` answers from them. `demur.kb` is a
module that can be called. Inside it, files become passages, which are found by their words and by their
meaning.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from demur.kb.base import Passages
from demur.kb.files.documents import read_documents
from demur.kb.passages import Passage

if TYPE_CHECKING:
    from demur.kb.folder import KnowledgeBase

__all__ = ["Passage", "Passages", "read_documents"]


class _Called(ModuleType):
    def __call__(self, path: str | Path, stem: str | None = None) -> KnowledgeBase:
        """The knowledge base in a folder, which the first `add` makes."""
        from demur.kb.folder import KnowledgeBase

        return KnowledgeBase(path, stem)


sys.modules[__name__].__class__ = _Called  # so that demur.kb is both, whatever is imported first
