"""What demur is made of, in CycloneDX: the packages of the core by cyclonedx-py, and the models of demur.

python -m tools.bill CYCLONEDX_PY PYTHON_OF_A_CORE FILE
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import demur
from demur import store
from tools.installed import ROOT

MODELS = ("encoder", "mini")


def completed(bill: dict[str, Any]) -> dict[str, Any]:
    """The bill with the version, which pyproject.toml does not say, and the models with their checksums."""
    demur_itself = bill["metadata"]["component"]
    demur_itself |= {"version": demur.__version__, "purl": f"pkg:pypi/demur@{demur.__version__}"}
    models = [model(name) for name in MODELS]
    needs = next(each for each in bill["dependencies"] if each["ref"] == demur_itself["bom-ref"])
    names = [each["bom-ref"] for each in models]
    return bill | {
        "components": [*bill["components"], *models],
        "dependencies": [
            *(each for each in bill["dependencies"] if each is not needs),
            needs | {"dependsOn": [*needs.get("dependsOn", []), *names]},
            *({"ref": name} for name in names),
        ],
    }


def model(name: str) -> dict[str, Any]:
    """A model that comes with demur."""
    kept = store.open_folder(Path(demur.__file__).parent / "models" / name)
    return {
        "bom-ref": f"model-{name}",
        "type": "machine-learning-model",
        "name": name,
        "version": kept.fingerprint,
        "hashes": [{"alg": "SHA-256", "content": kept.files["model.onnx"]}],
    }


def main() -> None:
    """Write the bill."""
    program, python, file = sys.argv[1:]
    words = ["--pyproject", str(ROOT / "pyproject.toml"), "--mc-type", "library", "--output-reproducible"]
    command = [program, "environment", *words, "--of", "JSON", python]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    bill = completed(json.loads(done.stdout))
    Path(file).write_text(json.dumps(bill, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"{file}: {len(bill['components'])} components")


if __name__ == "__main__":
    main()
