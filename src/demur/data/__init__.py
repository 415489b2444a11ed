"""Datasets and files of pools: `load` one by its id, `stream` it, `summarise` it, `check` what is here."""

from __future__ import annotations

from demur.data.checking import Finding, check
from demur.data.datasets import Dataset, Pools, dataset, load, pools, stream
from demur.data.sources import Facts
from demur.data.summary import Summary, summarise

__all__ = [
    "Dataset",
    "Facts",
    "Finding",
    "Pools",
    "Summary",
    "check",
    "dataset",
    "load",
    "pools",
    "stream",
    "summarise",
]
