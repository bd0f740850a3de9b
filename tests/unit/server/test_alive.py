"""Who is alive, as told by locks that end with their process."""

import subprocess
import sys
from pathlib import Path

from server.runs.alive import alive, dead, forget
from tests.architecture.source_tree import ROOT

LIVING = """
import sys, time
from pathlib import Path
from server.runs.alive import alive
with alive(Path(sys.argv[1]), "other"):
    print("up", flush=True)
    time.sleep(60)
"""


def test_who_was_killed_is_known_and_who_lives_is_not_taken_for_dead(tmp_path: Path) -> None:
    assert dead(tmp_path) == []
    command = [sys.executable, "-c", LIVING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        with alive(tmp_path, "mine"):
            assert dead(tmp_path) == []
            process.kill()
            process.wait()
            assert dead(tmp_path) == ["other"]
    assert dead(tmp_path) == ["other"]
    forget(tmp_path, ["other", "never heard of"])
    assert dead(tmp_path) == []


def test_a_home_that_cannot_be_written_costs_the_sign_only(tmp_path: Path) -> None:
    home = tmp_path / "a file"
    home.write_text("in the way")
    with alive(home, "mine"):
        assert dead(home) == []
