"""An embedding service that ranks as the bundled encoder does, with its cosines on another scale: thresholds hold all the same."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domain.errors import UsageError
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from retriever.calibration import REFERENCE_SCALE
from retriever.indexing import index_tools
from tests.models.openai_replies import ChatRequest, Reply, scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.shifted_encoder import MODEL, ShiftedEncoder
from tests.models.word_vectors import DIMENSION, embedding_body
from tests.support.scholar_tools import COLLEAGUES, COUNT, DOCS, solution
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import Container, open_container
from wiring.encoder_change import EncoderChange
from wiring.encoder_state import build_note_key
from wiring.encoders import EncoderChoice, EncoderService
from wiring.links import VectorNeighbours
from wiring.settings import Settings

RAIN, UNRELATED = "Will it rain in Rome tomorrow?", "Please delete my second invoice"
SERVED = "Do I need an umbrella in Oslo tomorrow?"
WHO, MANY = "Who are the colleagues of {name}?", "How many papers has {name} written?"
CLOSE = 0.06
"""Vectors depend a little on what they are embedded with, which a steep map makes more of."""


@dataclass(frozen=True)
class Numbers:
    """What thresholds are compared with."""

    tools: dict[ToolId, float]
    recalled: dict[str, float]
    solutions: dict[str, float]
    documents: dict[tuple[ToolId, ToolId], float]


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.outer)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Settings of a store, its vectors in a folder or on a server."""
    found: dict[str, Any] = {"store": tmp_path / "store"}
    if request.param == "server":
        found |= request.getfixturevalue("qdrant_settings")
    return found


@pytest.fixture(params=[(0.3, 0.7), (0.2, 0.0)], ids=["0.3c + 0.7", "0.2c"])
async def shifted(request: pytest.FixtureRequest) -> AsyncGenerator[dict[str, Any]]:
    """Settings of a service whose cosines are shifted."""
    encoder = ShiftedEncoder(*request.param)
    async with model_server(scripted("no chat"), model=MODEL, embed=encoder) as server:
        yield encoder.settings(server)


async def fill(container: Container) -> None:
    """Tools, a memory and two solutions."""
    await container.graph.put_tools([*DOCUMENTS, *DOCS.values()])
    await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
    memory = await container.memory()
    await memory.keep_shared([SolvedRequest(request=SERVED, path=(DOCUMENTS[0].id,), taken=())])
    await memory.embed()
    await (await container.solutions()).add([solution(COLLEAGUES, WHO), solution(COUNT, MANY)])


async def numbers(container: Container) -> Numbers:
    async def all_there(ids: Any) -> set[ToolId]:
        return set(ids)

    search, memory, library = await container.open_search(), await container.memory(), await container.solutions()
    hits = [hit for request in (RAIN, UNRELATED) for hit in await search.find_tools(request, 8)]
    embedder, index, _ = await container.get_retrieval()
    neighbours = VectorNeighbours(index, embedder.identity, (await embedder.get_cosine_scale()).documents)
    near = await neighbours.find_similar([document.id for document in DOCUMENTS])
    return Numbers(
        {hit.id: hit.dense for hit in hits},
        {text: one.similarity for text in (RAIN, UNRELATED) for one in await memory.recall(text, 3, all_there)},
        {
            f"{text} {one.pattern}": one.likeness
            for text in ("Who are the colleagues of Tom Riddle?", "Who worked with Ann Lee?", UNRELATED)
            for one in await library.find_near(text, 3)
        },
        {(tool, other): score for tool, others in near.items() for other, score in others},
    )


