"""The planner ``thesis``, with a scripted model behind the real protocol: split, searched, judged, and only then called, step by step."""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic.types import JsonValue

from agent.memory.long_term import LongTermMemory
from agent.run import run
from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    PathEnded,
    PlanReady,
    ReflectionMade,
    StepBacktracked,
    StepChosen,
    SubtaskStarted,
)
from domain.trajectory import SolvedRequest
from graph.backends.sqlite_memories import SqliteMemories
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.small_world_bindings import CITY, POINT
from tests.models.brain import GOOD, Line, advance_to, bind, judge, move
from tests.models.openai_replies import ChatRequest, Says
from tests.support.program_world import OffersAs, World, code, end, the, world
from tests.support.run_deps import change_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    TOOLS,
    ScriptedExecutor,
    WordEmbedder,
    down,
    ok,
)

WEATHER = "What is the weather forecast for Paris?"
BOTH = f'{WEATHER} How many pages has the book "Dune"?'
DUNE = ok({"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]})
TITLE = bind(("title", "Dune", "request", "Dune"))
WRITTEN = code('{"answered": "yes", "answer": "written"}')


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST, search_books=DUNE)


@asynccontextmanager
async def thesis(folder: Path, executor: ScriptedExecutor, **script: Any) -> AsyncGenerator[World]:
    """A world whose model could write a program, and has a sandbox and an offer for it; none of which is used."""
    offers = OffersAs([TOOLS])
    usual: dict[str, Any] = {
        "choose": [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish", "all is served")],
        "arguments": [CITY, POINT],
        "answer": [Says("It will be 4.5 degrees [2].")],
    }
    async with world(folder, executor, WRITTEN, offers=offers, planner="thesis", **{**usual, **script}) as made:
        yield made
    assert made.written == 0
    assert offers.asked == [], "the K are the graph's and the retriever's alone"


def asked_for(made: World, beginning: str) -> list[ChatRequest]:
    """What the model was asked with a prompt that begins so."""
    return [one for one in made.server.requests if str(one.messages[0]["content"]).startswith(beginning)]


def choices(made: World) -> list[ChatRequest]:
    return asked_for(made, "You plan a path of API calls that serves a request. You stand")


async def test_a_request_is_split_searched_judged_and_then_called_step_by_step(tmp_path: Path) -> None:
    executor = calls()
    parts: list[JsonValue] = [
        {"name": "weather", "description": WEATHER, "category": "weather"},
        {"name": "pages", "description": 'How many pages has the book "Dune"?', "category": "Books"},
    ]

    def choose(request: ChatRequest) -> Mapping[str, JsonValue]:
        if "Dune" in request.prompt.partition("[[request")[2].partition("[[end")[0]:
            return move("finish") if "[[path so far" in request.prompt else advance_to("search_books")(request)
        return forward(request)

    def fill(request: ChatRequest) -> Mapping[str, JsonValue]:
        return TITLE if "search_books" in request.prompt.partition("[[tool")[2] else by_tool(request)

    split: Line = {"reason": "two categories", "subtasks": parts}
    async with thesis(tmp_path, executor, decompose=[split], choose=[choose], arguments=[fill]) as made:
        made.deps = change_deps(made.deps, max_parallel_subtasks=1)
        records = await made.told(BOTH)
        (question,) = asked_for(made, "You split a request")
    assert end(records).outcome == "answered"
    shown = question.prompt.partition("[[categories")[2].partition("[[end")[0].splitlines()[1:]
    assert set(shown) == {"Places", "Weather", "Books"}
    begun = [one for one in the(records, SubtaskStarted) if isinstance(one, SubtaskStarted)]
    assert [(one.name, one.category) for one in begun] == [("weather", "Weather"), ("pages", "Books")]
    for number, length in ((1, 2), (2, 1)):
        kinds = [one.event.kind for one in records if one.subtask == number]
        searched = ["candidates.considered", "step.chosen"] * length + ["candidates.considered"]
        called = ["call.started", "call.finished"] * length
        assert kinds == ["subtask.started", *searched, "path.ended", "reflection.made", "plan.ready", *called]
    steps = ["choose"] * 3 + ["reflect"] + ["arguments"] * 2
    assert made.brain.asked == ["decompose", *steps, "choose", "choose", "reflect", "arguments", "answer"]


def forward(request: ChatRequest) -> Mapping[str, JsonValue]:
    """The place, then its forecast; the other forecast where the first one was judged to be wrong."""
    path = request.prompt.partition("[[path so far")[2].partition("[[end")[0]
    if "get_daily_forecast" in path:
        return move("finish", "all is served")
    if "get_forecast" in path:
        return move("finish", "so it seems")
    if "search_places" not in path:
        return advance_to("search_places")(request)
    judged = "on reflection" in request.prompt
    return advance_to("get_daily_forecast" if judged else "get_forecast")(request)


def by_tool(request: ChatRequest) -> Mapping[str, JsonValue]:
    return CITY if "search_places" in request.prompt.partition("[[tool")[2] else POINT


def by_path(request: ChatRequest) -> Mapping[str, JsonValue]:
    """Not the old forecast."""
    path = request.prompt.partition("[[path")[2].partition("[[end")[0]
    return judge("partial", 2) if "/get_forecast" in path else GOOD


async def test_the_heaviest_edges_are_shown_with_weight_and_availability_one_step_a_decision(tmp_path: Path) -> None:
    both: Line = lambda request: {**advance_to("search_places")(request), "then": [2, 3], "done": True}  # noqa: E731
    script: list[Line] = [both, advance_to("get_daily_forecast"), move("finish", "all is served")]
    async with thesis(tmp_path, calls(), choose=script) as made:
        made.deps = change_deps(made.deps, walk_settings=replace(made.deps.planning.walk_settings, several_steps=True))
        records = await made.told(WEATHER)
        prompts = choices(made)
    assert end(records).outcome == "answered"
    assert len(prompts) == 3, "what a decision names beyond its step does not count"
    assert all("# One step at a time" in str(one.messages[0]["content"]) for one in prompts)
    assert "after 1" not in prompts[0].prompt
    lines = prompts[1].prompt.partition("[[candidates")[2].splitlines()[1:3]
    assert "Weather Set/get_forecast" in lines[0]
    assert "weight 0.75; availability 0.88; relevance" in lines[0]
    assert "Weather Set/get_daily_forecast" in lines[1]
    assert "weight 0.25; availability 0.75; relevance" in lines[1]
    node = the(records, CandidatesConsidered)[1]
    assert isinstance(node, CandidatesConsidered)
    edges = [(one.tool, one.weight, one.origin) for one in node.candidates if one.origin == "graph" and one.weight]
    assert edges == [(OLD_WEATHER.id, 0.75, "graph"), (NEW_WEATHER.id, 0.25, "graph")]
    assert {one.origin for one in node.candidates} <= {"graph", "retriever"}


async def test_a_step_back_is_remembered_with_its_reason_and_nothing_is_called_on_the_way(tmp_path: Path) -> None:
    executor = calls()
    script: list[Line] = [
        advance_to("search_books"), move("backtrack", "books tell no weather"), advance_to("search_places"),
        advance_to("get_daily_forecast"), move("finish"),
    ]  # fmt: skip
    async with thesis(tmp_path, executor, choose=script) as made:
        records = await made.told(WEATHER)
        prompts = choices(made)
    left = the(records, StepBacktracked)
    assert [(one.dropped, one.path) for one in left if isinstance(one, StepBacktracked)] == [(BOOKS.id, ())]
    assert "left Books Set/search_books: books tell no weather" in prompts[2].prompt
    assert "search_books" not in prompts[2].prompt.partition("[[candidates")[2]
    planned = next(one.seq for one in records if isinstance(one.event, PlanReady))
    called = [one.seq for one in records if isinstance(one.event, CallStarted)]
    assert min(called) > planned
    assert [name for name, _ in executor.made] == ["search_places", "get_daily_forecast"]


WALKED = ["search_places", "get_daily_forecast"]
VERDICTS: dict[str, tuple[list[Line], list[Line], list[str]]] = {
    "success": ([GOOD], [advance_to("search_places"), advance_to("get_forecast"), move("finish")], ["search_places", "get_forecast"]),
    "partial": (
        [judge("partial", 2), GOOD],
        [advance_to("search_places"), advance_to("get_forecast"), move("finish"), advance_to("get_daily_forecast"), move("finish")],
        WALKED,
    ),
    "total": (
        [judge("total"), GOOD],
        [advance_to("search_books"), move("finish"), advance_to("search_places"), advance_to("get_daily_forecast"), move("finish")],
        WALKED,
    ),
}  # fmt: skip


@pytest.mark.parametrize("verdict", VERDICTS)
async def test_each_verdict_has_its_consequence(verdict: str, tmp_path: Path) -> None:
    judgements, moves, called = VERDICTS[verdict]
    executor = calls()
    async with thesis(tmp_path, executor, reflect=judgements, choose=moves) as made:
        records = await made.told(WEATHER)
        prompts = choices(made)
    judged = [one for one in the(records, ReflectionMade) if isinstance(one, ReflectionMade)]
    assert judged[0].verdict == verdict
    assert [one.resumed for one in judged] == ([False] if verdict == "success" else [True, False])
    assert [name for name, _ in executor.made] == called, "what was judged to be wrong is not called"
    assert len(prompts) == len(moves), "what was right is not decided again"
    assert end(records).outcome == "answered"
    if verdict == "partial":
        resumed = prompts[3].prompt
        assert "search_places" in resumed.partition("[[path so far")[2].partition("[[end")[0]
        assert "on reflection, went back before Weather Set/get_forecast: a partial one" in resumed
        assert "/get_forecast:" not in resumed.partition("[[candidates")[2]
    if verdict == "total":
        assert "The path is empty" in prompts[2].prompt
        assert "search_books" not in prompts[2].prompt.partition("[[candidates")[2], "the noise is left out"


async def test_who_is_called_noisy_is_no_start_any_more(tmp_path: Path) -> None:
    def noise(request: ChatRequest) -> Mapping[str, JsonValue]:
        lines = request.prompt.partition("[[start tools")[2].partition("[[end")[0].splitlines()
        return judge("total", noisy=[int(one.partition(".")[0]) for one in lines if "Books Set/" in one])

    moves: list[Line] = [
        move("give_up", "nothing here"), advance_to("search_places"), advance_to("get_daily_forecast"), move("finish")
    ]  # fmt: skip
    async with thesis(tmp_path, calls(), reflect=[noise, GOOD], choose=moves) as made:
        records = await made.told(WEATHER)
        prompts = choices(made)
    assert end(records).outcome == "answered"
    assert "Books Set/" in prompts[0].prompt.partition("[[candidates")[2]
    assert "Books Set/" not in prompts[1].prompt.partition("[[candidates")[2]


async def test_a_call_that_fails_for_good_sends_the_search_back_to_its_node(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=FORECAST)
    moves: list[Line] = [
        advance_to("search_places"), advance_to("get_forecast"), move("finish"), advance_to("get_daily_forecast"), move("finish"),
    ]  # fmt: skip
    async with thesis(tmp_path, executor, choose=moves, arguments=[by_tool]) as made:
        records = await made.told(WEATHER)
        prompts = choices(made)
    assert end(records).outcome == "answered"
    assert [name for name, _ in executor.made] == ["search_places", "get_forecast", "get_daily_forecast"]
    assert "the call failed, went back before Weather Set/get_forecast: the call failed for good (HTTP 503)" in (
        prompts[3].prompt
    )
    assert len(the(records, ReflectionMade)) == 2, "the way around is judged like any other path"


async def test_a_known_path_is_shown_and_not_taken_whole(tmp_path: Path) -> None:
    store = SqliteMemories(tmp_path / "memories.db")
    await store.setup()
    memory = LongTermMemory(store, WordEmbedder())
    await memory.keep([SolvedRequest("What is the weather forecast for Rome?", (GEOCODE.id, NEW_WEATHER.id))])
    await memory.embed()
    async with thesis(tmp_path, calls()) as made:
        made.deps = change_deps(made.deps, memory=memory)
        records = await made.told(WEATHER)
        prompts = choices(made)
    await store.close()
    assert "adopt" not in made.brain.asked
    assert len(prompts) == 3
    assert "What is the weather forecast for Rome? | Places Set/search_places -> Weather Set/get_daily_forecast" in (
        prompts[0].prompt
    )
    assert end(records).outcome == "answered"


def course(records: list[EventRecord]) -> list[str]:
    return [record.event.kind for record in records]


async def test_a_run_that_is_broken_off_anywhere_goes_on_as_it_would_have(tmp_path: Path) -> None:
    split: Line = {"reason": "one goal", "category": "Weather", "subtasks": []}
    script: dict[str, list[Line]] = {
        "decompose": [split], "choose": [forward], "reflect": [by_path], "arguments": [by_tool],
    }  # fmt: skip
    async with thesis(tmp_path, calls(), **script) as made:
        whole = await made.told(WEATHER)
        questions = Counter(made.brain.asked)
    assert end(whole).outcome == "answered"
    assert [one.verdict for one in the(whole, ReflectionMade) if isinstance(one, ReflectionMade)] == [
        "partial",
        "success",
    ]
    for cut in range(1, len(whole)):
        before = whole[:cut]
        executor = calls()
        async with thesis(tmp_path, executor, **script) as made:
            records = [*before, *await made.told(WEATHER, past=before)]
            again = Counter(made.brain.asked)
        assert course(records) == course(whole), cut
        assert (end(records).outcome, end(records).answer) == (end(whole).outcome, end(whole).answer)
        done = {one.event.result.tool for one in before if isinstance(one.event, CallFinished)}
        assert done.isdisjoint(tool.id for tool in TOOLS for name, _ in executor.made if tool.api == name), cut
        chosen = sum(isinstance(one.event, StepChosen | ReflectionMade) for one in before)
        assert again.total() <= questions.total() - chosen, "no decision is taken twice"
        begun = [one.event for one in records if isinstance(one.event, SubtaskStarted)]
        assert [one.category for one in begun] == ["Weather"]


async def test_without_a_model_rules_search_judge_and_fill_the_same_way(tmp_path: Path) -> None:
    executor = calls()
    async with thesis(tmp_path, executor) as made:
        deps = change_deps(made.deps, policy=OfflinePolicy(), reader=EnglishReader())
        records = [record async for record in run(WEATHER, deps)]
        assert made.brain.asked == []
    assert end(records).outcome == "answered"
    assert "4.5" in end(records).answer
    assert kinds_of(records, PathEnded, ReflectionMade, PlanReady) == ["path.ended", "reflection.made", "plan.ready"]
    assert [name for name, _ in executor.made] == ["search_places", "get_forecast"]
    assert [one.category for one in the(records, SubtaskStarted) if isinstance(one, SubtaskStarted)] == [""]


def kinds_of(records: list[EventRecord], *kinds: type[Event]) -> list[str]:
    return [record.event.kind for record in records if isinstance(record.event, kinds)]
