"""A store changes its encoder: refused first, then indexed beside, compared and switched. In a folder and on a server."""

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from agent.memory.request_patterns import build_pattern
from domain.errors import ConflictError, StoreBusyError, StoreVersionError, UnavailableError
from domain.tool import ToolId
from evaluation.api_names import get_api_name
from evaluation.queries import RetrievalQuery
from tests.models.openai_replies import ChatRequest, Refuses, Reply, Respond, scripted
from tests.models.openai_server import ModelServer, model_server, model_server_in_thread
from tests.models.word_vectors import DIMENSION, embedding_body, word_embeddings
from wiring.container import open_container
from wiring.encoder_change import EncoderChange
from wiring.encoders import read_former_settings
from wiring.reindex import ReindexTrial, reindex
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "playground" / "data"
SOLVED = "Who directed 'Attack of the Zzyzx'?"
ANSWERS = DATA / "answer" / "G1_answer"
"""Where the trajectories lie that solve one like it."""


def silent(stage: str, done: int, total: int | None) -> None:
    pass


def senseless(request: ChatRequest) -> Reply:
    """Vectors that say nothing of their texts."""
    chance = random.Random(1)
    texts: list[str] = request.body["input"]
    return embedding_body([[chance.gauss(0, 1) for _ in range(DIMENSION)] for _ in texts])


@asynccontextmanager
async def service(embed: Respond = word_embeddings, name: str = "words") -> AsyncGenerator[tuple[ModelServer, Any]]:
    """A running service, and the settings that name it."""
    async with model_server(scripted("no chat"), model=name, embed=embed) as server:
        yield server, named(server, name)


def named(server: ModelServer, name: str = "words") -> dict[str, Any]:
    asked = {"embedding_url": server.url, "embedding_name": name, "embedding_dimension": DIMENSION}
    return {"embedder": "service", "embedding_attempts": 1, **asked}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the bundled encoder has indexed; each test takes a copy."""
    root = tmp_path_factory.mktemp("made")
    answers = root / "answer" / ANSWERS.name
    answers.mkdir(parents=True)
    for file in ANSWERS.iterdir():
        if b"Who directed '" in file.read_bytes():
            shutil.copy(file, answers)
    asyncio.run(build(sources(root), silent, Settings(store=root / "store")))
    return root


def sources(made: Path) -> BuildOptions:
    return BuildOptions(tools=(DATA / "openapi.json",), trajectories=(made / "answer",))


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> dict[str, Any]:
    """Settings of a store in a folder."""
    return {"store": Path(shutil.copytree(made / "store", tmp_path / "store"))}


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.outer)])
async def place(request: pytest.FixtureRequest, made: Path, folder: dict[str, Any]) -> dict[str, Any]:
    """The same, or with its vectors and memories on a server."""
    if request.param == "folder":
        return folder
    found = {"store": folder["store"].with_name("served"), **request.getfixturevalue("qdrant_settings")}
    await build(sources(made), silent, settings(found))
    return found


def settings(place: dict[str, Any], encoder: dict[str, Any] | None = None) -> Settings:
    return Settings.model_validate({**place, **(encoder or {})})


async def found(chosen: Settings) -> list[ToolId]:
    async with open_container(chosen) as container:
        return [hit.id for hit in await (await container.open_search()).find_tools("weather in Paris tomorrow", 5)]


async def remembered(chosen: Settings) -> list[str]:
    async def all_there(ids: Any) -> set[ToolId]:
        return set(ids)

    async with open_container(chosen) as container:
        return [one.memory.pattern for one in await (await container.memory()).recall(SOLVED, 1, all_there)]


async def drop_former(chosen: Settings) -> None:
    """Delete the vectors before the last switch, as ``--step drop`` does."""
    async with open_container(chosen) as container:
        assert await EncoderChange(container).drop_former()


async def queries(place: dict[str, Any]) -> list[RetrievalQuery]:
    """What each tool's document says, as a request for it."""
    async with open_container(settings(place)) as container:
        documents = [document async for document in container.graph.stream_documents()]
    return [
        RetrievalQuery("own", one.description, frozenset({get_api_name(one.id)}))
        for one in documents
        if one.description
    ][:60]


