"""One small spelling for values with settings: ``nDCG(gain=exp)@10``, ``bm25(k1=0.9, stats=dataset)``."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

from demur.errors import UsageError
from demur.renamed import first_spelled

Setting = bool | int | float | str

_KINDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "a text", "None": ""}

_NAME = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*")
_KEY = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*")
_AT = re.compile(r"\s*@((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*")
_BARE = re.compile(r"""(?!\[)[^\s,"'=()]*""")
_CLOSING = {"(": ")", "[": "]"}
_SEVERAL = re.compile(r"[,;|+&\w]")
_LIST = "; a list goes in brackets, separated by semicolons: fusion(rankers=[bm25; encoder])"


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
    edition: ClassVar[int] = 1
    """Raised when a change of the code changes what it gives: results of older editions are stale."""
    unsaid: ClassVar[Mapping[str, str]] = {}
    """What settings mean that are empty, where results depend on it."""

    @property
    def spec(self) -> str:
        """The spelling that builds this again, all settings said."""
        me: Any = self
        if not dataclasses.is_dataclass(me) or not hasattr(me, "name"):
            what = f"{type(self).__name__} is no frozen dataclass with a name"
            raise UsageError(f'{what}; put @dataclass(frozen=True) above it, and name = "mine" in it')
        fields = dataclasses.fields(me)
        return str(Spec(self.name, {field.name: getattr(self, field.name) for field in fields if field.init}))

    @property
    def settings(self) -> frozenset[str]:
        """The names of its settings."""
        return frozenset(each.name for each in dataclasses.fields(self) if each.init)  # type: ignore[arg-type]

    @property
    def parts(self) -> Sequence[Spelled]:
        """The rankers and embedders that it is made of, if any."""
        return ()

    @property
    def fingerprint(self) -> str:
        """A hash of everything the result depends on; those that learn add what they learnt."""
        return hashlib.sha256(first_spelled(self.spec).encode()).hexdigest()[:16]


def spell(value: Setting) -> str:
    """The text from which `parse` reads the value back."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str) or (
        read_value(value) == value and not re.search(r"[\s,=()\[\]\"']", value)
    ):
        return str(value)
    for quote in ('"', "'"):
        if quote not in value and not value.endswith("\\") and "\\\\" not in value:
            return f"{quote}{value}{quote}"
    if value == value.strip() and _balanced(value):
        return f"[{value}]"
    escaped = re.sub(r'(["\\])', r"\\\1", value)
    return f'"{escaped}"'


def read_value(text: str) -> Setting:
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


_LARGEST = 2**63 - 1  # what libraries in C take


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or kind in ("bool", "str"):
        return type(value).__name__ == kind
    if kind == "float":
        number: Any = value  # mypy does not know that a Real can be compared
        return isinstance(value, Real) and bool(abs(number) <= sys.float_info.max)  # so no inf, no nan
    return kind == "int" and isinstance(value, Integral) and abs(int(value)) <= _LARGEST


def parse(text: str) -> Spec:
    """The spec a text spells, read without ``eval``.

    A setting that is a list of specs stands in brackets, which may hold others, or in quotation marks:
    ``fusion(rankers=[bm25; fusion(rankers=[mini; encoder])])``. One that is a single spec needs neither.
    """
    name = _NAME.match(text)
    if name is None:
        raise _unreadable(text)
    place, inside = name.end(), ""
    if text[place : place + 1] == "(":
        end = _end(text, place)
        if end is None:
            raise _unreadable(text)
        inside, place = text[place + 1 : end - 1], end
    behind = _AT.match(text, place)
    rest = text[behind.end() if behind else place :].strip()
    if rest:
        raise _unreadable(text, _LIST if _SEVERAL.match(rest) else "")
    at = float(behind[1]) if behind else None
    if at is not None and at > sys.float_info.max:
        raise UsageError(f"the number behind the @ in {text!r} is too large; write a smaller one")
    return Spec(name[1], _settings(inside, text), at)


def listed(text: str, separator: str = ";") -> list[str]:
    """The specs in a list such as ``bm25(k1=0.9); overlap``; within quotes or brackets nothing is parted."""
    return [part for part in _parted(text, separator) if part]


def members_of(text: str) -> list[str]:
    """The specs in a list, as `listed` gives them; a place in it that is empty is refused."""
    found = _parted(text, ";")
    if any(found) and "" in found[:-1]:
        raise UsageError(f"nothing is named at place {found.index('') + 1} of [{text}]; remove a semicolon")
    return [part for part in found if part]


def _parted(text: str, separator: str) -> list[str]:
    parts, began, place = [], 0, 0
    while place < len(text):
        if text[place] == separator:
            parts.append(text[began:place])
            began = place + 1
        place = _end(text, place) or place + 1
    return [part.strip() for part in (*parts, text[began:])]


def _settings(inside: str, whole: str) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for part in listed(inside, ","):
        found = _KEY.match(part)
        value = None if found is None else _value(part[found.end() :].strip())
        if found is None or value is None:
            fix = _odd_bracket(whole) or f"write them as key=value, key=value{_LIST}"
            raise UsageError(f"cannot read the settings in {whole!r}; {fix}")
        if found[1] in settings:
            raise UsageError(f"{found[1]!r} is set twice in {whole!r}; set it once")
        settings[found[1]] = value
    return settings


def _value(text: str) -> Setting | None:
    """The value of a setting; None if the text spells none."""
    bare = _BARE.match(text)
    if bare is not None and bare.end() == len(text):
        return read_value(text)
    end = _end(text, 0)
    if text[0] in "\"'" and end == len(text):
        return re.sub(rf"\\([{text[0]}\\])", r"\1", text[1:-1])
    if text[0] == "[" and end == len(text):
        inside = text[1:-1].strip()
        if not inside:
            raise UsageError(f"the list {text} is empty; name something in it, or leave the setting out")
        return inside
    try:
        parse(text)  # such as bm25(k1=0.9)
    except UsageError:
        return None
    return text


def _end(text: str, place: int) -> int | None:
    """Where what opens here has ended: quotation marks, or brackets with all that is in them.

    None where nothing opens, or where it never ends.
    """
    opening = text[place]
    if opening in "\"'":
        found = re.compile(rf"{opening}(?:\\[{opening}\\]|[^{opening}])*{opening}").match(text, place)
        return found.end() if found else None
    if opening not in _CLOSING:
        return None
    place += 1
    while place < len(text) and text[place] != _CLOSING[opening]:
        if text[place] in ")]":
            return None
        further = _end(text, place)
        if further is None and text[place] in "([\"'":
            return None
        place = further or place + 1
    return place + 1 if place < len(text) else None


def _balanced(text: str) -> bool:
    """Whether a text in brackets ends where the brackets do."""
    return _end(f"[{text}]", 0) == len(text) + 2


def _unreadable(text: str, hint: str = "") -> UsageError:
    fix = f"write it as name, name@10 or name(key=value, key=value){hint}"
    if text.strip()[:1] in ("'", '"'):
        fix = "names stand without quotation marks; leave them out"
    return UsageError(f"cannot read {text!r}; {_odd_bracket(text) or fix}")


def _odd_bracket(text: str) -> str:
    """Which bracket is missing or one too many; an empty text if none is."""
    open_ones: list[str] = []
    place = 0
    while place < len(text):
        each = text[place]
        quoted = _end(text, place) if each in "\"'" else None
        if each in _CLOSING:
            open_ones.append(_CLOSING[each])
        elif each in ")]" and each not in open_ones:
            return f"the {each} at character {place + 1} is one too many; remove it"
        elif each in ")]" and (missing := open_ones.pop()) != each:
            return f"a {missing} is missing before character {place + 1}; add it"
        place = quoted or place + 1
    return f"a {open_ones[-1]} is missing at the end; add it" if open_ones else ""
