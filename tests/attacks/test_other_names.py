"""A stranger's page whose name leads to this machine (DNS rebinding) asks as if it were a page of this server; it gets nothing."""

from pathlib import Path

import httpx
import pytest

from server.served_hosts import served_hosts
from tests.support.server_process import PASSWORD, registered, started

ACCOUNT = {"name": "eve", "password": PASSWORD}


def test_a_name_that_is_not_the_servers_gets_nothing(tmp_path: Path) -> None:
    variables = {"FOOTPATH_SERVER_HOME": str(tmp_path / "home"), "FOOTPATH_HOSTS": "localhost,.example.com"}
    with started(variables, tmp_path) as (address, _):
        client = registered(address)
        for host in (
            "evil.test",
            "evil.test:8000",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "example.com.evil.test",
        ):
            answers = [
                httpx.get(f"{address}/health", headers={"Host": host}, trust_env=False),
                httpx.post(f"{address}/api/v1/auth/register", json=ACCOUNT, headers={"Host": host}, trust_env=False),
                httpx.get(f"{address}/metrics", headers={"Host": host}, trust_env=False),
            ]
            assert [(one.status_code, one.json()["code"]) for one in answers] == [(421, "misdirected")] * 3, host
        for host in ("localhost", "LOCALHOST.", "localhost:1", "127.0.0.1:8000", "[::1]:8000", "a.example.com"):
            assert httpx.get(f"{address}/health", headers={"Host": host}, trust_env=False).status_code == 200, host
        for answer in (client.call("GET", "/me"), client.call("POST", "/conversations", {})):
            assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("host", ["", "a b", "::::", "localhost@evil.test", "xn--localhost", "2130706433", "evil"])
def test_what_is_no_name_of_ours_is_none(host: str) -> None:
    assert not served_hosts("localhost")(host)


def test_any_name_where_that_is_wanted() -> None:
    assert served_hosts("*")("evil.test")
    assert served_hosts(".example.com")("example.com") is False
