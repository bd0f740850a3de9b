"""The server as a process: it says where it is, and what to do when it cannot start."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from domain.errors import UnavailableError
from playground.child import SCRIPT, running_playground
from playground.serve import bind


def test_it_runs_on_a_free_port_and_stops_with_its_block() -> None:
    with running_playground() as address:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+", address)
        with httpx.Client(base_url=address, trust_env=False) as client:
            document = client.get("/openapi.json").json()
            assert document["servers"] == [{"url": address}]
    with pytest.raises(httpx.ConnectError), httpx.Client(base_url=address, trust_env=False) as client:
        client.get("/health")


def test_a_port_in_use_is_said_with_what_to_do() -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = run_script("--port", str(port))
    assert done.returncode == 3
    assert done.stdout == ""
    assert f"port {port} is in use" in done.stderr
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [("127.0.0.1", 70_000, "no port"), ("192.0.2.1", 0, "--host 127.0.0.1"), ("::ffff:192.0.2.1", 0, "--host")],
)
def test_an_impossible_address_is_said_with_what_to_do(host: str, port: int, words: str) -> None:
    with pytest.raises(UnavailableError, match=re.escape(words)):
        bind(host, port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_quietly(number: signal.Signals) -> None:
    command = [sys.executable, str(SCRIPT), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        address = child.stdout.readline().split()[1]
        with httpx.Client(base_url=address, trust_env=False) as client:
            assert client.get("/health").json() == {"status": "ok"}
        child.send_signal(number)
        _, errors = child.communicate(timeout=10)
    assert "Traceback" not in errors


def run_script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(SCRIPT)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
