"""Which vectors are opened: those of the settings' URL, or the embedded ones of a store that was named."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from domain.errors import UnavailableError
from retriever.backends.edge import EdgeIndex
from wiring.container import open_container
from wiring.settings import Settings

NOWHERE = "http://127.0.0.1:1"


async def test_without_a_url_the_vectors_are_embedded(tmp_path: Path) -> None:
    async with open_container(Settings(store=tmp_path / "store"), create=True) as container:
        _, index, _ = await container.get_retrieval()
        assert isinstance(index, EdgeIndex)


async def test_a_url_leads_to_the_server(tmp_path: Path) -> None:
    async with open_container(Settings(store=tmp_path / "store", vector_url=NOWHERE), create=True) as container:
        with pytest.raises(UnavailableError, match="correct FOOTPATH_VECTOR_URL"):
            await container.get_retrieval()


async def test_a_store_that_is_named_is_embedded_whatever_the_url(tmp_path: Path) -> None:
    async with open_container(Settings(vector_url=NOWHERE), tmp_path / "store", create=True) as container:
        _, index, _ = await container.get_retrieval()
        assert isinstance(index, EdgeIndex)


@pytest.mark.parametrize("url", ["localhost:6333", "grpc://127.0.0.1:6334", "http://key:secret@127.0.0.1", "http://"])
def test_what_is_no_address_of_qdrant_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="vector_url") as caught:
        Settings(vector_url=url)
    assert "secret" not in str(caught.value)


def test_the_key_is_not_shown() -> None:
    assert "hush" not in repr(Settings.model_validate({"vector_api_key": "hush"}))
