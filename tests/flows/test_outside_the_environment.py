"""Commands that are run by a Python without the packages say what to do."""

import subprocess
import sys

import pytest

from tests.architecture.test_scripts import SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_line_says_what_to_do(script: object) -> None:
    done = subprocess.run(  # -S: no packages
        [sys.executable, "-S", str(script), "--help"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
    assert "Footpath is not installed for" in done.stderr
    assert ".venv/bin/" in done.stderr
