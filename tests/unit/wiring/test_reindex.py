"""What a trial of new vectors is refused for before anything is embedded, and what it tells."""

from collections.abc import AsyncGenerator
from contextlib import nullcontext
from pathlib import Path

import pytest

from domain.errors import UnavailableError, UsageError
from evaluation.api_names import get_api_name
from evaluation.queries import RetrievalQuery
from retriever.indexing import index_tools
from tests.models.openai_replies import scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION
from tests.support.indexed_store import indexed_store
from tests.support.small_catalogue import DOCUMENTS
from wiring.container import open_container
from wiring.reindex import ReindexTrial, reindex
from wiring.settings import Settings

ASKED = [RetrievalQuery("own", tool.description, frozenset({get_api_name(tool.id)})) for tool in DOCUMENTS]
STRANGE = RetrievalQuery("own", "weather in Paris", frozenset({("another", "catalogue")}))


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with model_server(scripted("no chat"), model="words") as server:
        yield server


def asks(server: ModelServer, dimension: int = DIMENSION, prefix: str = "") -> Settings:
    """An encoder that is a service; another prefix makes it another encoder."""
    return Settings(
        embedder="service",
        embedding_url=server.url,
        embedding_name="words",
        embedding_dimension=dimension,
        embedding_document_prefix=prefix,
    )


@pytest.fixture
async def store(tmp_path: Path, server: ModelServer) -> Path:
    """A store that the service has indexed."""
    folder = await indexed_store(tmp_path / "store", DOCUMENTS, asks(server))
    server.requests.clear()
    return folder


async def test_requests_of_another_catalogue_judge_nothing(store: Path, server: ModelServer) -> None:
    with pytest.raises(UsageError, match=r"none of the 1 relevant APIs of the queries has a document in this store"):
        await reindex(settings=Settings(), store=store, trial=ReindexTrial([STRANGE], former=asks(server)))
    assert server.requests == []


async def test_relevant_apis_without_a_document_are_counted(store: Path, server: ModelServer) -> None:
    done = await reindex(
        settings=Settings(), store=store, trial=ReindexTrial([*ASKED, STRANGE], 1.0, former=asks(server))
    )
    assert done.compared is not None
    assert (done.compared.relevant, done.compared.missing) == (len(DOCUMENTS) + 1, 1)


async def test_the_same_command_may_be_given_again(store: Path, server: ModelServer) -> None:
    """As after a run that was killed when it had switched."""
    trial = ReindexTrial(ASKED, 1.0, former=asks(server))
    for _ in range(2):
        done = await reindex(settings=Settings(), store=store, trial=trial)
        assert not done.refused
    async with open_container(Settings(), store) as container:
        assert await (await container.open_search()).find_tools(DOCUMENTS[0].description, 1)


async def test_the_right_dimension_is_taken_after_a_wrong_one(tmp_path: Path, server: ModelServer) -> None:
    for dimension, fits in ((DIMENSION // 2, False), (DIMENSION, True)):
        async with open_container(asks(server, dimension), tmp_path / "store", create=True) as container:
            await container.graph.put_tools(DOCUMENTS)
            with nullcontext() if fits else pytest.raises(UnavailableError, match=r"check_model\.py --embedding"):
                await index_tools(container.graph.stream_documents(), *await container.get_retrieval())
    async with open_container(asks(server), tmp_path / "store") as container:
        assert await (await container.get_retrieval())[1].count() == len(DOCUMENTS)


async def test_vectors_in_use_that_are_none_are_not_compared_with(tmp_path: Path, server: ModelServer) -> None:
    async with open_container(asks(server), tmp_path / "store", create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        await container.get_retrieval()
    done = await reindex(settings=asks(server, prefix="passage: "), store=tmp_path / "store", trial=ReindexTrial(ASKED))
    assert (done.refused, done.compared, done.embedded) == ("", None, len(DOCUMENTS))


async def test_another_former_encoder_than_that_of_the_vectors_is_refused(store: Path, server: ModelServer) -> None:
    wrong = asks(server, prefix="passage: ")
    with pytest.raises(UsageError, match=r"--former names service:words\S+ and the vectors .* made by service:words"):
        await reindex(settings=Settings(), store=store, trial=ReindexTrial(former=wrong))
    with pytest.raises(UsageError, match=r"--former names footpath-minilm"):
        await reindex(settings=asks(server, prefix="passage: "), store=store, trial=ReindexTrial(former=Settings()))
    assert server.requests == []
    async with open_container(asks(server), store) as container:
        assert await (await container.get_retrieval())[1].count() == len(DOCUMENTS)


async def test_of_several_encoders_on_a_server_the_named_one_is_compared_with(
    tmp_path: Path, server: ModelServer, qdrant_settings: dict[str, str]
) -> None:
    place = {**qdrant_settings, "store": tmp_path / "s"}
    bundled, former, new = (
        Settings.model_validate(one.model_dump() | place)
        for one in (Settings(), asks(server), asks(server, prefix="passage: "))
    )
    async with open_container(bundled, create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
    for settings in (bundled, former):
        async with open_container(
            settings
        ) as container:  # as earlier versions left several, without a word of a switch
            index = container.create_server_index()
            embedder = await container.embedder()
            await index.setup_staging(embedder.identity, embedder.dimension)
            await index_tools(container.graph.stream_documents(), embedder, index, container.words)
            await index.activate()
            await index.close()
    done = await reindex(settings=new, trial=ReindexTrial(ASKED, 1.0, former=former))
    assert done.compared is not None
    assert done.compared.former.startswith("service:words")
