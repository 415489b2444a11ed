"""What libraries are said to do (docs/templates/comparison.toml), and whether the names given are there."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from demur import toml
from demur.errors import DataError

FACTS = Path(__file__).resolve().parents[2] / "docs" / "templates" / "comparison.toml"
DOES = ("yes", "part")


@dataclass(frozen=True)
class Told:
    """A library in words."""

    name: str
    title: str
    page: str  # of its documentation
    theirs: str = ""  # when it is the better choice
    ours: str = ""  # when demur is
    unmeasured: str = ""  # why nothing of it is measured here


@dataclass(frozen=True)
class Feature:
    """Something to do, and by which libraries: ``yes SOURCE`` or ``part SOURCE``."""

    says: str
    by: dict[str, str]

    def source(self, name: str) -> tuple[str, str]:
        """How far a library does it, and where that stands: a name of Python or an address; or nothing."""
        does, _, source = self.by.get(name, "").partition(" ")
        if does and (does not in DOES or not source):
            raise DataError(
                f"{name}: {self.by[name]!r} is no fact", path=FACTS, fix="write yes or part, SOURCE"
            )
        return does, source


@dataclass(frozen=True)
class Facts:
    """All that is said of libraries, and when it was looked up."""

    checked: str
    peer: list[Told] = field(default_factory=list)
    feature: list[Feature] = field(default_factory=list)


def facts(path: Path = FACTS) -> Facts:
    """The facts as they stand in the file."""
    return toml.read_toml(Facts, path)


def names(peer: str) -> list[str]:
    """The names of Python that the facts about a library rest on."""
    sources = [feature.source(peer)[1] for feature in facts().feature]
    return sorted({source for source in sources if source and "://" not in source})


def looked_up(peer: str) -> dict[str, bool]:
    """Whether each of these names is there."""
    return {name: there(name) for name in names(peer)}


def there(name: str) -> bool:
    """Whether a module, or something in one, has this name."""
    module, _, rest = name.rpartition(".")
    try:
        import_module(name)
        return True
    except ImportError:
        pass
    try:
        return hasattr(import_module(module), rest) if module else False
    except ImportError:
        return False
