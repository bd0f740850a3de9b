"""One command starts all, says where, and leaves nothing behind."""

import os
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.browser.everything import children_of, everything

pytestmark = pytest.mark.timeout(180)


def test_all_answer_at_the_addresses_that_are_printed_until_it_is_told_to_stop(tmp_path: Path) -> None:
    with everything(tmp_path) as up, httpx.Client(trust_env=False, timeout=10) as client:
        assert sorted(up.addresses) == ["page", "playground", "server"]
        assert client.get(up.addresses["server"] + "/health").json() == {"status": "ok"}
        assert client.get(up.addresses["playground"] + "/openapi.json").is_success
        assert "<title>" in client.get(up.addresses["page"]).text
        started = children_of(up.process)
        assert len(started) == 3
        up.process.send_signal(signal.SIGTERM)
        assert up.process.wait(timeout=30) == 0
        for pid in started:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)


def test_a_server_that_dies_is_started_again_at_its_address(tmp_path: Path) -> None:
    with everything(tmp_path) as up, httpx.Client(trust_env=False, timeout=10) as client:
        playground, server, page = children_of(up.process)
        os.kill(server, signal.SIGKILL)
        end = time.monotonic() + 60
        while server in children_of(up.process) or not _answers(client, up.addresses["server"] + "/health"):
            assert time.monotonic() < end
            time.sleep(0.2)
        assert {playground, page} < {*children_of(up.process)}
        assert client.get(up.addresses["page"] + "/_stcore/health").is_success


def test_server_and_page_listen_where_they_are_told_as_a_container_needs(tmp_path: Path) -> None:
    """Who listens on every address leaves their port to nobody on another of loopback's."""
    with everything(tmp_path, "--host", "0.0.0.0") as up, httpx.Client(trust_env=False, timeout=10) as client:
        for name, path in (("server", "/health"), ("page", "/_stcore/health")):
            assert up.addresses[name].startswith("http://0.0.0.0:")
            assert client.get(up.addresses[name].replace("0.0.0.0", "127.0.0.1") + path).is_success
            with pytest.raises(OSError, match="in use"), socket.socket() as another:
                another.bind(("127.0.0.2", int(up.addresses[name].rpartition(":")[2])))


def _answers(client: httpx.Client, address: str) -> bool:
    try:
        return client.get(address).is_success
    except httpx.TransportError:
        return False
