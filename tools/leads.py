"""The first section of a paper's page: what its tables say together, and how far they rank as the paper does.

A paper has one if there is a template of its name; its claims are held against the figures, as elsewhere.
"""

from __future__ import annotations

from pathlib import Path

from tools import figures


def template(paper: str) -> Path:
    """Where a paper's template lies, if it has one."""
    return figures.TEMPLATES / f"{paper}.md"


def lead(paper: str) -> list[str]:
    """The section, or nothing."""
    from demur.experiments.pages import rankings

    if not template(paper).exists():
        return []
    printed = [each for each in figures.tables().values() if each.paper == paper and each.published]
    return [f"{figures.filled(template(paper))}\n{rankings.block(printed, figures.ROOT / 'results')}\n"]
