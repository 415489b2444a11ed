"""Makes the sentence encoder that comes with demur (`make encoder`): from its recipe to its card.

The scales of its numbers come from texts of dev and train sets; nothing of any test set is looked at.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from demur import __version__, store, toml
from demur.data import pools
from demur.data.subsets import sample
from demur.embedders.encoders.packaged import FOLDER
from demur.export.encoder import export
from demur.rankers import open_model
from demur.rankers.vectors.bi_encoder import BiEncoder
from demur.training.recipes.make_model import make
from demur.training.recipes.stages import Recipe
from tools import written_pools
from tools.mini_card import terms

ROOT = Path(__file__).resolve().parents[1]
RECIPES = tuple(ROOT / "recipes" / f"{name}.toml" for name in ("encoder", "encoder-handbooks"))
NETWORKS = tuple(ROOT / "build" / name for name in ("encoder", "encoder-handbooks"))
SCALES = {"squad/2.0/train/rest/sample-200": 200, "wikiqa/train": 100, "semeval2016/train-part2": 60}
SCALES |= {"antique/dev": 60, "selqa/dev": 60, "insuranceqa/dev": 60}
LENGTH = 256  # tokens of a text that it reads
ANSWERS = 2  # of each question, spread over its candidates

CARD = """# encoder: texts as vectors, without torch

all-MiniLM-L6-v2 of the sentence-transformers project (6 layers of 384 numbers), taught further: by
all-mpnet-base-v2, five times its size, how near texts are, and by labels, which texts answer a question. It
is in bytes, with its tokenizer; made with demur {version}. It is what the ranker `encoder` and the finding by
meaning of `demur ask` use.

```python
import demur

ranker = demur.ranker("encoder")  # comes with demur; needs no torch and no network
print(ranker.rank("who wrote the letter?", ["Ada wrote it in May.", "It rained."]).candidates[0].text)
```

How well it ranks, beside all-MiniLM-L6-v2 as it was, which is `encoder(model=minilm)` and needs
`demur[encoder]`: `demur reproduce mini table1 --cached`. What the bytes cost is in
`results/encoder/bytes.json`, which `python -m tools.compare_encoder` writes.

## Limits

- It reads English; others were not tried. Of a text it reads the first {length} tokens.
- Its products of bytes cannot overflow (`docs/decisions/024-the-same-on-every-processor.md`), and vectors are
  the same on all processors that multiply and add in one step (AVX2 and later).

## Data and their terms

Nothing of any test set, and nothing that the gates of `demur ask` are calibrated on.

{terms}
- Handbooks and FAQs that were written for this, with their questions, by a language model: `learn` of
  `tools/handbooks` and `tools/faqs`.
- The encoder it began from is all-MiniLM-L6-v2; all-mpnet-base-v2 was its teacher; both Apache-2.0.

## How it was made

`make encoder`: the recipes `recipes/encoder.toml` and `recipes/encoder-handbooks.toml`, then in bytes.
"""


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
    written_pools.make()
    for recipe, network in zip(recipes, NETWORKS, strict=True):
        if not store.is_model(network):
            make(recipe, network, lambda facts: print(json.dumps(facts), file=sys.stderr, flush=True))
    trained = open_model(NETWORKS[-1])
    assert isinstance(trained, BiEncoder)
    stages = [stage for recipe in recipes for stage in recipe.stage]
    page = CARD.format(version=__version__, length=LENGTH, terms="\n".join(terms(stages)))
    near = export(replace(trained, max_length=LENGTH), FOLDER, list(dict.fromkeys(texts())), page)
    print(near, file=sys.stderr)


if __name__ == "__main__":
    main()
