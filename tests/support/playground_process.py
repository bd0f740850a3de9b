"""The playground as a process of its own, forked from one that has its packages: as ``playground.child`` starts it, which a server or a demo does."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from playground.child import SCRIPT
from tests.support import forked_commands


@contextmanager
def running_playground(*options: str) -> Generator[str]:
    """Its address, once it answers; killed at the end. ``options``: of ``scripts/serve_playground.py``."""
    command = [sys.executable, SCRIPT, "--port", "0", "--no-meteo", *options]
    process = forked_commands.start(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        name, _, address = process.stdout.readline().strip().partition(" ")
        assert name == "playground:"
        yield address
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
