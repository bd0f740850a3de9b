"""The table of addresses and URLs that the guard must refuse, and those it must let pass."""

import socket

import pytest

from agent.execution.http.guard import (
    AddressGuard,
    is_metadata_address,
    is_private_address,
    is_public_address,
    resolve_host,
)
from domain.errors import ForbiddenAddressError

REFUSED = [
    "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1",
    "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.1", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1",
    "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
    "2002:c0a8:101::", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "2001::1", "2001:db8::1", "3fff::1", "100::1",
    "4000::1", "fe80::1%", "2606:4700:1:2:0:5efe:7f00:1", "2606:4700:1:2:200:5efe:a9fe:a9fe",
]  # fmt: skip
PASSED = [
    "8.8.8.8",
    "1.1.1.1",
    "93.184.216.34",
    "2606:4700:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::",
    "2606:4700:1:2:0:5efe:808:808",
    "2606:4700:1:2:0:5eff:7f00:1",
]


@pytest.mark.parametrize("address", REFUSED)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public_address(address)


@pytest.mark.parametrize("address", PASSED)
def test_public_addresses(address: str) -> None:
    assert is_public_address(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://0x7f.0.0.1/", "http://0177.0.0.1/",
        "http://017700000001/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://user@example.com/",
        "http://example.com@127.0.0.1/", "http://user:pw@8.8.8.8/", "file:///etc/passwd", "gopher://8.8.8.8/", "ftp://8.8.8.8/",
        "//8.8.8.8/", "/relative", "http:///nohost", "http://8.8.8.8\\@127.0.0.1/", "http://8.8.8.8/\r\nHost: x", "http://127.0.0.1./",
        "http://①②⑦.⓪.⓪.①/", "http://169.254.169.254/latest/meta-data/", "http://8.8.8.8:99999/", "http://0/", "http://[fe80::1%25eth0]/",
        "javascript:alert(1)", "", "http://[::1", "unix:///var/run/docker.sock", "http://8.8.8.8/a b", "http://8.8.8.8/a\x7f",
        "http://8.8.8.8/a\\b", "http://[v1.example]/", "http://127\u30020\u30020\u30021/",
    ],
)  # fmt: skip
def test_urls_that_are_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddressError):
        AddressGuard().check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://8.8.8.8/x", "https://example.com/a?b=c", "https://api.example.com:8443/", "http://[2606:4700::1]/", "http://8.8.8.8/a!b",
        "http://example\u3002com/",
    ],
)  # fmt: skip
def test_urls_that_pass(url: str) -> None:
    AddressGuard().check_url(url)


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("::1", True), ("::ffff:10.0.0.1", True), ("fd00::1%eth0", True), ("fd00:ec2::254%eth0", False), ("8.8.8.8", False),
        ("::ffff:169.254.169.254", False),
    ],
)  # fmt: skip
def test_addresses_of_an_own_network(address: str, own: bool) -> None:
    assert is_private_address(address) is own


def test_a_zone_hides_no_address_where_clouds_tell_secrets() -> None:
    assert is_metadata_address("fe80::a9fe:a9fe%eth0")


async def test_the_system_resolves_names() -> None:
    assert await resolve_host("127.0.0.2", 80) == ["127.0.0.2"]


async def _answer(*addresses: str) -> list[str]:
    return list(addresses)


async def test_one_private_address_among_public_ones_refuses_the_name() -> None:
    guard = AddressGuard(resolver=lambda _host, _port: _answer("8.8.8.8", "10.0.0.7"))
    with pytest.raises(ForbiddenAddressError, match=r"10\.0\.0\.7"):
        await guard.resolve_addresses("mixed.example.com", 443)


