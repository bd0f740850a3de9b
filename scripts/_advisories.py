"""What pip-audit found, in lines."""

import sys
from typing import Any


def told(answer: dict[str, Any]) -> int:
    """Tells it, and gives the exit code. A package that the service does not know was not checked."""
    packages: list[dict[str, Any]] = answer["dependencies"]
    holes = 0
    for package in packages:
        for hole in package.get("vulns", []):
            holes += 1
            mended = ", ".join(hole["fix_versions"]) or "no version yet"
            print(f"{package['name']} {package['version']}: {hole['id']} (mended by {mended}): {hole['description']}")
    unknown = [package["name"] for package in packages if "skip_reason" in package]
    if unknown:
        some = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        print(f"the advisory service does not know {len(unknown)} of {len(packages)} packages: {some}", file=sys.stderr)
    print(f"{len(packages) - len(unknown)} packages were checked: {holes or 'no'} known holes", file=sys.stderr)
    return 1 if holes else 3 if unknown else 0
