"""The corpus of addresses that no call may reach, and a name server on loopback that lies."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

CORPUS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "ssrf.json").read_text(encoding="utf-8"))
URLS: list[dict[str, str]] = CORPUS["urls"]
"""``by``: what refuses the ``url``: its form (``url``), its host's form (``literal``), or the address it has or resolves to."""
PUBLIC = "93.184.216.34"


async def resolve_as_told(host: str, _port: int) -> list[str]:
    """The corpus's names as they resolve in the wild; all others are public, so that whatever passes would be called."""
    return CORPUS["names"].get(host.lower().rstrip("."), [PUBLIC])


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """DNS over UDP (RFC 1035), A records only: the answers of a name in turn, the last one for ever."""

    answers: dict[str, list[str]]
    port: int = 0
    asked: list[str] = field(default_factory=list[str])
    transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport  # type: ignore[assignment]

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        name, end = _name(data, 12)
        self.asked.append(name)
        given = self.answers.get(name, [])
        address = (given.pop(0) if len(given) > 1 else given[0]) if given else None
        flags = 0x8180 if address else 0x8183
        head = data[:2] + struct.pack(">HHHHH", flags, 1, 1 if address else 0, 0, 0) + data[12 : end + 4]
        record = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + IPv4Address(address).packed if address else b""
        assert self.transport is not None
        self.transport.sendto(head + record, addr)


def _name(data: bytes, at: int) -> tuple[str, int]:
    labels: list[str] = []
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode())
        at += data[at] + 1
    return ".".join(labels), at + 1


@asynccontextmanager
async def name_server(answers: dict[str, list[str]]) -> AsyncGenerator[NameServer]:
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(lambda: NameServer(answers), local_addr=("127.0.0.1", 0))
    server.port = transport.get_extra_info("sockname")[1]
    try:
        yield server
    finally:
        transport.close()


def asking(server: NameServer) -> Callable[[str, int], Awaitable[list[str]]]:
    """A resolver that asks this server over UDP, every time: nothing is remembered."""

    async def resolver(host: str, _port: int) -> list[str]:
        reply = await _ask(server.port, host)
        if reply[3] & 0x0F:
            raise socket.gaierror(socket.EAI_NONAME, f"{host} is not known")
        return [str(IPv4Address(reply[-4:]))]

    return resolver


async def _ask(port: int, host: str) -> bytes:
    answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    class Waiting(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
            answered.set_result(data)

    question = b"".join(bytes([len(label)]) + label.encode() for label in host.split(".")) + b"\0"
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(Waiting, remote_addr=("127.0.0.1", port))
    try:
        transport.sendto(struct.pack(">HHHHHH", 7, 0x0100, 1, 0, 0, 0) + question + struct.pack(">HH", 1, 1))
        return await asyncio.wait_for(answered, 60)
    finally:
        transport.close()
