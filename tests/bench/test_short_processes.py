"""Short processes with a program each end with their own exit code, however the sandbox is left, and leave no worker behind."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("short_process.py")
WAYS = ("closed", "left", "busy", "waiting")
FEW = 8
MANY = 500


def wrong_ends(count: int) -> Counter[tuple[str, int]]:
    """How many processes of so many ended otherwise than they should, by way and exit code."""
    found: Counter[tuple[str, int]] = Counter()
    for number in range(count):
        way, code = WAYS[number % len(WAYS)], number % 7
        done = subprocess.run([sys.executable, SCRIPT, str(code), way], capture_output=True, timeout=60, check=False)
        if done.returncode != code or done.stderr:
            found[way, done.returncode] += 1
    return found


def test_a_few_processes_end_with_their_own_codes() -> None:
    assert wrong_ends(FEW) == {}


@pytest.mark.bench
@pytest.mark.timeout(1800)
def test_five_hundred_processes_end_with_their_own_codes() -> None:
    assert wrong_ends(MANY) == {}
