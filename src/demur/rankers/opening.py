"""Rankers by name, from a folder, or by a Hugging Face id; and written as a folder."""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from demur import registry, store
from demur.errors import DataError, UsageError
from demur.files import read_json, written
from demur.rankers.base import HasFiles, Ranker
from demur.specs import Setting, parse

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


def ranker(spec: str | Path | Ranker, **settings: Setting) -> Ranker:
    """The ranker meant by a spec such as ``bm25`` or ``bm25(k1=0.9)``, by a folder, or by a Hugging Face id.

    A folder may hold a model that demur wrote, or one of Hugging Face: then it is an encoder, a
    cross-encoder if it is a classifier, or a reader if it answers questions. Settings are added to those that
    are said already.
    """
    if isinstance(spec, Ranker):
        refuse_settings(spec, settings)
        return spec
    folder = folder_of(spec)
    if folder is not None:
        return _in_folder(folder, str(folder), settings)
    spec = str(spec)
    if HUB_ID.fullmatch(spec):
        from demur.embedders.encoders.loading import located

        return _in_folder(located(spec, str(settings.get("revision", ""))), spec, settings)
    kept = kept_in(spec, settings)
    if kept is not None:
        return kept
    built: Ranker = registry.build("ranker", spec, settings)
    return built


def refuse_settings(built: Ranker, settings: Mapping[str, Setting]) -> None:
    """Raise an error if there are settings for what is built already."""
    if settings:
        fix = "give its name instead, or use dataclasses.replace"
        raise UsageError(f"{built.spec} is built already and takes no {', '.join(settings)}; {fix}")


def kept_in(spec: str, settings: Mapping[str, Setting]) -> Ranker | None:
    """What a spec such as ``bidaf(folder=DIR)`` means, with the settings that were kept there and not said.

    None if it names no folder that demur wrote, or one of something else.
    """
    wanted = parse(spec)
    said = {**wanted.settings, **settings}
    folder = Path(str(said.pop("folder", "") or os.devnull)).expanduser()
    if wanted.at is not None or not store.is_model(folder):
        return None
    if parse(store.open_folder(folder, check=False).spec).name != wanted.name:
        return None  # which says itself what is wrong
    return open_model(folder, **said)


def folder_of(spec: str | Path, such: str = "ranker such as bm25") -> Path | None:
    """The folder meant; None if it is a ranker's name or a Hugging Face id. Errors name `such` a thing.

    A name goes before a folder that is called alike; what looks like a path must be there.
    """
    name = str(spec).partition("(")[0].strip()
    if isinstance(spec, str) and not spec.strip():
        kind, _, one = such.partition(" ")
        raise UsageError(f"the name of the {kind} is empty; name one {one}, or the folder of a model")
    if isinstance(spec, str) and name in registry.names("ranker"):
        return None
    folder = Path(spec).expanduser()
    if folder.is_dir():
        return folder
    a_path = name.startswith((".", "~", os.sep)) or name.endswith(("/", os.sep)) or name.count("/") > 1
    if isinstance(spec, Path) or a_path:
        what = "is a file, not a folder" if folder.exists() else "no such folder"
        raise DataError(what, path=spec, fix=f"name the folder of a model, or a {such}")
    return None


def _in_folder(folder: Path, named: str, settings: Mapping[str, Setting]) -> Ranker:
    """The ranker in a folder, which is called by this name."""
    if store.is_model(folder):
        return open_model(folder, **settings)
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        what = f"holds no model: neither {store.FACTS} nor modules.json nor config.json"
        raise DataError(
            what, path=named, fix="name a folder that demur wrote, or one of a Hugging Face model"
        )
    kind = _kind(folder)
    built: Ranker = registry.build("ranker", kind, {"model": named, **settings})
    return built


def _kind(folder: Path) -> str:
    """What a Hugging Face model is: one that quotes, reads question and answer together, or embeds texts."""
    facts: dict[str, Any] = {}
    for name in ("config.json", "config_sentence_transformers.json"):
        path, fix = folder / name, "copy or download the model again"
        found = read_json(path, fix) if path.is_file() else {}
        if not isinstance(found, dict):
            raise DataError(f"is broken (a {type(found).__name__} stands there)", path=path, fix=fix)
        facts |= found
    if facts.get("model_type") in ("CrossEncoder", "SentenceTransformer"):  # the second file's word
        return "cross-encoder" if facts["model_type"] == "CrossEncoder" else "encoder"
    heads = [] if (folder / "modules.json").is_file() else facts.get("architectures") or []
    kinds = {"SequenceClassification": "cross-encoder", "QuestionAnswering": "span-reader"}
    return next((kind for head in heads for part, kind in kinds.items() if part in head), "encoder")


def open_model(folder: str | Path, **settings: Setting) -> Ranker:
    """The ranker in a folder that demur wrote, each file checked against its checksum."""
    model = store.open_folder(folder)
    name = model.spec.partition("(")[0].strip()
    takes = inspect.signature(registry.find("ranker", name)).parameters
    inside = {"folder": str(Path(folder).expanduser().absolute())} if "folder" in takes else {}
    built: Ranker = registry.build("ranker", model.spec, {**inside, **settings})
    return built


def save(
    ranker: Ranker,
    folder: str | Path,
    made: Mapping[str, Any] | None = None,
    also: Mapping[str, str] | None = None,
) -> None:
    """Write a ranker as a folder that `open_model` reads; `made` tells how it came about.

    Files of text that are to lie in the folder too, such as a card, are named in `also`.

    A ranker that learnt something is one that `HasFiles`; of others only the spec is written.
    """
    folder = Path(folder)
    if not isinstance(ranker, HasFiles):
        _check_spelled(ranker)
        with store.saving(folder, ranker.spec, made) as inside:
            _write(inside, also)
        return
    with written(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        spec = ranker.save_into(Path(beside))
        with store.saving(folder, spec, made) as inside:
            for path in sorted(Path(beside).iterdir()):
                path.replace(inside / path.name)
            _write(inside, also)


def _write(folder: Path, texts: Mapping[str, str] | None) -> None:
    for name, text in (texts or {}).items():
        (folder / name).write_text(text, "utf-8")


def _check_spelled(ranker: Ranker) -> None:
    """Raise an error if the ranker holds more than its spec says."""
    if ranker.name not in registry.names("ranker"):
        raise UsageError(
            f"{ranker.name!r} cannot be saved, as no package registers a ranker of that name, so the folder "
            "could not be opened; declare an entry point for it in the group demur.ranker"
        )
    if registry.build("ranker", ranker.spec).fingerprint != ranker.fingerprint:
        raise UsageError(
            f"{ranker.spec} is more than its settings say, such as statistics of the texts it was prepared "
            "for, so it cannot be saved; save it before it is prepared"
        )
