"""A script of the project, run as people run it."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def script(name: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What it printed and its exit code. No proxy stands between it and this machine."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    command = [sys.executable, str(ROOT / "scripts" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=kept | variables)
