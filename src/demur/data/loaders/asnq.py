"""ASNQ: ``question<TAB>sentence<TAB>label`` with labels 1 to 4, of which only 4 is positive."""

from __future__ import annotations

from functools import partial

from demur.data import formats
from demur.data.loaders import Loader, Split

LOADER = Loader(
    {
        name: Split(partial(formats.read_pools, format="asnq"), (f"asnq/{name}.tsv.gz",))
        for name in ("train", "dev")
    }
)
