"""What is said of the packages and models that demur is made of."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from tools import audit, bill
from tools.installed import ROOT

import demur

ONE = {"name": "a", "version": "1", "vulns": []}
BAD = {"name": "b", "version": "2", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2.1"]}, {"id": "PYSEC-2"}]}
AWAY = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "code", "lines"),
    [
        ([ONE], 0, ["audit: packages looked up: 1, vulnerabilities: 0"]),
        (
            [ONE, BAD, AWAY],
            1,
            [
                "audit: packages looked up: 2, vulnerabilities: 2",
                "b 2: PYSEC-1, fixed in 2.1",
                "b 2: PYSEC-2, not fixed yet",
                "audit: data not to be had for 1: c",
            ],
        ),
        ([AWAY], 0, ["audit: data not to be had for any package of 1"]),
    ],
)
def test_what_has_no_data_is_told_and_is_no_failure(found: list[object], code: int, lines: list[str]) -> None:
    said = f"print({json.dumps({'dependencies': found})!r})"
    assert audit.audit([sys.executable, "-c", said]) == (code, lines)


def test_an_audit_that_breaks_off_is_told_and_is_no_failure() -> None:
    code = "import sys; sys.exit('Traceback\\nConnectionError: no route')"
    told = ["audit: data not to be had (ConnectionError: no route)"]
    assert audit.audit([sys.executable, "-c", code]) == (0, told)


@pytest.mark.skipif(
    not (Path(demur.__file__).parent / "models" / "mini" / "model.onnx").is_file(),
    reason="no model came with this copy",
)
def test_the_bill_has_the_version_and_the_models() -> None:
    made = {
        "metadata": {"component": {"bom-ref": "root", "name": "demur"}},
        "components": [{"bom-ref": "numpy==2"}],
        "dependencies": [{"ref": "numpy==2"}, {"ref": "root", "dependsOn": ["numpy==2"]}],
    }
    found = bill.completed(made)
    assert found["metadata"]["component"]["version"] == demur.__version__
    assert [each["bom-ref"] for each in found["components"]] == ["numpy==2", "model-encoder", "model-mini"]
    assert all(re.fullmatch("[0-9a-f]{64}", each["hashes"][0]["content"]) for each in found["components"][1:])
    needs = {each["ref"]: each.get("dependsOn") for each in found["dependencies"]}
    assert needs["root"] == ["numpy==2", "model-encoder", "model-mini"] and "model-mini" in needs


def test_the_package_is_built_twice_and_compared() -> None:
    recipe = (ROOT / "Makefile").read_text("utf-8").partition("\npackage:\n")[2].partition("\n\n")[0]
    assert recipe.count("-m build") == 2 and "cmp" in recipe
