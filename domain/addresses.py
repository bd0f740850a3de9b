"""Addresses of clients, as far as proxies that are named tell them."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
_WITH_PORT = re.compile(r"\[(?P<six>[^\[\]]*)\](?::\d+)?|(?P<four>[0-9.]+):\d+")


class Proxies:
    """Those that are believed. ``named``: addresses and networks, comma-separated; ``*`` is all. ``ValueError`` for anything else."""

    def __init__(self, named: str) -> None:
        entries = [entry.strip() for entry in named.split(",") if entry.strip()]
        self._all = "*" in entries
        self._networks: list[IPv4Network | IPv6Network] = [
            ip_network(entry, strict=False) for entry in entries if entry != "*"
        ]

    def believes(self, address: str) -> bool:
        """Whether what comes from this address may tell whom it is about."""
        one = read_address(address)
        return self._all or (one is not None and any(one in network for network in self._networks))

    def client(self, peer: str, forwarded: Iterable[str]) -> str:
        """The nearest address that is no named proxy's. ``forwarded``: the lines of ``X-Forwarded-For``, in their order.

        Each proxy adds whom it has seen to the end, so they are read from there. What stands before an address that is not believed, or
        before what is no address, anybody may have written.
        """
        hops = [hop for line in forwarded for hop in line.split(",")]
        for hop in reversed(hops):
            found = read_address(hop) if self.believes(peer) else None
            if found is None:
                break
            peer = str(found)
        return peer


def read_address(text: str) -> Address | None:
    """An address as proxies write it, with a port or in brackets; IPv4 within IPv6 as IPv4, without a zone. None: it is none."""
    text = text.strip().strip('"')
    if with_port := _WITH_PORT.fullmatch(text):
        text = with_port["six"] or with_port["four"] or ""
    try:
        found = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found


def counted_place(address: str) -> str:
    """What attempts are counted by: of IPv6 the /64, which is one customer's and as many addresses as they like."""
    found = read_address(address)
    if isinstance(found, IPv6Address):
        return str(IPv6Network((found, 64), strict=False))
    return str(found) if found is not None else address[:100]
