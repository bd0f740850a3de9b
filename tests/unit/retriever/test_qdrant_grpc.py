"""The gRPC port of a Qdrant server: where it is looked for, and that a closed connection leaves nothing open."""

import asyncio
import gc
import time
from pathlib import Path

import pytest

from domain.errors import UnavailableError
from retriever.backends.qdrant_connection import QdrantAddress, QdrantConnection
from tests.servers.qdrant.places import QdrantPlace


@pytest.mark.parametrize(
    ("url", "named", "expected"),
    [
        ("http://qdrant", 0, 6334),
        ("http://localhost:6333", 0, 6334),
        ("https://xyz.cloud.example:443/", 0, 6334),
        ("http://127.0.0.1:16333/prefix", 0, 16334),
        ("http://127.0.0.1:16333", 7000, 7000),
    ],
)
def test_the_port_is_the_named_one_or_follows_from_the_address(url: str, named: int, expected: int) -> None:
    assert QdrantAddress(url, prefer_grpc=True, grpc_port=named).effective_grpc_port == expected


def connections_to(ports: set[int]) -> set[str]:
    """Return the inodes of this process's TCP sockets whose other end is one of the ports, in whatever state they are.

    The open files of a whole process say nothing of one connection: pollers and threads of other libraries open some at any time.
    """
    held = {inode_of(entry) for entry in Path("/proc/self/fd").iterdir()}
    found: set[str] = set()
    for table in (Path("/proc/self/net/tcp"), Path("/proc/self/net/tcp6")):
        if not table.exists():  # a kernel without IPv6
            continue
        for line in table.read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[2].rpartition(":")[2], 16) in ports and fields[9] in held:
                found.add(fields[9])
    return found


def inode_of(entry: Path) -> str:
    """Return the inode of a socket among the open files, and "" for another file or one that was closed meanwhile."""
    try:
        target = str(entry.readlink())
    except FileNotFoundError:
        return ""
    return target.removeprefix("socket:[").removesuffix("]") if target.startswith("socket:[") else ""


async def used(address: QdrantAddress) -> UnavailableError:
    """A connection that is opened, used, refused and closed; the refusal."""
    connection = QdrantConnection(address)
    await connection.open()
    await connection.call("list the collections", lambda client: client.get_collections())
    with pytest.raises(UnavailableError) as refusal:
        await connection.call("count", lambda client: client.count("none"))
    await connection.close()
    return refusal.value


def test_a_closed_connection_holds_no_socket_even_where_its_errors_are_kept(qdrant_server: QdrantPlace) -> None:
    beside = QdrantAddress(qdrant_server.url, prefer_grpc=True)
    named = QdrantAddress("http://127.0.0.1:1", prefer_grpc=True, grpc_port=qdrant_server.grpc_port)
    ports = {qdrant_server.grpc_port, int(qdrant_server.url.rpartition(":")[2])}
    before = connections_to(ports)
    gc.disable()  # what it would find some time later is what a test trips over at random
    try:
        kept = [asyncio.run(used(address)) for address in (beside, named, beside)]
        deadline = time.monotonic() + 10  # gRPC closes its sockets on a thread of its own
        while (left := connections_to(ports) - before) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert left == set()
        assert len(kept) == 3
    finally:
        gc.enable()


async def test_connections_are_counted_while_they_are_open(qdrant_server: QdrantPlace) -> None:
    """Else the test above would pass whatever is left open."""
    ports = {qdrant_server.grpc_port, int(qdrant_server.url.rpartition(":")[2])}
    before = connections_to(ports)
    connection = QdrantConnection(QdrantAddress(qdrant_server.url, prefer_grpc=True))
    await connection.open()
    await connection.call("count", lambda client: client.get_collections())
    assert await asyncio.to_thread(connections_to, ports) - before
    await connection.close()


async def test_where_no_grpc_answers_the_setting_is_named() -> None:
    connection = QdrantConnection(QdrantAddress("http://127.0.0.1:1", prefer_grpc=True, grpc_port=2, timeout=3))
    with pytest.raises(UnavailableError, match="FOOTPATH_VECTOR_GRPC_PORT"):
        await connection.open()
