"""Whether the store's servers answer is asked where the settings say that they are."""

from contextlib import AsyncExitStack

from tests.servers.qdrant.over_grpc import serving_grpc
from wiring.settings import Settings
from wiring.store_servers import StoreServers


async def test_vectors_over_grpc_are_looked_for_at_the_port_that_is_named() -> None:
    with serving_grpc() as port:
        settings = Settings(vector_url="http://127.0.0.1:1", vector_grpc=True, vector_grpc_port=port)
        async with AsyncExitStack() as stack:
            await StoreServers(settings, stack).vectors()
