"""One small spelling for values with settings: ``nDCG(gain=exp)@10``, ``bm25(k1=0.9, stats=dataset)``."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import sys
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

from demur.errors import UsageError

Setting = bool | int | float | str

_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text", "None": ""}

_SHAPE = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w.-]*)\s*(?:\((?P<settings>.*)\))?\s*(?:@(?P<at>\d+\.?\d*|\.\d+))?\s*", re.S
)
_SETTING = re.compile(r"""\s*(?P<key>[A-Za-z_]\w*)\s*=\s*(?P<value>"[^"]*"|'[^']*'|[^\s,"'=()]*)\s*(?:,|$)""")


@dataclass(frozen=True)
class Spec:
    """A name, its settings, and what stands behind the ``@``."""

    name: str
    settings: dict[str, Setting] = field(default_factory=dict)
    at: float | None = None

    def __str__(self) -> str:
        inside = ", ".join(f"{key}={spell(value)}" for key, value in sorted(self.settings.items()))
        at = "" if self.at is None else f"@{int(self.at) if self.at.is_integer() else self.at}"
        return f"{self.name}{f'({inside})' if inside else ''}{at}"


class Spelled:
    """A named thing that its spelling builds again: a frozen dataclass whose fields are its settings."""

    name: ClassVar[str]

    @property
    def spec(self) -> str:
        """The spelling that builds this again, all settings said."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]  # each of them is a dataclass
        return str(Spec(self.name, {field.name: getattr(self, field.name) for field in fields if field.init}))

    @property
    def fingerprint(self) -> str:
        """A hash of everything the result depends on; those that learn add what they learnt."""
        return hashlib.sha256(self.spec.encode()).hexdigest()[:16]


def spell(value: Setting) -> str:
    """The text from which `parse` reads the value back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and (read(value) != value or re.search(r"[\s,=()\"']", value)):
        return f'"{value}"' if '"' not in value else f"'{value}'"
    return str(value)


def read(text: str) -> Setting:
    """The setting a text spells: a truth value, a whole number, a number, or else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def wrong(value: object, hint: str) -> str:
    """What a setting must be, where it is not of the kind that a type hint says; else an empty text.

    A whole number is a number too, but a truth value is none; a hint of other kinds says nothing.
    """
    kinds = hint.split(" | ")
    if not set(kinds) <= _KINDS.keys() or any(_is(value, kind) for kind in kinds):
        return ""
    return " or ".join(_KINDS[kind] for kind in kinds if kind != "None")


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or kind in ("bool", "str"):
        return type(value).__name__ == kind
    if kind == "float":
        number: Any = value  # mypy does not know that a Real can be compared
        return isinstance(value, Real) and bool(abs(number) <= sys.float_info.max)  # so no inf, no nan
    return kind == "int" and isinstance(value, Integral)


def parse(text: str) -> Spec:
    """The spec a text spells, read without ``eval``."""
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise UsageError(f"cannot read {text!r}; write it as name, name@10 or name(key=value, key=value)")
    at = None if shape["at"] is None else float(shape["at"])
    if at is not None and at > sys.float_info.max:
        raise UsageError(f"the number behind the @ in {text!r} is too large")
    return Spec(shape["name"], _settings(shape["settings"] or "", text), at)


def listed(text: str) -> list[str]:
    """The specs in a list such as ``bm25(k1=0.9); overlap``; a semicolon within quotes parts nothing."""
    return [part.strip() for part in re.findall(r"""(?:[^;"']|"[^"]*"|'[^']*')+""", text) if part.strip()]


def _settings(inside: str, whole: str) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    position = 0
    while inside[position:].strip():
        found = _SETTING.match(inside, position)
        if found is None or found.end() == position:
            raise UsageError(f"cannot read the settings in {whole!r}; write them as key=value, key=value")
        key, value = found["key"], found["value"]
        if key in settings:
            raise UsageError(f"{key!r} is set twice in {whole!r}; set it once")
        settings[key] = value[1:-1] if value[:1] in ("'", '"') else read(value)
        position = found.end()
    return settings
