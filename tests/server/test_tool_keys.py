"""What is kept as a key: one line of text, for hosts that are hosts."""

from typing import Any

import pytest

from agent.execution.secret_store import check_secret_host
from domain.errors import SecretError
from server.routes.hosts import checked_host
from tests.support.server_world import World

KEYS = "/api/v1/me/tool-keys"
HOSTS = [
    "api.example.com", "localhost", "api_1.example.com:65535", "10.0.0.7:8080", "[::1]", "[2001:db8::7]:443", "http://api.example.com:80",
    "https://[::1]:8", "3com.example", "xn--bcher-kva.example",
]  # fmt: skip
NO_HOSTS = [
    ":::::", "a b", "http://x/y", "x/y", "", "http://", "a:b", "a:", ":80", "::1", "[::1", "[::1]x", "[1.2.3.4]", "[fe80::1%eth0]", "[]",
    "a\r\nb", "a\n", "a\x00", "a..b", ".a", "a.", "-a", "a-", "999.1.1.1", "1.2.3", "*.example.com", "user@a", "ftp://a", "bücher.example",
    "a" * 64, ".".join(["a" * 60] * 5),
]  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_is_taken_as_it_is_written(host: str) -> None:
    assert checked_host(host) == host


@pytest.mark.parametrize("host", [*NO_HOSTS, "a:0", "a:65536", "a:999999"])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r"expected host or host:port|1 to 65535"):
        checked_host(host)


@pytest.mark.parametrize("host", ["[::1]", "[2001:db8::7]:443", "10.0.0.7:8080"])
def test_a_host_that_is_taken_is_one_that_is_sent_to(host: str) -> None:
    name, _, port = checked_host(host).rpartition(":") if not host.endswith("]") else (host, "", "")
    check_secret_host("k", [host], name.strip("[]"), int(port or 443), encrypted=True, setting="here")
    with pytest.raises(SecretError):
        check_secret_host("k", [host], "elsewhere.example.com", 443, encrypted=True, setting="here")


@pytest.mark.parametrize(
    ("name", "changed", "place", "said"),
    [
        ("weather", {"hosts": ["api.example.com", ":::::"]}, "body.hosts.1", "host or host:port"),
        ("weather", {"hosts": ["a\r\nb"]}, "body.hosts.0", "IPv6 address in brackets"),
        ("weather", {"value": "key\r\nX-Admin: 1"}, "body.value", "control character"),
        ("weather", {"value": "key\n"}, "body.value", "control character"),
        ("weather", {"value": "k\x00ey"}, "body", "NUL"),
        ("weather", {"value": "k\x7fey"}, "body.value", "control character"),
        ("weather", {"value": "k\x85ey"}, "body.value", "control character"),
        ("wea%0Ather", {}, "path.name", "pattern"),
        ("weather%0A", {}, "path.name", "pattern"),
        ("wea%00ther", {}, "path.name", "pattern"),
        ("wea%0Dther", {}, "path.name", "pattern"),
    ],
)
async def test_a_key_that_could_do_harm_is_refused(
    world: World, name: str, changed: dict[str, Any], place: str, said: str
) -> None:
    headers = await world.headers_of("user")
    body = {"value": "a key, with spaces", "hosts": ["api.example.com"]}
    refused = await world.client.put(f"{KEYS}/{name}", json=body | changed, headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert [one["place"] for one in refused.json()["errors"]] == [place]
    assert said in refused.json()["detail"]
    assert "X-Admin" not in refused.text
    assert (await world.client.get(KEYS, headers=headers)).json() == []
    assert (await world.client.put(f"{KEYS}/weather", json=body, headers=headers)).status_code == 200
