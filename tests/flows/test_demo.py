"""The demo as a user runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from playground.child import running_playground
from playground.serve import bind
from playground.worlds.days import holidays
from scripts import _demo

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-u", str(ROOT / "scripts" / "demo.py")]


def environment() -> dict[str, str]:
    """A plain terminal of 200 columns."""
    return {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}


@pytest.mark.timeout(90)
def test_five_requests_are_asked_and_right(tmp_path: Path) -> None:
    """And the command that the demo ends with works as it is printed."""
    store = tmp_path / "store"
    done = subprocess.run(
        [*COMMAND, "--store", str(store)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=80, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert "5 of 5 right" in done.stdout
    assert "around get_place_forecast" in done.stdout
    port = int(done.stdout.split("scripts/serve_playground.py --port ")[1].split()[0])
    command = next(line.strip() for line in done.stdout.splitlines() if "scripts/ask.py" in line)
    with running_playground(port):
        asked = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert asked.returncode == 0, asked.stdout + asked.stderr
    assert holidays("XC", 2026)[-1].day.isoformat() in asked.stdout


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    done = subprocess.run(
        [*COMMAND, "--store", str(tmp_path)],
        cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=80, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert "is no Footpath store" in done.stderr
    assert "Traceback" not in done.stderr
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_ctrl_c_stops_the_playground_too(tmp_path: Path) -> None:
    command = [*COMMAND, "--store", str(tmp_path / "store")]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        assert child.stdout.readline().startswith("The playground runs at")
        os.killpg(child.pid, signal.SIGINT)
        _, errors = child.communicate(timeout=20)
    assert child.returncode == 130
    assert "stopped" in errors
    assert "Traceback" not in errors
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)


def test_a_port_that_is_taken_meanwhile_does_not_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether the usual port is free and the start, another demo took it."""
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(_demo, "_port", lambda: port)
        with _demo.demo_playground() as address, httpx.Client(base_url=address, trust_env=False) as client:
            assert httpx.URL(address).port != port
            assert client.get("/health").json() == {"status": "ok"}
