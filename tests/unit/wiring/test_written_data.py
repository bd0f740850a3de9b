"""Negatives and requests written by a model that speaks the real protocol: asked within bounds, once each, whatever interrupts it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.llm.client.langchain_model import LangchainModel, ModelParameters
from domain.errors import ModelUnavailableError
from retriever.training.examples import TrainingExample
from retriever.training.llm_tasks import AnswerCache, WritingBudget, WritingUsage
from tests.models.openai_replies import ChatRequest, Refuses, Reply, Says
from tests.models.openai_server import ModelServer, model_server
from tests.support.small_catalogue import DOCUMENTS, catalogue, example
from wiring.written_examples import ExampleWriting

CORPUS = catalogue()
KNOWN = {one.id: one for one in DOCUMENTS}
EXAMPLES = [
    example(CORPUS, "will it rain", ("sky", "rain")),
    example(CORPUS, "how strong is the wind", ("sky", "wind")),
    example(CORPUS, "rates of the euro and a good book", ("bank", "rates"), ("books", "search")),
]
PAIRS = 4
"""Requests with each of what solved them."""


def writes(request: ChatRequest) -> Says:
    """Three documents or three requests about what the prompt shows."""
    about = request.prompt.partition("\napi: ")[2].partition("\n")[0]
    documents = [{"api": f"{about} {one}", "description": f"The {one} of {about}", "parameters": ["id"]} for one in ("owner", "price", "colour")]  # fmt: skip
    requests = [f"{one} about {about} please" for one in ("tell me", "ask", "show me")]
    said = {"documents": documents} if "[[request]]" in request.prompt else {"requests": requests}
    return Says(json.dumps(said), usage=(100, 20))


def quiet(done: int, of: int, usage: WritingUsage) -> None:
    """Nobody looks on."""


@asynccontextmanager
async def writing(
    respond: Callable[[ChatRequest], Reply | str],
    folder: Path,
    bounds: WritingBudget | None = None,
    told: Callable[[int, int, WritingUsage], None] = quiet,
) -> AsyncGenerator[tuple[ExampleWriting, ModelServer]]:
    async with model_server(respond) as server:
        model, kept = LangchainModel(ModelParameters(server.url, "rules", attempts=1)), AnswerCache(folder / "answers")
        await kept.open()
        try:
            yield ExampleWriting(model, kept, bounds or WritingBudget(), told), server
        finally:
            await model.close()


async def test_negatives_for_each_request_and_what_solved_it(tmp_path: Path) -> None:
    shown: list[tuple[int, int]] = []
    async with writing(writes, tmp_path, told=lambda done, of, _: shown.append((done, of))) as (asked, server):
        found, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
    assert len(found) == 2 * PAIRS
    assert {(one.request, one.tool) for one in found} == {
        (one.request, CORPUS.ids[row]) for one in EXAMPLES for row in one.positive_rows
    }
    assert found[0].description == "The owner of rain"
    assert {one.by for one in found} == {"rules"}
    assert usage == WritingUsage(
        requests=PAIRS, prompt_tokens=100 * PAIRS, completion_tokens=20 * PAIRS, answered=PAIRS
    )
    assert shown == [(number + 1, PAIRS) for number in range(PAIRS)]
    assert server.requests[0].response_format == "json_schema"


async def test_what_is_as_good_as_a_positive_is_dropped(tmp_path: Path) -> None:
    def repeats(request: ChatRequest) -> str:
        good = {"api": "gauges", "description": "List the rain gauges of a city", "parameters": ["city"]}
        same = {"api": "rain of", "description": "Get the rain forecast of a city", "parameters": ["city"]}
        return json.dumps({"documents": [same, good]})

    async with writing(repeats, tmp_path) as (asked, _):
        found, usage = await asked.write_negatives(EXAMPLES[:1], CORPUS, KNOWN, 2)
    assert [one.api for one in found] == ["gauges"]
    assert usage.answered == 1


async def test_a_second_run_asks_for_nothing(tmp_path: Path) -> None:
    async with writing(writes, tmp_path) as (asked, _):
        first = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
    async with writing(writes, tmp_path) as (asked, server):
        again, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert again == first[0]
        assert usage == WritingUsage(kept=PAIRS)
        assert server.requests == []
        await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 3)
        assert len(server.requests) == PAIRS, "another prompt is another question"


async def test_an_interrupted_run_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    """Cancelled while two are under way, and the file's last line torn off."""
    arrived = asyncio.Event()

    def slow(request: ChatRequest) -> Says:
        if "how strong" in request.prompt:
            arrived.set()
            return Says("{}", wait=30)
        return writes(request)

    async with writing(slow, tmp_path, WritingBudget(concurrency=1)) as (asked, _):
        running = asyncio.create_task(asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2))
        await arrived.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    with (tmp_path / "answers").open("ab") as file:
        file.write(b'\n{"key": "torn')
    async with writing(writes, tmp_path) as (asked, server):
        found, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert (usage.kept, len(server.requests)) == (1, PAIRS - 1)
        assert len(found) == 2 * PAIRS
    async with writing(writes, tmp_path) as (asked, _):
        assert (await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2))[1] == WritingUsage(kept=PAIRS), (
            "the torn line spoilt none"
        )