async def test_thresholds_hold_for_tools_memories_and_solutions(
    place: dict[str, Any], shifted: dict[str, Any], tmp_path: Path
) -> None:
    async with open_container(Settings(store=tmp_path / "bundled"), create=True) as container:
        await fill(container)
        wanted = await numbers(container)
    assert wanted.recalled.keys() == {RAIN}, "what is unrelated is not recalled"
    assert {key.rpartition(" Who")[0] for key in wanted.solutions} <= {
        "Who are the colleagues of Tom Riddle?", "Who worked with Ann Lee?", "",
    }  # fmt: skip
    async with open_container(Settings.model_validate({**place, **shifted}), create=True) as container:
        await fill(container)
        found = await numbers(container)
        assert (await container.open_search()).reranks, "the bundled re-ranker knows this scale"
    assert found.tools == pytest.approx(wanted.tools, abs=CLOSE)
    assert found.recalled == pytest.approx(wanted.recalled, abs=CLOSE)
    assert found.solutions == pytest.approx(wanted.solutions, abs=CLOSE)
    assert found.documents == pytest.approx(wanted.documents, abs=CLOSE)


async def test_the_scale_is_kept_with_the_vectors(place: dict[str, Any]) -> None:
    encoder = ShiftedEncoder(0.3, 0.7)
    async with model_server(scripted("no chat"), model=MODEL, embed=encoder) as server:
        settings = Settings.model_validate({**place, **encoder.settings(server)})
        async with open_container(settings, create=True) as container:
            await fill(container)
            first = await (await container.embedder()).get_cosine_scale()
        server.requests.clear()
        async with open_container(settings) as container:
            assert await (await container.embedder()).get_cosine_scale() == first != REFERENCE_SCALE
            assert server.requests == []
            # A store of an earlier version has none: it is measured when it is first searched, and kept.
            identity = (await container.embedder()).identity
            await container.encoders.write_note(build_note_key(identity), "")
        async with open_container(settings) as container:
            await container.open_search()
            assert await container.encoders.scales.read(identity)
        async with open_container(settings.model_copy(update={"rerank": False})) as container:
            assert not (await container.open_search()).reranks


def chosen(server: ModelServer, dimension: int) -> EncoderChoice:
    service = EncoderService(url=server.url, model=MODEL, dimension=dimension, attempts=1)
    return EncoderChoice(kind="service", name="another", service=service)


async def test_a_change_keeps_each_encoders_own_scale(place: dict[str, Any]) -> None:
    encoder = ShiftedEncoder(0.3, 0.7)
    async with (
        model_server(scripted("no chat"), model=MODEL, embed=encoder) as server,
        open_container(Settings.model_validate(place), create=True) as container,
    ):
        await fill(container)
        before = await numbers(container)
        change = EncoderChange(container)
        service = EncoderService(
            url=server.url, model=MODEL, dimension=encoder.dimension, attempts=1,
            query_prefix="query: ", document_prefix="passage: ",
        )  # fmt: skip
        await change.prepare(EncoderChoice(kind="service", name="shifted", service=service), unseen)
        assert await (await container.embedder()).get_cosine_scale() == REFERENCE_SCALE
        await change.switch()
        assert await (await container.embedder()).get_cosine_scale() != REFERENCE_SCALE
        assert (await numbers(container)).recalled == pytest.approx(before.recalled, abs=CLOSE)
        await change.switch_back()
        assert await (await container.embedder()).get_cosine_scale() == REFERENCE_SCALE
        assert await numbers(container) == before


def unseen(done: int, total: int) -> None:
    del done, total


async def test_an_encoder_that_gives_all_texts_one_vector_is_not_adopted(place: dict[str, Any]) -> None:
    def constant(request: ChatRequest) -> Reply:
        return embedding_body([[1.0] * DIMENSION for _ in request.body["input"]])

    async with (
        model_server(scripted("no chat"), model=MODEL, embed=constant) as server,
        open_container(Settings.model_validate(place), create=True) as container,
    ):
        await fill(container)
        with pytest.raises(UsageError, match=r"hardly tells texts apart.*FOOTPATH_EMBEDDING_NAME"):
            await EncoderChange(container).prepare(chosen(server, DIMENSION), unseen)
        assert (await EncoderChange(container).get_state()).beside is None
