"""Datasets by id: name, split and subsets, as in ``wikiqa/test/clean``; or a file of the user's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import overload

from demur import registry
from demur.data import formats, sources, subsets
from demur.data.loaders import Loader, Split, Subset, relabelled
from demur.errors import DataError, UnknownName, UsageError
from demur.types import Pool


class Pools(Sequence[Pool]):
    """The pools of a split or file: read at the first touch, then kept in memory.

    `files` names what they are read from: files below the data folder, or the user's own. An answer is right
    from the label `relevant` on; lower ones above 0 count for measures of graded relevance alone.
    """

    def __init__(
        self, id: str, files: tuple[str, ...], read: Callable[[], Iterator[Pool]], relevant: int = 1
    ) -> None:
        self.id = id
        self.files = files
        self.relevant = relevant
        self._read = read

    def stream(self) -> Iterator[Pool]:
        """The pools read anew, one at a time, and not kept."""
        return self._read()

    @cached_property
    def _kept(self) -> tuple[Pool, ...]:
        return tuple(self._read())

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[Pool]:
        return iter(self._kept)

    @overload
    def __getitem__(self, place: int) -> Pool: ...
    @overload
    def __getitem__(self, place: slice) -> Pools: ...
    def __getitem__(self, place: int | slice) -> Pool | Pools:
        if isinstance(place, slice):
            part = self._kept[place]
            bounds = [place.start, place.stop, *([] if place.step is None else [place.step])]
            said = ":".join("" if bound is None else str(bound) for bound in bounds)
            return Pools(f"{self.id}[{said}]", self.files, lambda: iter(part), self.relevant)
        return self._kept[place]

    def __repr__(self) -> str:
        return f"<Pools {self.id}>"


@dataclass(frozen=True)
class Dataset:
    """A dataset's splits, by item (``data["train-all"]``) or attribute (``data.train_all``)."""

    name: str
    pools: Mapping[str, Pools]

    @property
    def splits(self) -> tuple[str, ...]:
        """The names of the splits."""
        return tuple(self.pools)

    def __getitem__(self, split: str) -> Pools:
        if split not in self.pools:
            raise UnknownName(f"split of {self.name}", split, self.pools)
        return self.pools[split]

    def __iter__(self) -> Iterator[str]:
        return iter(self.pools)

    def __contains__(self, split: object) -> bool:
        return split in self.pools

    def __getattr__(self, name: str) -> Pools:
        if not name.startswith("_"):  # those are asked for before the fields are there, as by copy
            for split, pools in self.pools.items():
                if name == re.sub(r"\W", "_", split):
                    return pools
            ids = ", ".join(f"{self.name}/{split}" for split in self.pools)
            raise AttributeError(f"{self.name} has no split {name!r}; load one of {ids}")
        raise AttributeError(name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(re.sub(r"\W", "_", split) for split in self.pools)]

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {', '.join(self.pools)}>"


def load(id: str | Path) -> Dataset | Pools:
    """The dataset of a name, or the pools of an id or file. Nothing is read before the pools are touched."""
    if not str(id).strip():
        raise UsageError("the name of the data is empty; name a dataset, a file or a folder")
    name, _, rest = str(id).partition("/")
    try:
        return _registered(name, rest.rstrip("/"))
    except UnknownName as error:
        if str(id) == "-" or Path(id).exists():
            return Pools(str(id), (str(id),), partial(formats.read_pools, id))
        if (whole := _holding(Path(id))) is not None:
            parts = Path(id).relative_to(whole).parts
            chosen = [_subset(part, {}, str(whole)) for part in parts]
            return Pools(str(id), (str(whole),), partial(_parts, whole, chosen))
        names = registry.names("dataset")
        if name in names:
            raise
        if Path(id).suffix or str(id).startswith((".", "/", "~")):
            fix = "check the spelling of the path"
            raise DataError("no such file or folder", path=id, fix=fix) from error
        raise UnknownName("dataset or file", str(id), names) from None


