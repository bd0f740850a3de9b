"""Programs that end by themselves: started again at once, but not for ever."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.source_tree import ROOT

WAITS = "import time\nprint('toy: here', flush=True)\ntime.sleep(60)"
"""A program that answers, and does nothing until it is ended."""
ENDS = "print('toy: here', flush=True)"
WATCHES = """
from scripts._processes import children
import sys
with children() as started:
    print(started.announced("toy", ["-c", sys.argv[1]], {}), flush=True)
    print(started.watch(), flush=True)
"""


@pytest.fixture
def command() -> list[str]:
    return [sys.executable, "-c", WATCHES]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")])}


def child_of(process: subprocess.Popen[str]) -> int:
    (pid,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(pid)


def test_one_that_is_killed_is_started_again_and_told_of(command: list[str]) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([*command, WAITS], env=environment(), stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "here\n"
        killed = child_of(process)
        os.kill(killed, signal.SIGKILL)
        assert process.stderr.readline() == "the toy has ended by SIGKILL; it is started again …\n"
        assert process.stderr.readline() == "the toy answers again\n"
        again = child_of(process)
        assert again != killed
        process.terminate()
    with pytest.raises(ProcessLookupError):
        os.kill(again, 0)


def test_one_that_ends_again_and_again_is_given_up(command: list[str]) -> None:
    done = subprocess.run([*command, ENDS], env=environment(), capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "here\ntoy\n"
    told = done.stderr.splitlines()
    assert told[:-1] == ["the toy has ended with exit code 0; it is started again …", "the toy answers again"] * 3
    assert told[-1] == "the toy has ended with exit code 0, 4 times within a minute"
