"""A change of encoder in the shadow, in a folder and on a server: what is found before, meanwhile, after, and after a switch back."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.memory.request_patterns import build_pattern
from domain.errors import ConflictError, UnavailableError, UsageError
from domain.tool import ToolId, make_tool_id
from domain.tool_source import make_source_mark
from domain.trajectory import SolvedRequest
from retriever.indexing import index_tools
from tests.models.openai_replies import ChatRequest, Refuses, Reply, scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION, word_embeddings
from tests.support.small_catalogue import DOCUMENTS, document
from wiring.container import Container, open_container
from wiring.encoder_change import EncoderChange
from wiring.encoder_trial import compare_on_store, load_last_comparison
from wiring.encoders import EncoderChoice, EncoderService
from wiring.settings import Settings
from wiring.tool_admission import admit, withdraw

TIDES = document("sea", "tides", "Returns high tide and low tide of a harbour").model_copy(
    update={"source": make_source_mark("s1")}
)
WAVES = document("sea", "waves", "Returns the height of waves at a beach").model_copy(
    update={"source": make_source_mark("s1")}
)
SOLVED = "how many dollars are 5 pounds"
RATES = make_tool_id("c", "bank", "rates")


def unseen(done: int, total: int) -> None:
    del done, total


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with model_server(scripted("no chat"), model="words") as server:
        yield server


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.outer)])
async def settings(request: pytest.FixtureRequest, tmp_path: Path, server: ModelServer) -> Settings:
    """Of a store that the service has indexed, its vectors in a folder or on a server."""
    place: dict[str, Any] = {"store": tmp_path / "store"}
    if request.param == "server":
        place |= request.getfixturevalue("qdrant_settings")
    asks = {"embedder": "service", "embedding_url": server.url, "embedding_name": "words", "embedding_attempts": 1}
    made = Settings.model_validate({**place, **asks, "embedding_dimension": DIMENSION})
    async with open_container(made, create=True) as container:
        await container.graph.put_tools([*DOCUMENTS, TIDES])
        await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
        memory = await container.memory()
        await memory.keep_shared([SolvedRequest(request=SOLVED, path=(RATES,), taken=())])
        await memory.embed()
    server.requests.clear()
    return made


def another(server: ModelServer, prefix: str = "passage: ") -> EncoderChoice:
    """The same service under another prefix: its vectors are others."""
    service = EncoderService(
        url=server.url, model="words", dimension=DIMENSION, document_prefix=prefix, attempts=1, price=2.0
    )
    return EncoderChoice(kind="service", name="another", service=service)


async def found(container: Container, request: str) -> ToolId:
    return (await (await container.open_search()).find_tools(request, 1))[0].id


async def recalled(container: Container) -> list[str]:
    async def all_there(ids: Any) -> set[ToolId]:
        return set(ids)

    return [one.memory.pattern for one in await (await container.memory()).recall(SOLVED, 1, all_there)]


async def test_a_change_there_and_back(settings: Settings, server: ModelServer) -> None:
    async with open_container(settings) as container:
        change, before = EncoderChange(container), (await container.embedder()).identity
        brought = await change.prepare(another(server), unseen)
        assert (brought.tools, brought.embedded) == (len(DOCUMENTS) + 1,) * 2
        assert (await container.embedder()).identity == before
        began = await container.open_search()
        await admit(container, [WAVES])
        await withdraw(container, [TIDES.id])
        assert await found(container, "height of waves at a beach") == WAVES.id

        now = await change.switch()
        assert (await container.embedder()).identity == now.identity != before
        assert await found(container, "height of waves at a beach") == WAVES.id
        assert await found(container, "high tide and low tide of a harbour") != TIDES.id
        assert await recalled(container) == [build_pattern(SOLVED)]
        assert (await began.find_tools("height of waves at a beach", 1))[0].id == WAVES.id, "it ends with the former"
        with pytest.raises(ConflictError, match="kept still: switch back"):
            await change.prepare(EncoderChoice(kind="settings"), unseen)
        await admit(container, [TIDES])

        assert (await change.switch_back()).identity == before
        assert await found(container, "high tide and low tide of a harbour") == TIDES.id
        assert await recalled(container) == [build_pattern(SOLVED)]
        assert len(await change.drop_former()) == 1
        with pytest.raises(ConflictError, match="no former vectors are kept"):
            await change.switch_back()
    async with open_container(settings) as container:
        assert (await container.embedder()).identity == before
        assert await found(container, "height of waves at a beach") == WAVES.id


async def test_another_process_follows_and_a_new_one_begins_with_it(settings: Settings, server: ModelServer) -> None:
    async with AsyncExitStack() as stack:
        container = await stack.enter_async_context(open_container(settings))
        other = container
        if settings.vector_url:
            other = await stack.enter_async_context(open_container(settings))
            assert await found(other, "rain forecast of a city") == make_tool_id("c", "sky", "rain")
        change = EncoderChange(container)
        await change.prepare(another(server), unseen)
        identity = (await change.switch()).identity
        assert await found(other, "rain forecast of a city") == make_tool_id("c", "sky", "rain")
        assert (await other.embedder()).identity == identity
    async with open_container(settings) as container:
        assert (await container.get_retrieval())[0].identity == identity
        assert await found(container, "rain forecast of a city") == make_tool_id("c", "sky", "rain")


async def test_a_service_that_dies_leaves_what_it_made_and_another_process_goes_on(
    settings: Settings, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retriever.indexing._BATCH_SIZE", 3)
    left = [1 + 2 + 2]  # whether it answers, its scale, and two portions

    def tiring(request: ChatRequest) -> Reply:
        left[0] -= 1
        return word_embeddings(request) if left[0] >= 0 else Refuses(401, "no such key")

    async with open_container(settings) as container:
        server.embed = tiring
        with pytest.raises(UnavailableError, match="no such key"):
            await EncoderChange(container).prepare(another(server), unseen)
        server.embed = word_embeddings
        assert await found(container, "rain forecast of a city") == make_tool_id("c", "sky", "rain")
        with pytest.raises(ConflictError, match="let that come to its end"):
            await EncoderChange(container).switch()
    async with open_container(settings) as container:
        change = EncoderChange(container)
        with pytest.raises(ConflictError, match="switch to them or discard them first"):
            await change.prepare(another(server, "text: "), unseen)
        brought = await change.prepare(another(server), unseen)
        assert 0 < brought.embedded < brought.tools
        assert len(await change.discard()) == 1
        assert (await change.get_state()).beside is None
        assert await change.discard() == []
        assert await found(container, "rain forecast of a city") == make_tool_id("c", "sky", "rain")


async def test_both_are_compared_on_what_the_store_has_served(settings: Settings, server: ModelServer) -> None:
    async with open_container(settings) as container:
        change, store = EncoderChange(container), await container.memory()
        with pytest.raises(ConflictError, match="prepare them first"):
            await compare_on_store(container, unseen)
        await store.keep([SolvedRequest(request="what is my salary worth in euros", path=(RATES,), taken=())])
        await change.prepare(another(server, "rain rain rain wind moon books "), unseen)
        compared = await compare_on_store(container, unseen)
        assert compared == await load_last_comparison(container)
        assert compared.origins["memory"] == 2
        assert compared.requests == sum(compared.origins.values()) > 2
        assert (compared.old.dimension, compared.new.bytes) == (DIMENSION, 4 * DIMENSION * (len(DOCUMENTS) + 1))
        assert compared.old.complete16 <= compared.old.recall16 <= 1
        assert (compared.old.cost, (compared.new.cost or 0) > 0) == (None, True)
        await change.discard()
        assert await load_last_comparison(container) is None


async def test_what_cannot_be_prepared_is_said_before_anything_is_embedded(
    settings: Settings, server: ModelServer, tmp_path: Path
) -> None:
    async with open_container(settings) as container:
        change = EncoderChange(container)
        with pytest.raises(ConflictError, match="is the encoder in use"):
            await change.prepare(EncoderChoice(kind="settings"), unseen)
        for name in ("none", "../store"):
            with pytest.raises(UsageError, match=r"export_encoder\.py"):
                await change.prepare(EncoderChoice(kind="folder", name=name), unseen)
        assert server.requests == []
        assert (await change.get_state()).beside is None
