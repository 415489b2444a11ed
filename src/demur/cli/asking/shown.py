"""How `demur ask` shows what a session answers: for people, or as JSON."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from demur.cli.console import emit, stdout

if TYPE_CHECKING:
    from demur.asking import Session


@dataclass(frozen=True)
class Shown:
    """A session, and how its answers are shown."""

    session: Session
    top: int = 5
    explain: bool = False
    json: bool = False

    def answer(self, question: str, indent: int | None = 2) -> None:
        """Print the answer to a question, or why there is none."""
        from demur.asking import as_plain
        from demur.asking.meaning.ranker import LEAST
        from demur.cli.asking.answers import show
        from demur.kb.read import ReadBase

        result = self.session.ask(question, self.top)
        if self.json:
            emit(as_plain(result), indent)
        else:
            library, rule = self.session.library, self.session.rule_for(result.ranking)
            least = rule.least if rule.least > LEAST else None
            show(
                result, stdout(), library.stem, rule.gate, self.explain, isinstance(library, ReadBase), least
            )
        sys.stdout.flush()
