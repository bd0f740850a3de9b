"""A two-node Ray cluster for tests, in a process of its own."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def two_nodes() -> Generator[str]:
    """Its address; both nodes are gone at the end."""
    pytest.importorskip("ray", reason="Ray is not installed: make test-ray")
    command = [sys.executable, str(Path(__file__).with_name("two_nodes.py"))]
    cluster = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert cluster.stdin
    assert cluster.stdout
    try:
        address = cluster.stdout.readline().strip()
        assert address, "the cluster did not start"
        yield address
    finally:
        cluster.stdin.close()
        cluster.wait(60)
        cluster.stdout.close()
