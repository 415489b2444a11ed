"""Known vulnerabilities of the packages in constraints.txt, as pip-audit finds them.

Where it has no data, as without a connection, a line says so: that is no failure, and no clean bill either.

python -m tools.audit PIP_AUDIT
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from tools.installed import ROOT

WORDS = ("--disable-pip", "--no-deps", "--progress-spinner", "off", "--format", "json", "--requirement")


def audit(command: Sequence[str]) -> tuple[int, list[str]]:
    """The exit code and the lines to print; a package without data is never said to be free of them."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return 0, [f"audit: data not to be had ({last(done.stderr)})"]
    known = [each for each in found if "skip_reason" not in each]
    if not known:
        return 0, [f"audit: data not to be had for any package of {len(found)}"]
    bad = [f"{each['name']} {each['version']}: {told(one)}" for each in known for one in each["vulns"]]
    away = [each["name"] for each in found if "skip_reason" in each]
    lines = [f"audit: packages looked up: {len(known)}, vulnerabilities: {len(bad)}", *bad]
    if away:
        lines.append(f"audit: data not to be had for {len(away)}: {', '.join(away)}")
    return int(bool(bad)), lines


def told(one: dict[str, object]) -> str:
    """A vulnerability by its name, and the versions without it."""
    fixed = one.get("fix_versions")
    fixes = f"fixed in {', '.join(map(str, fixed))}" if isinstance(fixed, list) and fixed else "not fixed yet"
    return f"{one['id']}, {fixes}"


def last(text: str) -> str:
    """The last line of what a program said."""
    return (text.strip().splitlines() or ["it said nothing"])[-1][:200]


def main() -> int:
    """Print what was found."""
    code, lines = audit([sys.argv[1], *WORDS, str(ROOT / "constraints.txt")])
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
