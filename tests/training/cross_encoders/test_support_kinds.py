"""A ranker that asks for support, of a network that does not tell kinds of texts apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import demur
from demur.rankers.cross_encoders.support import Support as SupportRanker
from demur.rankers.opening import save
from laws import toys
from training.cross_encoders.test_support import POOLS, support


@pytest.mark.parametrize("kind", ["DistilBert", "MPNet"])
def test_a_network_without_kinds_of_texts_is_told_none(kind: str, tmp_path: Path) -> None:
    """It learns, is kept and scores as any other; what follows a separator is what it goes by."""
    taught = support(base=without_kinds(kind, tmp_path / "base"), early="MAP")
    ranker = taught.train(POOLS, POOLS, start=None)
    scores = ranker.score_pools(POOLS)
    save(ranker, tmp_path / "model", {})
    for here, kept in zip(scores, demur.open(tmp_path / "model").score_pools(POOLS), strict=True):
        np.testing.assert_allclose(here, kept, atol=1e-5)
    assert isinstance(ranker, SupportRanker)
    network, tokenizer = ranker.able()
    read = [ranker.tokens(network, tokenizer, [("quest?", "one", near)]) for near in ((), ("two",))]
    assert [each.typed for each in read] == [False, False] and "token_type_ids" not in read[1].batch([0])
    ids = [each.batch([0])["input_ids"][0].tolist() for each in read]
    assert ids[1][: len(ids[0])] == ids[0] and ids[1][-1] == tokenizer.sep_token_id


def without_kinds(kind: str, folder: Path) -> str:
    """A folder with a tiny network that knows no kinds of texts, and the toys' tokeniser."""
    import transformers

    sizes = (
        {"dim": 8, "n_layers": 1, "n_heads": 1, "hidden_dim": 8}
        if kind == "DistilBert"
        else {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    )
    config = getattr(transformers, f"{kind}Config")(vocab_size=200, num_labels=1, **sizes)
    getattr(transformers, f"{kind}ForSequenceClassification")(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(toys.bert()).save_pretrained(folder)
    return str(folder)
