"""A change of encoder over HTTP: prepared and compared by a job, switched to while searches go on, and back."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.model_service import NewModelService, ServiceParameters, ServiceTest
from retriever.indexing import index_tools
from server.storage.rows.runs import RunRow
from tests.models.openai_replies import ChatRequest, Refuses, Reply, scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION, word_embeddings
from tests.support.server_world import World, serving
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import open_container
from wiring.settings import Settings

KEY = "sk-of-the-vault-1234567890"


@dataclass
class Embedding:
    """A server of tools, the embedding services that it may be changed to, and what is asked of it as an administrator."""

    world: World
    models: ModelServer
    service: str
    headers: dict[str, str]

    async def ask(self, method: str, path: str = "", body: Any = None, status: int = 200) -> Any:
        answer = await self.world.client.request(method, f"/api/v1/embeddings{path}", json=body, headers=self.headers)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def prepared(self) -> dict[str, Any]:
        """How the job ended that makes vectors with the service."""
        job = await self.ask("POST", "/prepare", {"encoder": f"service:{self.service}"}, 202)
        while job["state"] in ("queued", "running"):
            await asyncio.sleep(0.05)
            job = (await self.world.client.get(f"/api/v1/jobs/{job['id']}", headers=self.headers)).json()
        return job

    async def searches(self) -> list[str]:
        """What a search for rain finds."""
        answer = await self.world.client.get("/api/v1/tools?query=rain forecast of a city", headers=self.headers)
        assert answer.status_code == 200, answer.text
        return [one["tool"]["id"] if "tool" in one else one["id"] for one in answer.json()["tools"]]


@pytest.fixture
async def embedding(tmp_path: Path) -> AsyncIterator[Embedding]:
    async with model_server(scripted("no chat"), model="words", api_key=KEY) as models:
        asks: dict[str, Any] = {
            "embedder": "service", "embedding_url": models.url, "embedding_name": "words",
            "embedding_dimension": DIMENSION, "embedding_api_key": KEY, "embedding_attempts": 1,
        }  # fmt: skip
        async with open_container(Settings(**asks), tmp_path / "store", create=True) as container:
            await container.graph.put_tools(DOCUMENTS)
            await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
        async with serving(tmp_path / "home", store=tmp_path / "store", **asks) as world:
            new = NewModelService(
                kind="embedding", name="Words apart", provider="other", address=models.url, own_network=True,
                model="words", price_prompt=1.0, online=True,
                parameters=ServiceParameters(document_prefix="passage: ", attempts=1),
            )  # fmt: skip
            test = ServiceTest(works=True, dimension=DIMENSION, seconds=0.01)
            service = await world.services.storage.model_services.add(new, KEY, test, "admin")
            yield Embedding(world, models, service.id, await world.headers_of("admin"))


async def test_a_change_is_prepared_compared_and_switched_to_under_load_and_back(embedding: Embedding) -> None:
    first = await embedding.ask("GET")
    (offered,) = [one for one in first["choices"] if one["kind"] == "service"]
    assert (offered["name"], offered["dimension"], offered["unusable"]) == ("Words apart", DIMENSION, "")
    job = await embedding.prepared()
    assert (job["state"], job["trouble"], job["result"]["embedded"]) == ("done", "", len(DOCUMENTS))
    shown = await embedding.ask("GET")
    assert (shown["ready"], shown["beside"]["key"], shown["in_use"]["key"]) == (
        True, f"service:{embedding.service}", "settings",
    )  # fmt: skip
    assert shown["comparison"]["requests"] > 0
    assert shown["comparison"]["new"]["cost"] > 0
    assert KEY not in str(shown)

    gone = await embedding.world.client.delete(f"/api/v1/models/{embedding.service}", headers=embedding.headers)
    assert (gone.status_code, "page Embeddings" in gone.json()["detail"]) == (409, True)

    before = await embedding.searches()
    stop = asyncio.Event()

    async def load() -> int:
        count = 0
        while not stop.is_set():
            assert await embedding.searches() == before
            count += 1
        return count

    loads = [asyncio.create_task(load()) for _ in range(3)]
    switched = await embedding.ask("POST", "/switch")
    assert (switched["in_use"]["identity"], switched["beside"]) == (shown["beside"]["identity"], None)
    back = await embedding.ask("POST", "/switch-back")
    stop.set()
    assert all(await asyncio.gather(*loads))
    assert (back["in_use"]["identity"], back["former"]["identity"]) == (
        shown["in_use"]["identity"], shown["beside"]["identity"],
    )  # fmt: skip
    assert (await embedding.ask("DELETE", "/former"))["former"] is None
    answer = await embedding.world.client.get("/api/v1/audit", headers=embedding.headers)
    told = {one["operation"]: one["said"] for one in answer.json()["entries"]}
    assert told["switch_embeddings"]["encoder"] == f"service:{embedding.service}"
    assert {"prepare_embeddings", "switch_embeddings_back", "drop_embeddings"} <= told.keys()


async def test_a_service_that_dies_is_told_of_and_the_next_job_goes_on(embedding: Embedding) -> None:
    def dead(request: ChatRequest) -> Reply:
        del request
        return Refuses(500, "out of memory")

    embedding.models.embed = dead
    job = await embedding.prepared()
    assert job["state"] == "failed"
    assert "500" in job["trouble"]
    assert KEY not in str(job)
    embedding.models.embed = word_embeddings
    assert await embedding.searches()
    assert (await embedding.prepared())["state"] == "done"
    assert (await embedding.ask("DELETE", "/prepared"))["beside"] is None
    assert (await embedding.ask("POST", "/switch", status=409))["code"] == "conflict"


async def test_former_vectors_are_kept_while_a_run_goes_on_that_began_with_them(embedding: Embedding) -> None:
    headers, client = await embedding.world.headers_of("user"), embedding.world.client
    talk = (await client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    body = {"request": "hello", "policy": "offline"}
    run = (await client.post(f"/api/v1/conversations/{talk}/runs", json=body, headers=headers)).json()["id"]
    assert (await embedding.prepared())["state"] == "done"
    while (await client.get(f"/api/v1/runs/{run}", headers=headers)).json()["status"] != "finished":  # noqa: ASYNC110  # over HTTP
        await asyncio.sleep(0.05)
    await embedding.ask("POST", "/switch")
    database = embedding.world.services.storage.database
    async with database.write_session() as session:
        (row := await session.get(RunRow, run)).status = "running"  # pyright: ignore[reportOptionalMemberAccess]
    assert "began with the former" in (await embedding.ask("DELETE", "/former", status=409))["detail"]
    async with database.write_session() as session:
        (row := await session.get(RunRow, run)).status = "finished"  # pyright: ignore[reportOptionalMemberAccess]
    assert row is not None
    assert (await embedding.ask("DELETE", "/former"))["former"] is None
