"""Whether the store's servers answer is asked where the settings say that they are."""

from contextlib import AsyncExitStack

from tests.servers.qdrant.places import QdrantPlace
from wiring.settings import Settings
from wiring.store_backends import StoreServers


async def test_vectors_over_grpc_are_looked_for_at_the_port_that_is_named(qdrant_server: QdrantPlace) -> None:
    settings = Settings(vector_url="http://127.0.0.1:1", vector_grpc=True, vector_grpc_port=qdrant_server.grpc_port)
    async with AsyncExitStack() as stack:
        await StoreServers(settings, stack).check_vectors()
