"""What make hands on to what it runs."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROBE = 'probe:\n\t@echo "[$$PYTHONDONTWRITEBYTECODE]"\n'


def test_bytecode_is_kept_whatever_the_shell_says() -> None:
    """Without it each process of the tests compiles all packages anew: seconds for every script and server that is started."""
    told = subprocess.run(
        ["make", "--silent", "--file", "Makefile", "--file", "-", "probe"],
        cwd=ROOT,
        input=PROBE,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout == "[]\n"
