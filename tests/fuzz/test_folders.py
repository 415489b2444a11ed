"""Folders of models and of knowledge bases with a damaged file are opened, or refused with one clear line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demur import store
from demur.doubt import doubt_folder
from demur.files import sha256
from demur.kb.folder import KnowledgeBase
from demur.rankers import ranker
from demur.reading.opening import reader
from fuzz.cases import cases, refused_well
from fuzz.damage import damaged, other_json, tensors
from fuzz.world import SAVED, world
from saved.opening import POOLS, READ

DAMAGE = {".json": other_json, ".safetensors": tensors}
MODELS = sorted(path.name for path in SAVED.iterdir() if path.is_dir())


def sealed(folder: Path) -> None:
    """Let a folder say that its files are as they should be.

    Damage is noticed by checksums. Who makes these anew may get any error, but ends no process.
    """
    for path in sorted(folder.rglob(store.FACTS), reverse=True):  # what lies in another folder comes first
        facts = json.loads(path.read_text("utf-8"))
        facts["files"] = {name: sha256(path.parent / name) for name in facts["files"]}
        facts.pop("seal", None)
        path.write_text(json.dumps(facts), "utf-8")


@pytest.mark.extras
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_opened_or_refused_well(name: str, tmp_path: Path) -> None:
    @cases(1)
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        folder = tmp_path / name
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(SAVED / name, folder)
        file = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
        content = file.read_bytes()
        kind = DAMAGE.get(file.suffix, damaged) if len(content) < 50_000 else damaged
        file.write_bytes(data.draw(kind(content)))
        resealed = file.name != store.FACTS and data.draw(st.booleans())
        if resealed:
            sealed(folder)
        with suppress(Exception) if resealed else refused_well():
            ranker(folder).score_pools(POOLS)
        if name == "doubted":
            with suppress(Exception) if resealed else refused_well():
                quoting = reader(folder)
                doubt_folder.open_doubt(quoting).confidence(quoting, READ[:1])

    tried()


def test_a_base_is_opened_or_refused_well(tmp_path: Path) -> None:
    @cases(3)
    @given(st.data())
    def tried(data: st.DataObject) -> None:
        folder = tmp_path / "x.kb"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(world() / "base.kb", folder)
        file = data.draw(st.sampled_from(sorted(path for path in folder.rglob("*") if path.is_file())))
        content = file.read_bytes()
        file.write_bytes(data.draw(other_json(content) if file.suffix == ".json" else damaged(content)))
        uses: list[Callable[[KnowledgeBase], object]] = [
            lambda kb: kb.ask("where is the drill?", ranker="bm25"),
            lambda kb: kb.add(world() / "faq.csv"),
            lambda kb: kb.sources(),
        ]
        for use in uses:
            with refused_well(), closing(KnowledgeBase(folder)) as kb:
                use(kb)

    tried()
