"""Trying an embedding service as a user does: the script as a process, the service on a real socket."""

import json

import pytest

from tests.flows.test_check_model import script
from tests.models.openai_replies import ChatRequest, Reply, Respond, scripted
from tests.models.openai_server import model_server, model_server_in_thread
from tests.models.word_vectors import DIMENSION, embedding_body, word_vector
from wiring.embedding_check import EmbeddingReport, check_embedding
from wiring.settings import read_settings

KEY = "sk-local-embeddings"


def shuffled(request: ChatRequest) -> Reply:
    """Vectors of the texts, the first one's last."""
    texts: list[str] = request.body["input"]
    return embedding_body([word_vector(text) for text in texts[1:] + texts[:1]])


def alike(request: ChatRequest) -> Reply:
    """One vector for all texts."""
    return embedding_body([word_vector("same") for _ in request.body["input"]])


def test_the_script_tells_the_dimension_and_no_key() -> None:
    with model_server_in_thread(scripted("no chat"), model="words", api_key=KEY) as server:
        named = {"embedding_url": server.url, "embedding_name": "words", "embedding_api_key": KEY}
        done = script("check_model.py", "--embedding", "--json", **named)
        shown = script("check_model.py", "--embedding", **named)
        refused = script("check_model.py", "--embedding", **{**named, "embedding_api_key": "sk-wrong"})
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["works"], told["dimension"], told["ordered"], told["sensible"]) == (True, DIMENSION, True, True)
    assert f"set FOOTPATH_EMBEDDING_DIMENSION={DIMENSION}" in told["advice"]
    assert told["identity"].startswith("service:words:")
    assert "texts a second" in shown.stdout
    assert (refused.returncode, "FOOTPATH_EMBEDDING_API_KEY" in refused.stderr) == (3, True)
    assert KEY not in done.stdout + done.stderr + shown.stdout + shown.stderr


def test_without_a_service_it_says_what_to_set() -> None:
    done = script("check_model.py", "--embedding", embedding_url="", embedding_name="")
    assert (done.returncode, "FOOTPATH_EMBEDDING_URL and FOOTPATH_EMBEDDING_NAME" in done.stderr) == (2, True)


@pytest.mark.parametrize(("embed", "says"), [(shuffled, "FOOTPATH_EMBEDDING_BATCH=1"), (alike, "about the weather")])
async def test_services_that_cannot_be_searched_by(embed: Respond, says: str) -> None:
    report = await checked(embed)
    assert (report.failure, report.works) == ("", False)
    assert [advice for advice in report.advice if says in advice]


async def checked(embed: Respond) -> EmbeddingReport:
    async with model_server(scripted("no chat"), model="words", embed=embed) as server:
        return await check_embedding(read_settings(embedding_url=server.url, embedding_name="words"))
