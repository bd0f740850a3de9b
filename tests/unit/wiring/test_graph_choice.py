"""Which graph is opened: that of the settings' URL, or the embedded one of a store that was named."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from domain.errors import UnavailableError
from graph.backends.sqlite_graph import SqliteGraph
from wiring.container import open_container
from wiring.settings import Settings

NOWHERE = "bolt://127.0.0.1:1"


async def test_without_a_url_the_graph_is_embedded(tmp_path: Path) -> None:
    async with open_container(Settings(store=tmp_path / "store"), create=True) as container:
        assert isinstance(container.graph, SqliteGraph)


async def test_a_url_leads_to_the_server(tmp_path: Path) -> None:
    settings = Settings(store=tmp_path / "store", graph_url=NOWHERE)
    with pytest.raises(UnavailableError, match="no Neo4j answers there"):
        async with open_container(settings, create=True):
            pass


async def test_a_further_machine_needs_no_folder_of_its_own(tmp_path: Path) -> None:
    settings = Settings(store=tmp_path / "new", graph_url=NOWHERE)
    with pytest.raises(UnavailableError, match="no Neo4j answers there"):
        async with open_container(settings):
            pass


async def test_a_store_that_is_named_is_embedded_whatever_the_url(tmp_path: Path) -> None:
    async with open_container(Settings(graph_url=NOWHERE), tmp_path / "store", create=True) as container:
        assert isinstance(container.graph, SqliteGraph)


@pytest.mark.parametrize("url", ["http://127.0.0.1:7474", "127.0.0.1:7687", "bolt://neo4j:secret@127.0.0.1", "bolt://"])
def test_what_is_no_address_of_neo4j_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="graph_url") as caught:
        Settings(graph_url=url)
    assert "secret" not in str(caught.value)


def test_the_password_is_not_shown() -> None:
    assert "hush" not in repr(Settings.model_validate({"graph_password": "hush"}))
