"""What a trained model's page says of its data and of its dev set."""

from __future__ import annotations

from pathlib import Path

import pytest

import demur
from demur.training.recipes.stages import Recipe, Stage


def test_the_card_names_the_terms_of_known_data() -> None:
    from demur.training.recipes import model_card
    from demur.training.recipes.stages import Done

    done = Done("wikiqa/train + squad-t/dev", "wikiqa/dev", "siamese", {"pools": 1, "pairs": 2, "right": 1})
    page = model_card.text(demur.ranker("overlap"), Recipe("siamese", [Stage("wikiqa/train")]), [done], None)
    assert "- wikiqa: licence " in page and "- squad-t: licence CC BY-SA 4.0" in page
    assert "Not measured: there was no dev set" in page


def test_the_card_says_where_a_dev_set_had_nothing_to_say(tmp_path: Path) -> None:
    from demur.training.recipes import model_card
    from demur.training.recipes.stages import Done

    counts, by = {"pools": 1, "pairs": 2, "right": 1}, "siamese(early=MAP, patience=2)"
    for line, said in (({"dev": 0.5}, "early stopping on `dev.jsonl`"), ({}, "early stopping on nothing")):
        done = Done("train.jsonl", "dev.jsonl", by, counts, [{"epoch": 1, "loss": 0.1, **line}])
        page = model_card.text(demur.ranker("overlap"), Recipe(by, [Stage("train.jsonl")]), [done], None)
        assert said in page and "no dev set with right and wrong answers" in page


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("siamese(patience=3)", "early stopping on `d`;"),
        ("siamese(early=none)", "early stopping on nothing;"),
        ("adversarial", "`d` said what is best;"),
        ("adversarial(patience=2)", "early stopping on `d`;"),
        ("members", "`d` said what is best;"),
        ("members(take=last)", "early stopping on nothing;"),
        ("adversarial(take=all, weights=uniform)", "early stopping on nothing;"),
    ],
)
def test_the_card_says_what_dev_was_there_for(by: str, said: str) -> None:
    from demur.training import trainer
    from demur.training.recipes import model_card
    from demur.training.recipes.stages import Done

    done = Done("t", "d", trainer(by).spec, {"pools": 1, "pairs": 2, "right": 1})
    assert said in model_card.text(demur.ranker("overlap"), Recipe("siamese", [Stage("t")]), [done], None)
