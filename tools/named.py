"""The page of settings: everything that can be set, by name."""

from __future__ import annotations

import dataclasses
import inspect
import textwrap
from typing import Any

from demur import registry
from demur.specs import spell

SET = ("ranker", "reader", "doubt", "embedder", "trainer", "qualifier")
INTRODUCTION = """What may be in brackets behind a name, as in `--ranker "bm25(k1=0.9)"`, and in the
`settings` of a recipe's stage. Each name is shown with all its settings and their defaults.
A list of names, such as the rankers of a fusion, goes in brackets, separated by semicolons, and may hold
further ones: `fusion(rankers=[bm25(k1=0.9); fusion(rankers=[mini; encoder])])`.

`none` in place of a value means: do without. Without a ranker `demur ask` and `calibrate` keep the order of
the search; without a reader whole sentences are quoted; without a gate nothing is promised. With `stem=none`
words are compared as they are, with `weights=none` all words count alike, with `early=none` training ends
after the last epoch, and with `adversary=none` wrong answers are chosen at random."""
WIDE, EMPTY = 100, '""'


def settings() -> str:
    """`docs/settings.md`: the settings of everything that has some."""
    parts = [f"# Settings\n\n{INTRODUCTION}\n"]
    for kind in SET:
        parts.append(f"## {kind.capitalize()}s\n")
        parts += [_page(kind, name) for name in sorted(registry.OURS[kind])]
    return "\n".join(parts)


def _page(kind: str, name: str) -> str:
    """A name with its settings, and all that is said of them."""
    thing = registry.find(kind, name)
    known = inspect.signature(thing).parameters.values()
    said = [f"{each.name}={spell(each.default) if each.default != '' else EMPTY}" for each in known]
    spelled = f"{name}({', '.join(said)})" if said else name
    shown = textwrap.fill(
        spelled, WIDE, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return f"### {kind.capitalize()} `{name}`\n\n```text\n{shown}\n```\n\n{_told(kind, thing)}\n"


def _told(kind: str, thing: Any) -> str:
    """What a class says of itself, and those before it whose settings it has."""
    parts = [_said(thing)]
    for base in thing.__mro__[1:] if inspect.isclass(thing) else ():
        if not dataclasses.is_dataclass(base) or not vars(base).get("__annotations__"):
            continue
        named = [name for name in registry.OURS[kind] if registry.find(kind, name) is base]
        if named:
            if f"`{named[0]}`" not in parts[0]:
                parts.append(f"The other settings are those of `{named[0]}`.")
            break
        if "`" in (base.__doc__ or ""):
            parts.append(_said(base))
    return "\n\n".join(parts)


def _said(thing: Any) -> str:
    """A docstring as Markdown."""
    text = (inspect.getdoc(thing) or "").replace("``", "`")
    return "\n\n".join(textwrap.fill(part, 120) for part in text.split("\n\n"))
