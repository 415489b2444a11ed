from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import demur
from demur.data import pools as pools_of
from demur.embedders.encoders.encoder import Encoder
from demur.rankers.vectors.cosine import EncoderRanker
from demur.types import Pool
from laws import toys

POOLS = [
    Pool.of("ship?", ["the ship sailed", "", "ship?", "nothing", "the ship sailed"], id="a"),
    Pool.of("", ["the ship sailed", ""], id="b"),
    Pool("c", "may", ()),
    Pool.of("round the cape", ["the ship sailed", "cape"], id="d"),
]


@pytest.fixture
def ranker() -> EncoderRanker:
    return EncoderRanker(toys.bert("mean_tokens"))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that any encoder was asked for."""
    seen: list[str] = []
    embed = Encoder.embed

    def noting(self: Encoder, texts: Sequence[str]) -> Any:
        seen.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(Encoder, "embed", noting)
    return seen


def test_scores_are_cosines_and_0_for_empty_texts(ranker: EncoderRanker) -> None:
    scores = ranker.score_pools(POOLS)
    texts = [POOLS[0].question, *POOLS[0].answers]
    vectors = Encoder(ranker.model).embed(texts).astype(np.float64)
    expected = vectors[1:] @ vectors[0] / np.maximum(np.linalg.norm(vectors[1:], axis=1), 1e-300)
    assert np.allclose(scores[0], expected / np.linalg.norm(vectors[0]), rtol=0, atol=1e-5)
    assert scores[0][1] == 0 and scores[0][2] == pytest.approx(1, abs=1e-12)
    assert scores[0][0] == scores[0][4], "equal answers, equal scores"
    assert scores[1].tolist() == [0, 0] and len(scores[2]) == 0


def test_many_pools_are_embedded_afresh_but_each_text_once(ranker: EncoderRanker, asked: list[str]) -> None:
    ranker.score_pools([POOLS[0]])
    asked.clear()
    ranker.score_pools(POOLS)
    different = {text for pool in POOLS for text in (pool.question, *pool.answers)}
    assert {*asked} == different and len(asked) <= len(different) + 2  # "" and "ship?" are on both sides


def test_pools_one_at_a_time_find_texts_in_memory(asked: list[str], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toys.bert(), tmp_path / "model"))
    (folder / "vocab.txt").write_text("another fingerprint", "utf-8")
    ranker = EncoderRanker(str(folder))
    first = ranker.rank("ship?", POOLS[0].answers)
    asked.clear()
    assert ranker.rank("ship?", POOLS[0].answers) == first and asked == []
    ranker.score("may", [*POOLS[0].answers, "cape"])
    assert asked == ["may", "cape"]


def test_prompts_are_the_models_own_unless_said(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(toys.bert("mean_tokens"), tmp_path / "model"))
    said = {"prompts": {"query": "round: ", "passage": "the: "}, "default_prompt_name": None}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(said), "utf-8")
    ranker = EncoderRanker(str(folder))
    assert (ranker.of_questions.prompt, ranker.of_answers.prompt) == ("round: ", "the: ")
    asked, answered = Encoder(str(folder)).embed(["round: ship", "the: cape"]).astype(np.float64)
    cosine = asked @ answered / np.linalg.norm(asked) / np.linalg.norm(answered)
    assert ranker.score("ship", ["cape"]) == pytest.approx([cosine], abs=1e-6)
    other = EncoderRanker(str(folder), question_prompt="the: ")
    assert (other.of_questions.prompt, other.of_answers.prompt) == ("the: ", "the: ")
    assert other.fingerprint != ranker.fingerprint and demur.ranker(other.spec) == other
    assert other.score("ship", ["ship"]) == pytest.approx([1], abs=1e-9)


def test_a_prompt_may_have_both_kinds_of_quotation_marks() -> None:
    for prompt in ('it\'s "said": ', "\"'", "a\\\"'\\", "['\"("):
        ranker = EncoderRanker(question_prompt=prompt)
        assert demur.ranker(ranker.spec) == ranker
        fused = demur.ranker(f"fusion(rankers=[{ranker.spec}; overlap])")
        assert fused.parts[0] == ranker and demur.ranker(fused.spec).spec == fused.spec


def test_wrong_settings_are_told_when_it_is_built() -> None:
    with pytest.raises(demur.DemurError, match="precision='half' is not known"):
        demur.ranker("encoder", precision="half")


@pytest.mark.data
def test_minilm_on_trecqa() -> None:
    pools = list(pools_of("trecqa/dev/clean"))[:6]
    report = demur.evaluate(demur.ranker("encoder"), pools, ["MAP"])
    assert report.measures["MAP"].mean > demur.evaluate("random", pools, ["MAP"]).measures["MAP"].mean + 0.1
