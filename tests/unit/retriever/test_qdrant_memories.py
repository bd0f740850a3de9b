"""What memories on a Qdrant server ask of it: requests that its client sends, and points that come back."""

from collections.abc import AsyncGenerator
from dataclasses import astuple, dataclass, field
from math import cos, sin
from typing import Any

import httpx
import pytest
from qdrant_client import AsyncQdrantClient, models

from domain.memory import Memory
from retriever.backends.qdrant_connection import QdrantAddress
from retriever.backends.qdrant_memories import QdrantMemories
from tests.support.memory_store_contract import ENCODER, filled, memory

AT_ONCE = 100


@dataclass
class Traffic:
    requests: int = 0
    points: int = 0

    def reset(self) -> None:
        """Count from here on."""
        self.requests = self.points = 0

    def count(self, answer: httpx.Response) -> None:
        """Count a request, and the points that its answer brings."""
        self.requests += 1
        path = answer.request.url.path
        if answer.request.method == "POST" and path.endswith(("/points", "/points/scroll")):
            result: Any = answer.json()["result"]
            self.points += len(result["points"] if path.endswith("/scroll") else result)


@dataclass
class Server:
    url: str
    name: str
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def bodies(self) -> str:
        """The collection of the memories themselves."""
        return f"{self.name}-memories"

    def memories(self) -> QdrantMemories:
        """As another process would open them."""
        return QdrantMemories(QdrantAddress(self.url), name=self.name)

    def client(self) -> AsyncQdrantClient:
        """A connection of the test's own."""
        return AsyncQdrantClient(url=self.url, check_compatibility=False)


@pytest.fixture
async def server(qdrant_settings: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Server:
    server = Server(qdrant_settings["vector_url"], qdrant_settings["vector_collection"])
    send = httpx.AsyncClient.send

    async def sent(client: httpx.AsyncClient, request: httpx.Request, **options: Any) -> httpx.Response:
        answer = await send(client, request, **options)
        server.traffic.count(answer)
        return answer

    monkeypatch.setattr(httpx.AsyncClient, "send", sent)
    return server


@pytest.fixture
async def store(server: Server) -> AsyncGenerator[QdrantMemories]:
    store = server.memories()
    await store.setup()
    yield store
    await store.close()


def many(name: str, count: int) -> list[Memory]:
    return [memory(f"{name} {number}") for number in range(count)]


async def embed_all(store: QdrantMemories) -> int:
    """As long-term memory does it; how many there were."""
    done = 0
    while batch := await store.list_without_vector(ENCODER, AT_ONCE):
        await store.put_vectors(ENCODER, [(one.id, [1.0, 0.0]) for one in batch])
        done += len(batch)
    return done


async def test_reading_all_reads_each_twice(store: QdrantMemories, server: Server) -> None:
    for count, pages in ((200, 1), (1000, 3)):
        await store.add(many(f"of {count}", count))
        server.traffic.reset()
        held = len([one async for one in store.stream_all()])
        # Its id and its body; a page of bodies comes with two counts of judgements.
        assert astuple(server.traffic) == (1 + 3 * pages, 2 * held)


async def test_embedding_reads_each_a_few_times(store: QdrantMemories, server: Server) -> None:
    await store.add(many("x", 6 * AT_ONCE))
    server.traffic.reset()
    assert await embed_all(store) == 6 * AT_ONCE
    assert server.traffic.points <= 2 * 6 * AT_ONCE
    assert server.traffic.requests <= 6 * 10 + 10


async def test_one_more_costs_the_same_among_many(store: QdrantMemories, server: Server) -> None:
    cost: list[tuple[int, ...]] = []
    for count in (50, 500):
        await store.add(many(f"of {count}", count))
        await embed_all(store)
        server.traffic.reset()
        await store.add([memory(f"one more than {count}")])
        assert await embed_all(store) == 1
        cost.append(astuple(server.traffic))
    assert cost[0] == cost[1]
    assert max(cost[0]) <= 15


async def test_recalling_costs_the_same_among_many(store: QdrantMemories, server: Server) -> None:
    cost: list[tuple[int, ...]] = []
    for count in (20, 400):
        angles = (number / count for number in range(count))
        await filled(store, *zip(many(f"of {count}", count), ([cos(one), sin(one)] for one in angles), strict=True))
        server.traffic.reset()
        assert len(await store.find_similar([1.0, 0.0], ENCODER, "", 6)) == 6
        cost.append(astuple(server.traffic))
    assert cost[0] == cost[1]


async def test_vectors_from_before_there_were_marks_are_found_and_marked(store: QdrantMemories, server: Server) -> None:
    await filled(store, *((one, [1.0, 0.0]) for one in many("x", 3 * AT_ONCE)))
    client = server.client()
    fields = [
        name for name in (await client.get_collection(server.bodies)).payload_schema if name.startswith("embedded")
    ]
    await client.delete_payload(server.bodies, fields, models.Filter())
    await client.close()
    new = memory("new")
    await store.add([new])
    assert await store.list_without_vector(ENCODER, AT_ONCE) == [new]
    server.traffic.reset()
    assert await store.list_without_vector(ENCODER, AT_ONCE) == [new]
    assert server.traffic.points <= 2


async def test_vectors_that_somebody_deleted_are_made_anew(store: QdrantMemories, server: Server) -> None:
    await filled(store, *((one, [1.0, 0.0]) for one in many("x", 3 * AT_ONCE)))
    client = server.client()
    for one in (await client.get_collections()).collections:
        if one.name.startswith(server.name) and one.name != server.bodies:
            await client.delete_collection(one.name)
    await client.close()
    another = server.memories()
    await another.setup()
    assert await embed_all(another) == 3 * AT_ONCE
    assert await another.list_without_vector(ENCODER, 9) == []
    await another.close()