async def test_another_encoder_is_refused_until_its_vectors_are_switched_to(place: dict[str, Any]) -> None:
    async with service() as (server, encoder):
        changed = settings(place, encoder)
        with pytest.raises(StoreVersionError, match=r"footpath-minilm-3.*service:words.*scripts/reindex\.py"):
            await found(changed)
        assert await remembered(changed) == []
        before = await found(settings(place))
        done = await reindex(settings=changed)
        assert (done.tools == done.embedded > 10, done.refused, done.dropped) == (True, "", ())
        assert done.kept.startswith("footpath-minilm-3")
        assert done.compared is not None
        assert (done.compared.figures, 0 < done.compared.overlap < 1) == ({}, True)
        assert set(await found(changed)) & set(before)
        assert await remembered(changed) == [build_pattern(SOLVED)]
        assert not [text for request in server.requests for text in request.body["input"] if not text.strip()]
        assert await found(settings(place)) == before, "whose settings name the former encoder goes on with it"
        await drop_former(changed)
        with pytest.raises(StoreVersionError, match=r"service:words.*footpath-minilm-3"):
            await found(settings(place))


async def test_worse_vectors_stay_beside_until_more_may_be_lost(place: dict[str, Any]) -> None:
    asked = await queries(place)
    async with service(senseless) as (server, encoder):
        changed, before = settings(place, encoder), await found(settings(place))
        done = await reindex(settings=changed, trial=ReindexTrial(asked))
        assert done.compared is not None
        assert done.refused.startswith("the new vectors lose")
        old, new = done.compared.figures["ndcg@5"]
        assert 0 < new < old - 0.01 < 1
        assert (done.compared.requests, done.dropped) == (len(asked), ())
        assert await found(settings(place)) == before
        lenient = await reindex(settings=changed, trial=ReindexTrial(asked, tolerance=1.0))
        assert (lenient.embedded, lenient.refused) == (0, "")
        documents = [request for request in server.requests if len(request.body["input"]) > 5]
        assert len(documents) == len({str(request.body["input"]) for request in documents})
        assert await found(changed)


async def test_refused_vectors_are_switched_to_by_a_step(folder: dict[str, Any]) -> None:
    asked = await queries(folder)
    async with service(senseless) as (_, encoder):
        changed = settings(folder, encoder)
        done = await reindex(settings=changed, trial=ReindexTrial(asked))
        assert done.compared is not None
        assert (done.compared.compute_loss() > 0.01, "--step switch" in done.refused) == (True, True)
        async with open_container(changed) as container:
            await EncoderChange(container).switch()
        assert await found(changed)


async def test_the_same_encoder_loses_nothing_and_leaves_nothing(place: dict[str, Any]) -> None:
    for _ in range(2):
        done = await reindex(settings=settings(place), trial=ReindexTrial(await queries(place)))
        assert done.compared is not None
        assert (done.refused, done.compared.overlap > 0.9) == ("", True)
        assert (len(done.dropped), done.kept) == (1, "")
        assert len(list(place["store"].glob("vectors*"))) == ("vector_url" not in place)


async def test_a_third_encoder_waits_until_the_former_vectors_are_dropped(place: dict[str, Any]) -> None:
    async with service() as (_, second), service(name="others") as (server, third):
        before = await found(settings(place))
        await reindex(settings=settings(place, second))
        with pytest.raises(ConflictError, match=r"footpath-minilm-3\S* are kept .*--step drop"):
            await reindex(settings=settings(place, third))
        assert server.requests == []
        done = await reindex(settings=settings(place, second))
        assert (done.embedded > 10, len(done.dropped), done.kept) == (True, 1, ""), "made anew, in place of its own"
        assert await found(settings(place)) == before, "and the former ones are kept still"
        back = await reindex(settings=settings(place))
        assert (back.embedded, back.kept.startswith("service:words")) == (0, True)
        assert await found(settings(place)) == before
        await drop_former(settings(place))
        assert (await reindex(settings=settings(place, third))).refused == ""


