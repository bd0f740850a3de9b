"""Guard against server-side request forgery, which decides which addresses a call may reach.

A document's URL is untrusted text, so only public addresses may be reached. Every address that a name resolves to is
checked, and the connection is made to a checked address (``agent.execution.http.guarded_client``), which defeats DNS
rebinding.
"""

import asyncio
import re
import socket
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from domain.errors import ForbiddenAddressError

Resolver = Callable[[str, int], Awaitable[list[str]]]
"""Resolves host and port to addresses as text; raises ``socket.gaierror`` where the name is unknown."""

_DEFAULT_ADVICE = "to allow it, add {place} to the setting allow_hosts (FOOTPATH_ALLOW_HOSTS) where the program was started, and start it anew"
_NON_PUBLIC_NETWORKS = tuple(
    ip_network(network)
    for network in (
        "0.0.0.0/8", "100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4",
        "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16", "fec0::/10",
    )
)  # fmt: skip
"""Networks that are not public although ``ipaddress`` of some Python versions says so.

168.63.129.16 is the metadata service of a cloud.
"""
_NAT64 = IPv6Network("64:ff9b::/96")
_IPV4_COMPATIBLE = IPv6Network("::/96")
_PRIVATE_NETWORKS = tuple(
    map(
        ip_network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "::1/128", "fc00::/7"),
    )
)
_METADATA_ADDRESSES = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254", "169.254.170.2", "169.254.170.23", "168.63.129.16", "100.100.100.200", "192.0.0.192",
            "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fe80::a9fe:a9fe",
        ),
    )
)  # fmt: skip
"""Metadata services, which give a cloud's machines their secrets; no setting allows a call to them."""


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses of a name by the system's resolver."""
    records = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for _, _, _, _, address in records))


def is_public_address(address: str) -> bool:
    """Return whether an address is on the public internet.

    IPv4 embedded in IPv6 (mapped, compatible, 6to4, NAT64, ISATAP) is judged as IPv4.
    """
    ip = ip_address(address.partition("%")[0])
    embedded = _extract_embedded_ipv4(ip) if isinstance(ip, IPv6Address) else None
    if embedded is not None:
        return is_public_address(str(embedded))
    special = (
        ip.is_multicast or ip.is_reserved or ip.is_private or ip.is_loopback or ip.is_link_local or ip.is_unspecified
    )
    return (
        ip.is_global
        and not special
        and not any(ip in network for network in _NON_PUBLIC_NETWORKS if network.version == ip.version)
    )


def _extract_embedded_ipv4(ip: IPv6Address) -> IPv4Address | None:
    if ip.ipv4_mapped is not None:
        return ip.ipv4_mapped
    if ip.sixtofour is not None:
        return ip.sixtofour
    isatap = (int(ip) >> 32) & 0xFDFFFFFF == 0x5EFE
    if ip in _NAT64 or isatap or (ip in _IPV4_COMPATIBLE and int(ip) > 1):
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_private_address(address: str) -> bool:
    """Return whether an address belongs to this machine or a private network, and not to a metadata service."""
    ip = ip_address(address.partition("%")[0])
    embedded = _extract_embedded_ipv4(ip) if isinstance(ip, IPv6Address) else None
    if embedded is not None:
        return is_private_address(str(embedded))
    return ip not in _METADATA_ADDRESSES and any(
        ip in network for network in _PRIVATE_NETWORKS if network.version == ip.version
    )


def is_metadata_address(address: str) -> bool:
    """Return whether an address belongs to a cloud's metadata service."""
    ip = ip_address(address.partition("%")[0])
    embedded = _extract_embedded_ipv4(ip) if isinstance(ip, IPv6Address) else None
    return ip in _METADATA_ADDRESSES or embedded in _METADATA_ADDRESSES


