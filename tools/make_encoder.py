"""Makes the sentence encoder that comes with demur (`python -m tools.make_encoder`): MiniLM in bytes.

The scales of its numbers come from texts of dev and train sets; nothing of any test set is looked at.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from demur import __version__
from demur.data import pools
from demur.data.subsets import sample
from demur.embedders.encoders.encoder import Encoder
from demur.embedders.encoders.loading import MINILM
from demur.embedders.encoders.packaged import FOLDER
from demur.export.encoder import export

SCALES = {"squad/2.0/train/rest/sample-200": 200, "wikiqa/train": 100, "semeval2016/train-part2": 60}
SCALES |= {"antique/dev": 60, "selqa/dev": 60, "insuranceqa/dev": 60}
ANSWERS = 2  # of each question, spread over its candidates

CARD = """# encoder: texts as vectors, without torch

all-MiniLM-L6-v2 of the sentence-transformers project (Apache-2.0; 6 layers of 384 numbers, taught on a
billion pairs of English sentences), in bytes, with its tokenizer; made with demur {version} by
`python -m tools.make_encoder`. It is what the ranker `encoder` and the finding by meaning of `demur ask` use.

```python
import demur

ranker = demur.ranker("encoder")  # comes with demur; needs no torch and no network
print(ranker.rank("who wrote the letter?", ["Ada wrote it in May.", "It rained."]).candidates[0].text)
```

`encoder(model=minilm)` is the same network in floats, and needs `demur[encoder]`. What the bytes cost is in
`results/encoder/bytes.json`, which `python -m tools.compare_encoder` writes.

- It reads English; others were not tried. Of a text it reads the first 256 tokens.
- Its products of bytes cannot overflow (`docs/decisions/024-the-same-on-every-processor.md`), and vectors are
  the same on all processors that multiply and add in one step (AVX2 and later).
"""


def texts() -> Iterator[str]:
    """Questions and answers, each once."""
    for name, count in SCALES.items():
        for pool in sample(pools(name), count):
            step = max(1, len(pool) // ANSWERS)
            yield pool.question
            yield from pool.answers[::step][:ANSWERS]


def main() -> None:
    """Make it, and tell how near it is."""
    encoder = Encoder(MINILM, precision="fp32", device="cpu")
    near = export(encoder, FOLDER, list(dict.fromkeys(texts())), CARD.format(version=__version__))
    print(near, file=sys.stderr)


if __name__ == "__main__":
    main()
