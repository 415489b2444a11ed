"""Makes the sentence encoder that comes with demur (`make encoder`): from its recipe to its card.

The scales of its numbers come from texts of dev and train sets; no test set is looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from demur import toml
from demur.data import pools
from demur.data.subsets import sample
from demur.embedders.encoders.packaged import FOLDER
from demur.export.encoder import export
from demur.rankers import open_model
from demur.rankers.vectors.bi_encoder import BiEncoder
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe
from tools import encoder_card, inputs, written_pools
from tools.encoder_card import LENGTH, SCALES

ROOT = Path(__file__).resolve().parents[1]
RECIPES = tuple(ROOT / "recipes" / f"{name}.toml" for name in ("encoder", "encoder-handbooks"))
NETWORKS = tuple(ROOT / "build" / name for name in ("encoder", "encoder-handbooks"))
ANSWERS = 2  # of each question, spread over its candidates


def texts() -> Iterator[str]:
    """Questions and answers, each once."""
    for name, count in SCALES.items():
        for pool in sample(pools(name), count):
            step = max(1, len(pool) // ANSWERS)
            yield pool.question
            yield from pool.answers[::step][:ANSWERS]


def main() -> None:
    """Make it, from wherever it had come to, and tell how near the bytes are."""
    recipes = [toml.read_toml(Recipe, path) for path in RECIPES]
    to_run = inputs.recipes_to_run(RECIPES, NETWORKS, recipes)
    written_pools.make()
    inputs.check(recipes, [recipe for recipe, _ in to_run], SCALES)
    for recipe, network in to_run:
        make(recipe, network, lambda facts: print(json.dumps(facts), file=sys.stderr, flush=True))
    trained = open_model(NETWORKS[-1])
    assert isinstance(trained, BiEncoder)
    near = export(replace(trained, max_length=LENGTH), FOLDER, list(dict.fromkeys(texts())), "to be written")
    encoder_card.write()
    print(near, file=sys.stderr)


if __name__ == "__main__":
    main()