async def test_a_former_service_is_asked_where_its_settings_are_given(place: dict[str, Any], tmp_path: Path) -> None:
    async with service() as (former, first), service(name="others") as (_, second):
        await reindex(settings=settings(place, first))
        await drop_former(settings(place, first))
        asked = await queries({**place, **first})
        lost = await reindex(settings=settings(place, second), trial=ReindexTrial(asked))
        assert (lost.compared, lost.dropped) == (None, ())
        assert "service:words" in lost.refused
        assert "--former" in lost.refused
        file = tmp_path / "former.env"
        lines = [f"FOOTPATH_{name.upper()}={value}" for name, value in first.items()]
        file.write_text("\n".join(["FOOTPATH_STORE=/nowhere", *lines]))
        count = len(former.requests)
        known = await asyncio.to_thread(read_former_settings, file)
        done = await reindex(settings=settings(place, second), trial=ReindexTrial(asked, former=known))
        assert (done.refused, len(former.requests) > count) == ("", True)
        assert done.compared is not None
        assert done.compared.former.startswith("service:words")
        assert done.compared.overlap == 1.0


async def test_a_service_that_fails_midway_leaves_all_as_it_was(folder: dict[str, Any]) -> None:
    left = [3]

    def tiring(request: ChatRequest) -> Reply:
        left[0] -= 1
        return word_embeddings(request) if left[0] >= 0 else Refuses(401, "no such key")

    async with service(tiring) as (_, encoder):
        changed, before = settings(folder, {**encoder, "embedding_batch": 32}), await found(settings(folder))
        with pytest.raises(UnavailableError, match="FOOTPATH_EMBEDDING_API_KEY"):
            await reindex(settings=changed)
        assert await found(settings(folder)) == before
        left[0] = 1_000
        assert (await reindex(settings=changed)).refused == ""
        assert await found(changed)


async def test_a_folder_in_use_is_not_switched(folder: dict[str, Any]) -> None:
    async with service() as (_, encoder), open_container(settings(folder)) as container:
        await container.open_search()
        with pytest.raises(StoreBusyError, match="in use by another process"):
            await reindex(settings=settings(folder, encoder))


async def test_a_switch_cut_short_is_taken_back(folder: dict[str, Any]) -> None:
    before, vectors = await found(settings(folder)), folder["store"] / "vectors"
    vectors.rename(vectors.with_name("vectors.former"))
    assert await found(settings(folder)) == before


async def test_the_command_refuses_with_figures(folder: dict[str, Any], tmp_path: Path) -> None:
    rows = [
        {"split": one.split, "query": one.query, "relevant": [{"tool": tool, "api": api} for tool, api in one.relevant]}
        for one in await queries(folder)
    ]
    file = tmp_path / "queries.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps(row) for row in rows))
    with model_server_in_thread(scripted("no chat"), model="words", embed=senseless) as server:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH_")}
        environment |= {f"FOOTPATH_{name.upper()}": str(value) for name, value in {**folder, **named(server)}.items()}
        command = [sys.executable, str(ROOT / "scripts" / "reindex.py"), "--json", "--queries", str(file)]
        done = await asyncio.to_thread(
            subprocess.run,
            command,
            capture_output=True,
            text=True,
            timeout=120,
            env=environment,
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    told = orjson.loads(done.stdout)
    assert (told["dropped"], told["compared"]["requests"]) == ([], len(rows))
    assert "ndcg@5" in done.stderr
    assert "not switched" in done.stderr
