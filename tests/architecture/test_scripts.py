"""Scripts are thin, and every one says what it does."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT, line_count

SCRIPTS = sorted(path for path in (ROOT / "scripts").glob("*.py") if not path.name.startswith("_"))


def test_there_are_scripts() -> None:
    assert {"ask", "build_graph", "demo", "evaluate", "show_tool"} <= {path.stem for path in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_help_works(script: Path, tmp_path: Path) -> None:
    """From any folder: nothing depends on where one stands."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), "--help"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_scripts_are_thin(script: Path) -> None:
    assert line_count(script) <= 150