@pytest.mark.parametrize("bounds", [WritingBudget(requests=2, concurrency=1), WritingBudget(tokens=240, concurrency=1)])
async def test_a_bound_stops_it_and_another_run_does_the_rest(tmp_path: Path, bounds: WritingBudget) -> None:
    async with writing(writes, tmp_path, bounds) as (asked, server):
        found, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert (usage.answered, usage.left, len(server.requests)) == (2, PAIRS - 2, 2)
        assert len(found) == 4
        found, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert (usage.kept, usage.answered, usage.left) == (2, 2, 0)
        assert len(found) == 2 * PAIRS


async def test_no_more_than_so_many_are_asked_at_once(tmp_path: Path) -> None:
    highest = 0

    def counting(done: int, of: int, usage: WritingUsage) -> None:
        nonlocal highest
        highest = max(highest, usage.requests - done + 1)

    examples = [TrainingExample(f"request number {number}", (0,)) for number in range(12)]
    async with writing(writes, tmp_path, WritingBudget(concurrency=3), counting) as (asked, _):
        await asked.write_negatives(examples, CORPUS, KNOWN, 2)
    assert highest == 3


async def test_an_invalid_answer_is_complained_about_once_and_asked_for_again_another_time(tmp_path: Path) -> None:
    async with writing(lambda _: '{"documents": []}', tmp_path) as (asked, server):
        found, usage = await asked.write_negatives(EXAMPLES[:1], CORPUS, KNOWN, 2)
        assert (found, usage.invalid, usage.requests, len(server.requests)) == ([], 1, 2, 2)
        assert "2 documents are wanted" in server.requests[1].prompt
    async with writing(writes, tmp_path) as (asked, _):
        assert len((await asked.write_negatives(EXAMPLES[:1], CORPUS, KNOWN, 2))[0]) == 2


async def test_a_model_that_is_away_ends_it_and_loses_nothing(tmp_path: Path) -> None:
    def away(request: ChatRequest) -> Reply:
        return writes(request) if "will it rain" in request.prompt else Refuses(503, "later")

    async with writing(away, tmp_path, WritingBudget(concurrency=1)) as (asked, server):
        with pytest.raises(ModelUnavailableError, match="503"):
            await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert len(server.requests) == PAIRS, "three in a row"
    async with writing(writes, tmp_path) as (asked, _):
        assert (await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2))[1].kept == 1


async def test_a_failure_between_others_is_passed_over(tmp_path: Path) -> None:
    def once(request: ChatRequest) -> Reply:
        return Refuses(503, "later") if "how strong" in request.prompt else writes(request)

    async with writing(once, tmp_path) as (asked, _):
        found, usage = await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
    assert (usage.failed, usage.answered, len(found)) == (1, PAIRS - 1, 2 * (PAIRS - 1))


async def test_a_wrong_key_ends_it_at_once(tmp_path: Path) -> None:
    async with writing(lambda _: Refuses(401, "no"), tmp_path, WritingBudget(concurrency=1)) as (asked, server):
        with pytest.raises(ModelUnavailableError, match="FOOTPATH_MODEL_API_KEY"):
            await asked.write_negatives(EXAMPLES, CORPUS, KNOWN, 2)
        assert len(server.requests) == 1


async def test_a_kept_answer_that_someone_has_edited_is_asked_for_again(tmp_path: Path) -> None:
    async with writing(writes, tmp_path) as (asked, _):
        await asked.write_negatives(EXAMPLES[:1], CORPUS, KNOWN, 2)
    held = (tmp_path / "answers").read_text()
    (tmp_path / "answers").write_text(held.replace("documents", "papers"))
    async with writing(writes, tmp_path) as (asked, server):
        assert len((await asked.write_negatives(EXAMPLES[:1], CORPUS, KNOWN, 2))[0]) == 2
        assert len(server.requests) == 1


async def test_requests_that_a_tool_serves(tmp_path: Path) -> None:
    async with writing(writes, tmp_path) as (asked, server):
        found, usage = await asked.write_requests(DOCUMENTS[:2], 2)
        assert [(one.tool, one.request) for one in found[:2]] == [
            (DOCUMENTS[0].id, "tell me about rain please"),
            (DOCUMENTS[0].id, "ask about rain please"),
        ]
        assert (len(found), usage.answered) == (4, 2)
        assert "description: Get the rain forecast of a city" in server.requests[0].prompt