def _holding(path: Path) -> Path | None:
    """The file that a path such as ``faq.jsonl/sample-10`` names a part of."""
    return next((parent for parent in path.parents if parent.is_file()), None)


def _parts(file: Path, chosen: Sequence[Subset]) -> Iterator[Pool]:
    pools: Iterator[Pool] = iter(formats.read_pools(file))
    for subset in chosen:
        pools = iter(subset(pools))
    return pools


def _subset(part: str, own: Mapping[str, Subset], split: str) -> Subset:
    """A part of a split by its name."""
    other = _other(part)
    if other is None:
        return subsets.find_subset(part, own, split)
    return partial(subsets.apart, others=other)


def _other(part: str) -> Pools | None:
    """The split that a name such as ``apart-wikiqa-test`` sets others apart from."""
    asked = part.removeprefix(subsets.APART)
    for name in registry.names("dataset") if asked != part else ():
        if asked.startswith(f"{name}-"):
            loader: Loader = registry.find("dataset", name)
            for split, read in loader.splits.items():
                if asked == f"{name}-{split}".replace("/", "-"):
                    return _pools(name, split, read)
    return None


def _registered(name: str, rest: str) -> Dataset | Pools:
    loader: Loader = registry.find("dataset", name)
    for split in sorted(loader.splits, key=len, reverse=True):  # dev/tokens before dev
        if f"{rest}/".startswith(f"{split}/"):
            parts = rest[len(split) + 1 :].split("/") if rest != split else []
            chosen = [_subset(part, loader.subsets, f"{name}/{split}") for part in parts]
            relevant = max([1, *(loader.relevant.get(part, 1) for part in parts)])
            found = _pools(name, rest, loader.splits[split], chosen, relevant)
            others = (other for part in parts if (other := _other(part)) is not None)
            found.files += tuple(file for other in others for file in other.files)
            return found
    folder = f"{rest}/" if rest else ""
    inside = {
        split.removeprefix(folder): _pools(name, split, source)
        for split, source in loader.splits.items()
        if split.startswith(folder)
    }
    if not inside:
        raise UnknownName(f"split of {name}", rest, loader.splits)
    return Dataset(f"{name}/{rest}".rstrip("/"), inside)


def _pools(name: str, rest: str, split: Split, chosen: Sequence[Subset] = (), relevant: int = 1) -> Pools:
    def read() -> Iterator[Pool]:
        pools = split.read(*(sources.locate(name, file) for file in split.files))
        for subset in chosen:
            pools = subset(pools)
        return pools

    return Pools(f"{name}/{rest}", split.files, read, relevant)


def relevant(pools: Iterable[Pool]) -> int:
    """The lowest label of a right answer: 1, unless the pools are a subset that says otherwise."""
    return pools.relevant if isinstance(pools, Pools) else 1


def binary(pools: Iterable[Pool]) -> Iterable[Pool]:
    """The pools with the labels 0 and 1, for whoever only asks what is right; the same if they are."""
    lowest = relevant(pools)
    if lowest == 1:
        return pools
    return [
        relabelled(pool, [None if label is None else int(label >= lowest) for label in pool.labels])
        for pool in pools
    ]


def dataset(name: str) -> Dataset:
    """The dataset of a name."""
    found = load(name)
    if isinstance(found, Dataset):
        return found
    raise UsageError(f"{name} is a split, not a dataset; load it, or name only the dataset")


def pools(id: str | Path) -> Pools:
    """The pools of an id or file; a dataset of several splits must say which one."""
    found = load(id)
    if isinstance(found, Pools):
        return found
    ids = ", ".join(f"{found.name}/{split}" for split in found.splits)
    raise UsageError(f"{found.name} is a dataset; name one of its splits: {ids}")


def stream(id: str | Path) -> Iterator[Pool]:
    """The pools of an id or file, one at a time and not kept."""
    return pools(id).stream()
