"""Writes the card of the sentence encoder that comes with demur (`python -m tools.encoder_card`).

How well it ranks is read from what `tools.compare_encoder` found, if that was of this very model.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from demur.embedders.encoders.packaged import FOLDER
from demur.store import open_folder
from tools import overlaps
from tools.cards import BEGAN, shared, table, terms

PLACE = Path(__file__).resolve().parents[1] / "results" / "encoder" / "bytes.json"
LENGTH = 256  # tokens of a text that it reads
SCALES = {"squad/2.0/train/rest/sample-200": 200, "wikiqa/train": 100, "semeval2016/train-part2": 60}
SCALES |= {"antique/dev": 60, "selqa/dev": 60, "insuranceqa/dev": 60}
"""Texts by which the numbers of its bytes are scaled, and how many questions of each."""

_CARD = """# encoder: texts as vectors, without torch

all-MiniLM-L6-v2 of the sentence-transformers project (6 layers of 384 numbers), taught further: by
all-mpnet-base-v2, five times its size, how near texts are, and by labels, which texts answer a question. It
is int8, with its tokenizer; made with demur {version}. It is what the ranker `encoder` and the finding by
meaning of `demur ask` use.

```python
import demur

ranker = demur.ranker("encoder")  # comes with demur; needs no torch and no network
print(ranker.rank("who wrote the letter?", ["Ada wrote it in May.", "It rained."]).candidates[0].text)
```

## What it is for

Finding and ranking texts by what they mean, for a question in other words: rows of an FAQ, paragraphs of a
handbook, passages of a knowledge base, in English, on a CPU. It is not made for other languages, for texts
longer than it reads, for code, or for saying whether a text is true or answers at all: a cosine has no
promise, and the gates of `demur ask` are made for that.

## How well it ranks

{measures}

## Known failures

- It hardly tells a near miss from what it misses: if a row is about shipping to Switzerland, the question
  whether you ship to Brazil is near to it (decisions 032 and 043 in demur's sources).
- An error code or the number of a form says nothing to it; `demur ask` looks for these by their letters.

## Limits

- It reads English; others were not tried. Of a text it reads the first {length} tokens.
- Its products of bytes cannot overflow (decision 024 in demur's sources), and vectors are the same on all
  processors that multiply and add in one step (AVX2 and later).

## Data and their terms

{shared}

{began} It has learnt from nothing that the gates of `demur ask` are calibrated on; but how far its numbers
reach, which the bytes divide, was looked up on some questions of {scales}.

{terms}
- Handbooks and FAQs that were written for this, with their questions, by a language model: `learn` of
  `tools/handbooks` and `tools/faqs`.
- The encoder it began from is all-MiniLM-L6-v2; all-mpnet-base-v2 was its teacher; both Apache-2.0.

## How it was made

`make encoder`: the recipes {recipes}, then made int8.
"""
_MEASURED = """MAP on test sets and on ANTIQUE's dev set, with as many questions as are said, made by
`{command}` (`results/encoder/bytes.json` in demur's sources). `as floats` is the
network that the bytes were made from, `untaught` all-MiniLM-L6-v2 as it was, which is
`encoder(model=minilm)` and needs `demur[encoder]`. Behind what is lost by the bytes stands a 95 % interval
over questions.

"""
_UNMEASURED = (
    """Not measured yet: run `python -m tools.compare_encoder` and `python -m tools.encoder_card`."""
)


def text(version: str, fingerprint: str) -> str:
    """The page of the encoder of this fingerprint."""
    recipes = overlaps.NETWORKS["encoder"]
    names = [name for recipe in recipes for name in overlaps.named()[recipe]]
    return _CARD.format(
        version=version,
        measures=_measures(fingerprint),
        length=LENGTH,
        shared=shared({"encoder": "learnt from"}),
        began=BEGAN,
        scales=", ".join(f"`{name}`" for name in SCALES),
        terms="\n".join(terms(names)),
        recipes=" and ".join(f"`recipes/{name}.toml`" for name in recipes),
    )


def _measures(fingerprint: str) -> str:
    found: dict[str, Any] = json.loads(PLACE.read_text("utf-8"))
    if found["model"] != fingerprint:
        return _UNMEASURED
    rows = [
        [
            *(f"`{name}`", f"{row['questions']:,}"),
            *(f"{row[kind]:.3f}" for kind in ("bytes", "floats", "untaught")),
            "{:+.4f} ({:+.4f} to {:+.4f})".format(row["lost"], *row["interval"]),
        ]
        for name, row in found["MAP"].items()
    ]
    head = ["test set", "questions", "encoder", "as floats", "untaught", "lost by the bytes"]
    return _MEASURED.format(command=found["command"]) + table(head, rows)


def main() -> None:
    """Write the page of the encoder that is there."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    write()
    print(FOLDER / "README.md", file=sys.stderr)


def write() -> None:
    """Write the page of the encoder that is there."""
    model = open_folder(FOLDER)
    (FOLDER / "README.md").write_text(text(model.made["demur"], model.fingerprint), "utf-8")


if __name__ == "__main__":
    main()
