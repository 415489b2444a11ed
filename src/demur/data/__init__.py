"""Datasets and files of pools: `load` one by its id, `stream` it, `summarise` it, `check` what is here."""

from __future__ import annotations

from demur.data.checking import Finding, check
from demur.data.datasets import Dataset, Pools, binary, dataset, load, pools, relevant, stream
from demur.data.sources import Facts
from demur.data.summary import Summary, summarise

__all__ = [
    "Dataset",
    "Facts",
    "Finding",
    "Pools",
    "Summary",
    "binary",
    "check",
    "dataset",
    "load",
    "pools",
    "relevant",
    "stream",
    "summarise",
]
