"""What a trial of new vectors is refused for before anything is embedded, and what it tells."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from domain.errors import UsageError
from evaluation.names import key_of
from evaluation.queries import Query
from retriever.indexing import index_tools
from tests.models.openai_replies import scripted
from tests.models.openai_server import ModelServer, model_server
from tests.models.word_vectors import DIMENSION
from tests.unit.retriever.training.small_catalogue import DOCUMENTS
from wiring.container import open_container
from wiring.reindex import Trial, reindex
from wiring.settings import Settings

ASKED = [Query("own", tool.description, frozenset({key_of(tool.id)})) for tool in DOCUMENTS]
STRANGE = Query("own", "weather in Paris", frozenset({("another", "catalogue")}))


@pytest.fixture
async def server() -> AsyncGenerator[ModelServer]:
    async with model_server(scripted("no chat"), model="words") as server:
        yield server


def asks(server: ModelServer, name: str = "words") -> Settings:
    """An encoder that is a service, by the name of its model."""
    return Settings(embedder="service", embedding_url=server.url, embedding_name=name, embedding_dimension=DIMENSION)


@pytest.fixture
async def store(tmp_path: Path, server: ModelServer) -> Path:
    """A store that the service has indexed under the name ``words``."""
    async with open_container(asks(server), tmp_path / "store", create=True) as container:
        await container.graph.put_tools(DOCUMENTS)
        await index_tools(container.graph.documents(), *await container.retrieval())
    server.requests.clear()
    return tmp_path / "store"


async def test_requests_of_another_catalogue_judge_nothing(store: Path, server: ModelServer) -> None:
    with pytest.raises(UsageError, match=r"none of the 1 relevant APIs of the queries has a document in this store"):
        await reindex(settings=Settings(), store=store, trial=Trial([STRANGE], former=asks(server)))
    assert server.requests == []


async def test_relevant_apis_without_a_document_are_counted(store: Path, server: ModelServer) -> None:
    done = await reindex(settings=Settings(), store=store, trial=Trial([*ASKED, STRANGE], 1.0, former=asks(server)))
    assert done.compared is not None
    assert (done.compared.relevant, done.compared.missing) == (len(DOCUMENTS) + 1, 1)