class AddressGuard:
    """Checks URLs and addresses before a connection is made.

    ``allow_hosts`` may have any address but those of metadata services, ``own_hosts`` may have private addresses.
    Both hold entries of the form ``host:port`` or ``host``. ``advice`` says how to allow a ``{place}`` with a private
    address.
    """

    def __init__(
        self,
        allow_hosts: Iterable[str] = (),
        resolver: Resolver = resolve_host,
        *,
        own_hosts: Iterable[str] = (),
        advice: str = _DEFAULT_ADVICE,
    ) -> None:
        self._own_hosts = frozenset(entry.lower() for entry in own_hosts)
        self._advice = advice
        self._allowed_hosts = frozenset(entry.strip().lower() for entry in allow_hosts if entry.strip())
        self._resolver = resolver

    def check_url(self, url: str) -> None:
        """Raise ``ForbiddenAddressError`` for a URL that is refused before its host is resolved.

        Refused are schemes other than http and https, user information, addresses written in a disguised form, and
        literal addresses that may not be reached.
        """
        if any(ord(character) <= 32 or ord(character) == 127 for character in url) or "\\" in url:
            raise ForbiddenAddressError(
                "the URL holds spaces, control characters or backslashes; correct the tool's document"
            )
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
        except ValueError as error:
            raise ForbiddenAddressError(f"the URL cannot be read ({error}); correct the tool's document") from error
        if parts.scheme not in ("http", "https"):
            raise ForbiddenAddressError(
                f"only http and https may be called, not {parts.scheme or 'a URL without a scheme'!r}"
            )
        if "@" in parts.netloc:
            raise ForbiddenAddressError("the URL holds a user name before its host; remove it from the tool's document")
        if "[" in parts.netloc and ":" not in host:
            raise ForbiddenAddressError(f"{host!r} is no IPv6 address; correct the tool's document")
        if not host:
            raise ForbiddenAddressError("the URL names no host; correct the tool's document")
        self._check_host_literal(host, port or (443 if parts.scheme == "https" else 80))

    def _check_host_literal(self, host: str, port: int) -> None:
        # As IDNA does: fullwidth digits and the ideographic full stop must not hide an address.
        plain = unicodedata.normalize("NFKC", host).replace("\u3002", ".").rstrip(".")
        try:
            literal = str(ip_address(plain.partition("%")[0]))
        except ValueError:
            # inet_aton reads 0x7f.1, 0177.0.0.1 and 2130706433 as addresses, and so do many resolvers.
            if re.fullmatch(r"(0x[0-9a-f]*|\d+)", plain.rpartition(".")[2], re.IGNORECASE):
                raise ForbiddenAddressError(
                    f"{host!r} is an address in an unusual form; write it as four decimal numbers"
                ) from None
            if not re.fullmatch(r"[\w.-]+", plain):
                raise ForbiddenAddressError(f"{host!r} is no name of a host; correct the tool's document") from None
            return
        self._check_address(literal, host, port)

    def _check_address(self, address: str, host: str, port: int) -> None:
        message = f"{host} ({address}) is not a public address"
        if is_metadata_address(address):
            raise ForbiddenAddressError(
                f"{message}: a cloud tells its machines their secrets there, and no setting allows a call to it; give another address"
            )
        if self._is_listed(self._allowed_hosts, host, port) or is_public_address(address):
            return
        is_private = is_private_address(address)
        if not (is_private and self._is_listed(self._own_hosts, host, port)):
            place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            advice = self._advice if is_private else _DEFAULT_ADVICE
            raise ForbiddenAddressError(message, place=place, advice=advice.format(place=place))

    @staticmethod
    def _is_listed(entries: frozenset[str], host: str, port: int) -> bool:
        name = host.lower().rstrip(".")
        names = (name, f"[{name}]") if ":" in name else (name,)
        return any(form in entries or f"{form}:{port}" in entries for form in names)

    async def resolve_addresses(self, host: str, port: int) -> list[str]:
        """Return the addresses to connect to, all of them checked.

        Raises:
            ForbiddenAddressError: one of them is not allowed.
            socket.gaierror: the name has no address.
        """
        self._check_host_literal(host, port)
        resolved = await self._resolver(host, port)
        if not resolved:
            raise socket.gaierror(socket.EAI_NONAME, f"{host} has no address")
        for address in resolved:
            self._check_address(address, host, port)
        return resolved
