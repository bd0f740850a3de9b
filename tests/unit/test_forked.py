"""A command of the tests that has ended, while nobody has told so yet."""

import os
import subprocess
import sys

from tests.support.forked_commands import Process


def test_one_that_has_ended_untold_is_killed_without_a_word() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    ends, tells = os.pipe()
    os.write(tells, f"{ended.pid}\n".encode())
    process = Process(["gone"], ends, None)
    process.kill()
    os.write(tells, b"0\n")
    os.close(tells)
    assert process.wait(5) == 0
