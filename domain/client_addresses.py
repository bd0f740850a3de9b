"""Addresses of clients, taken from the headers of trusted proxies."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
_WITH_PORT = re.compile(r"\[(?P<six>[^\[\]]*)\](?::\d+)?|(?P<four>[0-9.]+):\d+")


class TrustedProxies:
    """The proxies whose ``X-Forwarded-For`` header is trusted."""

    def __init__(self, proxies: str) -> None:
        """Parse a comma-separated list of addresses and networks; ``*`` trusts every address.

        Raises:
            ValueError: an entry is none of these.
        """
        entries = [entry.strip() for entry in proxies.split(",") if entry.strip()]
        self._all = "*" in entries
        self._networks: list[IPv4Network | IPv6Network] = [
            ip_network(entry, strict=False) for entry in entries if entry != "*"
        ]

    def is_trusted(self, address: str) -> bool:
        """Return whether a request from this address may report whom it was forwarded for."""
        parsed = parse_address(address)
        return self._all or (parsed is not None and any(parsed in network for network in self._networks))

    def find_client(self, peer: str, forwarded: Iterable[str]) -> str:
        """Return the nearest address that does not belong to a trusted proxy.

        Each proxy appends the address that it saw, so the hops are read from the end. Anyone may have written what
        precedes an untrusted or invalid address, so reading stops there.

        Args:
            peer: address of the connection.
            forwarded: the lines of ``X-Forwarded-For``, in order.
        """
        hops = [hop for line in forwarded for hop in line.split(",")]
        for hop in reversed(hops):  # only a trusted peer's entry is credible
            hop_address = parse_address(hop) if self.is_trusted(peer) else None
            if hop_address is None:
                break
            peer = str(hop_address)
        return peer


def parse_address(text: str) -> Address | None:
    """Parse an address as proxies write it, with a port or in brackets; None if it is not one.

    IPv4 within IPv6 is returned as IPv4, and a zone is dropped.
    """
    text = text.strip().strip('"')
    if with_port := _WITH_PORT.fullmatch(text):
        text = with_port["six"] or with_port["four"] or ""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def get_rate_limit_key(address: str) -> str:
    """Return the key by which attempts from an address are counted.

    For IPv6 that is the /64 network, because one customer usually has all of it.
    """
    parsed = parse_address(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, 64), strict=False))
    return str(parsed) if parsed is not None else address[:100]
