"""Imported by every command before any package: where Footpath's packages are missing, a line says what to do, instead of a traceback.
Also, garbage is looked for less often: packages that are being imported make much that stays, and none.
"""

import gc
import sys
from importlib.util import find_spec
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_DOMAIN = f"{(__package__ or '').rpartition('.')[0]}.domain".lstrip(".")
"""In a wheel this lies below ``footpath``, and so does the domain."""
_NEEDED = ("typer", "rich", "orjson", "pydantic", _DOMAIN)


def _advice() -> str:
    own = _ROOT / ".venv" / "bin" / "python"
    ready = own.exists() and str(own) != sys.executable
    run = (
        f"{own} {sys.argv[0]} …"
        if ready
        else f"make setup in {_ROOT}, then . .venv/bin/activate, and the command again"
    )
    return f"Footpath is not installed for {sys.executable} (Python {sys.version.split()[0]}). Run {run}"


if sys.version_info < (3, 11) or any(find_spec(name) is None for name in _NEEDED):
    print(_advice(), file=sys.stderr)
    sys.exit(3)

gc.set_threshold(50_000, 20, 20)
