# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
"""A stand-in for the gRPC port of a Qdrant server: it says that it is one, and that it has no collections and no aliases."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from qdrant_client.grpc import (
    CollectionsServicer,
    HealthCheckReply,
    ListAliasesResponse,
    ListCollectionsResponse,
    QdrantServicer,
    add_CollectionsServicer_to_server,
    add_QdrantServicer_to_server,
)

from tests.servers.versions import deployed_version


class _Health(QdrantServicer):
    def HealthCheck(self, request: Any, context: Any) -> HealthCheckReply:  # noqa: N802  # the name of the protocol
        return HealthCheckReply(title="qdrant - vector search engine", version=deployed_version("qdrant"))


class _Collections(CollectionsServicer):
    def List(self, request: Any, context: Any) -> ListCollectionsResponse:  # noqa: N802
        return ListCollectionsResponse()

    def ListAliases(self, request: Any, context: Any) -> ListAliasesResponse:  # noqa: N802
        return ListAliasesResponse()


@contextmanager
def serving_grpc() -> Generator[int]:
    """Its port, on loopback."""
    server = grpc.server(ThreadPoolExecutor(2))
    add_QdrantServicer_to_server(_Health(), server)
    add_CollectionsServicer_to_server(_Collections(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()
