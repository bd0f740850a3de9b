"""Runs on a server whose graph or vectors are far away: seconds and round trips of each. Figures are printed, none is asserted."""

import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest

from domain.event import RunFinished
from playground.record import CATALOGUE, DATA
from tests.servers.neo4j.server import Neo4jServer
from tests.support.delaying_proxy import Delay, delayed
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, Client, Place, catalogue_at, registered, serving
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

ONE_WAY = 0.1
REQUESTS = (
    INHABITANTS,
    "How many inhabitants does Oskvik have?",
    "How many inhabitants does Caldera have?",
    "What is the capital of Marovia?",
    "What is the capital of Caldera?",
    "Which public holidays does Caldera have in 2026?",
)

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]


def settings_at(neo4j: int, qdrant: int, grpc: int, password: str, collection: str, *, by_grpc: bool) -> dict[str, str]:
    """The settings of a store on servers at these ports."""
    return {
        "graph_url": f"bolt://127.0.0.1:{neo4j}",
        "graph_password": password,
        "vector_url": f"http://127.0.0.1:{qdrant}",
        "vector_grpc": str(by_grpc).lower(),
        "vector_grpc_port": str(grpc),
        "vector_collection": collection,
    }


def ask_and_wait(user: Client, request: str) -> float:
    """Return the seconds from the request to the end of its run, which answers."""
    conversation = user.call("POST", "/conversations", {}).json()["id"]
    began = time.perf_counter()
    run = user.call("POST", f"/conversations/{conversation}/runs", {"request": request}).json()["id"]
    end = user.follow(run)[-1].event
    assert isinstance(end, RunFinished)
    assert end.outcome == "answered"
    return time.perf_counter() - began


def measure(user: Client, name: str, far: list[Delay], near: list[Delay]) -> None:
    """Ask everything while some servers are far."""
    for one in (*far, *near):
        one.seconds = ONE_WAY if one in far else 0.0
    ask_and_wait(user, REQUESTS[0])
    seconds, trips = list[float](), list[int]()
    for request in REQUESTS:
        time.sleep(1)  # what follows a run's end is over
        for one in far:
            one.reset()
        seconds.append(ask_and_wait(user, request))
        trips.append(sum(len(one.requests) for one in far))
    of_each = f"{min(trips)} to {max(trips)} round trips a run" if far else ""
    print(f"{name}: {median(seconds):.1f} s ({min(seconds):.1f} to {max(seconds):.1f}) {of_each}")


@pytest.mark.parametrize("by_grpc", [False, True], ids=["rest", "grpc"])
async def test_runs_far_from_neo4j_and_qdrant(
    neo4j_server: Neo4jServer, qdrant_settings: dict[str, str], tmp_path: Path, *, by_grpc: bool
) -> None:
    """Each request was asked twice before, so that its solution is known. A server's gRPC port is the one after that of HTTP."""
    neo4j_server.wipe()
    port, collection = urlsplit(qdrant_settings["vector_url"]).port or 6333, qdrant_settings["vector_collection"]
    parts: dict[str, Any] = {"password": neo4j_server.password, "collection": collection, "by_grpc": by_grpc}
    with ExitStack() as stack:
        address = stack.enter_context(running_playground())
        (tmp_path / CATALOGUE).write_text(catalogue_at(address), encoding="utf-8")
        place = Place(address, address, tmp_path / "store")
        near = settings_at(neo4j_server.port, port, port + 1, **parts)
        options = BuildOptions(tools=(tmp_path / CATALOGUE,), trajectories=(DATA,))
        await build(options, lambda stage, done, total: None, Settings.model_validate({**near, "store": place.store}))
        neo4j, qdrant, grpc = (stack.enter_context(delayed(one)) for one in (neo4j_server.port, port, port + 1))
        far = settings_at(neo4j.port, qdrant.port, grpc.port, **parts)
        (home := tmp_path / "home").mkdir()
        variables = {f"FOOTPATH_{name.upper()}": value for name, value in far.items()}
        server, _ = stack.enter_context(serving(place, home, **variables))
        user = registered(server)
        for request in REQUESTS * 2:
            ask_and_wait(user, request)
        print()
        measure(user, "nothing far", [], [neo4j, qdrant, grpc])
        measure(user, "Neo4j far", [neo4j], [qdrant, grpc])
        measure(user, f"Qdrant far, {'gRPC' if by_grpc else 'REST'}", [qdrant, grpc], [neo4j])
