"""What a lock file pins, as ``make lock`` writes it: each package with its hashes and with who asks for it."""

import re
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_ASKED_BY = re.compile(r"^\s+# via (.+)$")


@dataclass(frozen=True)
class Locked:
    """``marker``: where it is installed; empty: everywhere. ``asked_by``: names of packages, the project's own among them."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    asked_by: tuple[str, ...]


def locked(file: Path) -> list[Locked]:
    """The packages of a lock file, in its order; a package has several versions where these depend on the interpreter."""
    found: list[Locked] = []
    lines = file.read_text(encoding="utf-8").replace("\\\n", "").splitlines()
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not line or line[0] in " #-":
            continue
        needs = Requirement(line.partition(" --hash=")[0].strip())
        (pin,) = needs.specifier
        asked = _ASKED_BY.match(below)
        found.append(
            Locked(
                name=needs.name,
                version=pin.version,
                marker=str(needs.marker or ""),
                hashes=tuple(_HASH.findall(line)),
                asked_by=tuple(_names(asked.group(1))) if asked else (),
            )
        )
    return found


def _names(text: str) -> list[str]:
    """``streamlit, footpath (pyproject.toml:dev), -c requirements.lock`` without what is no package."""
    return [name.split(" ")[0] for name in text.split(", ") if not name.startswith("-")]
