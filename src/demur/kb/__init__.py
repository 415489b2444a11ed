"""What questions are asked of: files become passages, which are found by their words and by their meaning."""

from __future__ import annotations

from demur.kb.base import Passages
from demur.kb.documents import read_documents
from demur.kb.passages import Passage

__all__ = ["Passage", "Passages", "read_documents"]
