"""One command starts all, says where, and leaves nothing behind."""

import os
import signal
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


def test_one_that_dies_stops_the_others(tmp_path: Path) -> None:
    with everything(tmp_path) as up:
        started = children_of(up.process)
        os.kill(started[1], signal.SIGKILL)
        assert up.process.wait(timeout=30) == 1
        for pid in started:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