async def test_a_name_without_an_address_is_unknown() -> None:
    asked: list[tuple[str, int]] = []

    async def nothing(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return []

    with pytest.raises(socket.gaierror, match=r"empty\.example\.com") as unknown:
        await AddressGuard(resolver=nothing).resolve_addresses("empty.example.com", 8443)
    assert (unknown.value.errno, asked) == (socket.EAI_NONAME, [("empty.example.com", 8443)])


async def test_an_address_in_disguise_is_not_resolved() -> None:
    with pytest.raises(ForbiddenAddressError):
        await AddressGuard(resolver=lambda _host, _port: _answer("8.8.8.8")).resolve_addresses("0X7F000001", 80)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1/", "127.0.0.1:80"),
        ("https://127.0.0.1/", "127.0.0.1:443"),
        ("https://127.0.0.1:80/", "127.0.0.1:80"),
        ("http://[::1]:8000/", "[::1]:8000"),
    ],
)
def test_the_place_that_is_refused_is_the_entry_that_allows_it(url: str, place: str) -> None:
    with pytest.raises(ForbiddenAddressError) as refused:
        AddressGuard().check_url(url)
    assert refused.value.place == place
    AddressGuard([place]).check_url(url)


async def test_an_own_host_is_reached_in_its_own_network_at_its_port() -> None:
    guard = AddressGuard(own_hosts=["Intranet.test:80"], resolver=lambda _host, _port: _answer("10.0.0.7"))
    assert await guard.resolve_addresses("intranet.test", 80) == ["10.0.0.7"]
    with pytest.raises(ForbiddenAddressError):
        await guard.resolve_addresses("intranet.test", 81)


async def test_the_refusal_names_the_setting_and_the_entry() -> None:
    guard = AddressGuard(resolver=lambda _host, _port: _answer("127.0.0.1"))
    with pytest.raises(
        ForbiddenAddressError, match=r"add localhost:8080 to the setting allow_hosts \(FOOTPATH_ALLOW_HOSTS\)"
    ):
        await guard.resolve_addresses("localhost", 8080)


@pytest.mark.parametrize(
    "address",
    [
        "169.254.169.254",
        "169.254.170.2",
        "168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "::ffff:169.254.169.254",
    ],
)
async def test_nothing_opens_where_clouds_tell_their_machines_secrets(address: str) -> None:
    """Not the address itself, nor a name of it; and nobody is told to allow it."""
    host = f"[{address}]" if ":" in address else address
    guard = AddressGuard(
        [host, f"{host}:80", "inside.test"], lambda _host, _port: _answer(address), own_hosts=[f"{host}:80"]
    )
    for name in (address, "inside.test"):
        with pytest.raises(ForbiddenAddressError, match="no setting allows a call to it") as refused:
            await guard.resolve_addresses(name, 80)
        assert (refused.value.place, "FOOTPATH_ALLOW_HOSTS" in str(refused.value)) == ("", False)


def test_what_no_tick_opens_is_not_told_to_be_ticked() -> None:
    """An own network holds no address of a link."""
    guard = AddressGuard(own_hosts=["169.254.0.9:80"], advice="tick it for {place}")
    with pytest.raises(ForbiddenAddressError, match=r"add 169\.254\.0\.9:80 to the setting allow_hosts"):
        guard.check_url("http://169.254.0.9/")
    with pytest.raises(ForbiddenAddressError, match=r"tick it for 10\.0\.0\.9:80$"):
        guard.check_url("http://10.0.0.9/")


@pytest.mark.parametrize(
    ("entry", "host", "port", "passes"),
    [
        ("127.0.0.1:8000", "127.0.0.1", 8000, True),
        ("127.0.0.1:8000", "127.0.0.1", 8001, False),
        ("127.0.0.1", "127.0.0.1", 8001, True),
        ("127.0.0.1:8000", "localhost", 8000, False),
        ("LOCALHOST:8000", "localhost", 8000, True),
        ("[::1]:8000", "::1", 8000, True),
        ("27.0.0.1", "127.0.0.1", 80, False),
        ("[127.0.0.1]", "127.0.0.1", 80, False),
        ("localhost:8000", "localhost.", 8000, True),
    ],
)
async def test_what_allow_hosts_opens(entry: str, host: str, port: int, passes: bool) -> None:
    guard = AddressGuard([entry], resolver=lambda _host, _port: _answer("::1" if ":" in host else "127.0.0.1"))
    if passes:
        assert await guard.resolve_addresses(host, port)
    else:
        with pytest.raises(ForbiddenAddressError):
            await guard.resolve_addresses(host, port)
