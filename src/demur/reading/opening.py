"""Readers by name, from a folder, or by a Hugging Face id."""

from __future__ import annotations

from pathlib import Path

from demur import registry, store
from demur.errors import UsageError
from demur.rankers.opening import HUB_ID, folder_of, kept_in, open_model, refuse_settings
from demur.reading.base import Reader
from demur.specs import Setting


def reader(spec: str | Path | Reader, **settings: Setting) -> Reader:
    """The reader meant by a folder, a Hugging Face id, or a spec such as ``span-reader(model=ID)``.

    A folder may hold a model that demur wrote, or one of Hugging Face's for question answering. Settings are
    added to those that are said already.
    """
    if isinstance(spec, Reader):
        refuse_settings(spec, settings)
        return spec
    folder = folder_of(spec, "reader such as mini")
    if folder is not None and store.is_model(folder):
        found = open_model(folder, **settings)
        if not isinstance(found, Reader):
            fix = "name the folder of one that demur train --trainer span-reader made"
            raise UsageError(f"{folder} holds a {found.name}, which ranks and does not read; {fix}")
        return found
    if folder is not None or HUB_ID.fullmatch(str(spec)):
        settings = {"model": str(folder or spec), **settings}
        spec = "span-reader"
    kept = kept_in(str(spec), settings)
    if isinstance(kept, Reader):
        return kept
    built: Reader = registry.build("reader", str(spec), settings)
    return built
