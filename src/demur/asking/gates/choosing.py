"""Which ranker and gate a session has, and whether its gate fits what is searched."""

from __future__ import annotations

import logging
from pathlib import Path

from demur.asking import packaged
from demur.asking.gates.base_gate import LAPSE, BaseGate
from demur.asking.gates.gate import (
    NONE,
    Gate,
    check_search,
    find_gate,
    gate_of_rows,
    open_gate,
    second_ranker_of,
)
from demur.asking.gates.rules import Rule
from demur.asking.library import AS_FOUND
from demur.asking.meaning.ranker import LEAST, ByMeaning
from demur.asking.meaning.tending import check_vectors
from demur.asking.reading import check_quotes
from demur.asking.searching import Search
from demur.errors import DemurError, UsageError
from demur.kb.read import ReadBase
from demur.rankers import Ranker
from demur.risk.thresholds.bounds import check_promise

Who = str | Path | Ranker
_log = logging.getLogger(__name__)


def of_base(base: ReadBase, ranker: Who | None, risk: float | None = None) -> tuple[Who, Gate | None]:
    """The ranker and the gate of a knowledge base; without one for this risk, those that come with demur."""
    if not base.gate_state():
        return chosen(ranker, None, risk)
    try:
        promised = open_gate(base.gate_file()).certificate.risk
        if risk is None or risk == promised:
            return chosen(ranker, base.gate_file(), risk)
        why = f"it is for a risk of {promised:g}, not of {risk:g}; demur calibrate --kb makes another"
    except DemurError as error:
        why = str(error)
    found = chosen(ranker, None, risk)
    taken = "the gate that comes with demur is taken, not that of this base"
    _log.warning("%s: %s", "no gate is set" if found[1] is None else taken, why)
    return found


def chosen(ranker: Who | None, gate: str | Path | Gate | None, risk: float | None) -> tuple[Who, Gate | None]:
    """The ranker that scores again what is found, and the gate: as named, or those that come with demur."""
    if risk is not None:
        check_promise(risk)
    if ranker is None and (gate is None or gate == NONE):
        ranker = packaged.usual()
        if ranker is None:
            what = "the model %s did not come with this copy of demur: BM25 answers alone"
            _log.warning(what, packaged.NAME)
            ranker = AS_FOUND[0]
    if gate is None or isinstance(gate, str | Path):
        spec = ranker.spec if isinstance(ranker, Ranker) else ranker
        opened: Gate | None = find_gate(gate, spec, files=True, risk=risk)
    else:
        opened = gate
        promised = gate.certificate.get("risk")
        if risk is not None and risk != promised:
            what = f"the gate promises a risk of {promised}, not of {risk:g}"
            raise UsageError(f"{what}; leave the risk out, or name a folder with several gates")
    if ranker is None and opened is not None:
        ranker = second_ranker_of(opened)
    return AS_FOUND[0] if ranker is None else ranker, opened


def judging(
    gate: Gate | None,
    search: Search,
    reader: object | None,
    who: Who,
    lapse: float = LAPSE,
    named: bool = False,
    rows: bool = True,
    budget: str | None = None,
) -> tuple[Rule, Rule | None]:
    """The rule by a gate, and perhaps another for `rows` of an FAQ.

    A gate that does not fit is an error if it was `named`; otherwise it is set aside, and a warning says so.
    """
    of_rows = gate_of_rows(gate) if rows and gate is not None else None
    rule, rule_of_rows = Rule(gate), None if of_rows is None else Rule(of_rows)
    if gate is None:
        return rule, rule_of_rows
    try:
        check_vectors(search.library, who)
        if isinstance(search.library, ReadBase) and BaseGate.of(gate) is not None:
            return Rule(BaseGate.opened(gate, search, reader, lapse)), rule_of_rows
        check_search(gate, search)
        check_quotes(gate, reader)
        return rule, rule_of_rows
    except UsageError as error:
        why = str(error)
        if isinstance(search, ByMeaning) and search.read < search.wanted:
            what = f"within {budget} {search.read} passages are read"
            why = f"{what}, its promise is for {search.wanted}; allow more time, or leave the budget out"
            if named:
                raise UsageError(f"the gate does not hold: {why}") from None
        if named:
            raise
    rule, rule_of_rows = rule.set_aside(), None if rule_of_rows is None else rule_of_rows.set_aside()
    if rule.least > LEAST:
        apart = "" if rule_of_rows is None else f" (in an FAQ, {rule_of_rows.least:.2g})"
        stays = f"what is less likely than {rule.least:.2g}{apart} is no answer"
        _log.warning("the gate is set aside: %s; its threshold stays: %s", why, stays)
    else:
        _log.warning("no gate is set: %s", why)
    return rule, rule_of_rows
