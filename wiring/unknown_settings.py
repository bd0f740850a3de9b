"""Warnings of unknown settings: variables that look like settings, and would be ignored in silence.

Most are misspelt.
"""

import re
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from agent.execution.secrets import PREFIX as SECRET
from wiring.settings import Settings

_PREFIX = "FOOTPATH_"
OF_THE_PAGE = {"FOOTPATH_SERVER_ADDRESS", "FOOTPATH_PAGE_PROXIES"}
"""Variables that only the page reads; where it runs beside the server, both have them in their environment."""
_LINE = re.compile(rf"\s*(?:export\s+)?({_PREFIX}\w+)\s*=", re.IGNORECASE)


def unknown_settings(names: Iterable[str]) -> list[str]:
    """Return a warning for each variable with the project's prefix that is neither a setting nor a secret.

    The warning names the most similar setting.
    """
    known = [f"{_PREFIX}{name.upper()}" for name in Settings.model_fields]
    said: list[str] = []
    for name in sorted({name.upper() for name in names}):
        if not name.startswith(_PREFIX) or name.startswith(SECRET) or name in OF_THE_PAGE or name in known:
            continue
        near = get_close_matches(name, [*known, SECRET + "NAME"], n=1, cutoff=0.75)
        hint = f"; is {near[0]} meant?" if near else "; .env.example lists the settings"
        said.append(f"{name} is no setting and is ignored{hint}")
    return said


def warn_of_unknown_settings(names: Iterable[str]) -> None:
    """Print the warnings of :func:`unknown_settings` on stderr."""
    for warning in unknown_settings(names):
        print(f"warning: {warning}", file=sys.stderr)


def named_in(file: Path) -> list[str]:
    """Return the variables that a ``.env`` file sets, as far as it can be read."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [hit[1] for line in lines if (hit := _LINE.match(line))]
