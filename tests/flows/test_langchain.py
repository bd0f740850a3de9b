"""Tools and runs of a store for LangChain, with what Footpath is installed with anyway: over the playground, both forms of the library."""

import asyncio
import json
import shutil
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import ToolException

from domain.errors import UsageError
from footpath import Answer, AsyncFootpath, Call, Change, Footpath
from footpath.langchain.run import run_of
from footpath.langchain.tools import (
    MAX_RESPONSE_LENGTH,
    FootpathTool,
    anamed_tools,
    aoffered_tools,
    build_tool_result,
    named_tools,
    offered_tools,
)
from graph.tool_description import describe_tool
from tests.support.small_library import WEATHER, playground_folder
from wiring.container import open_container
from wiring.settings import read_settings

TEA = {"title": "Tea", "starts_at": "2026-12-01T10:00"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("langchain")
    with playground_folder(folder) as address:
        yield folder / "my-store", address.removeprefix("http://")


@pytest.fixture(scope="module")
def opened(place: tuple[Path, str]) -> Generator[Footpath]:
    store, host = place
    with Footpath.open(store, allow_hosts={host}) as footpath:
        yield footpath


def said(tool: FootpathTool, arguments: dict[str, Any]) -> ToolMessage:
    """What an agent is answered when its model calls the tool."""
    call = {"type": "tool_call", "id": "call_1", "name": tool.name, "args": arguments}
    return cast("ToolMessage", tool.invoke(call))


def one(opened: Footpath, name: str, **options: Any) -> FootpathTool:
    (tool,) = named_tools(opened, [name], **options)
    return tool


def test_an_offer_is_tools_with_names_words_and_schemas(opened: Footpath) -> None:
    tools = {tool.name: tool for tool in offered_tools(opened, WEATHER, 8)}
    assert len(tools) == 8
    assert {"search_places", "get_current_weather"} <= set(tools)
    schema = cast("dict[str, Any]", tools["get_current_weather"].args_schema)
    assert schema["required"] == ["latitude", "longitude"]
    assert schema["properties"]["latitude"]["maximum"] == 90
    assert "temperature" in tools["get_current_weather"].description
    assert not tools["get_current_weather"].changes


def test_a_call_is_answered_behind_a_fence_and_as_json(opened: Footpath) -> None:
    message = said(one(opened, "search_places"), {"city": "Tarnholm"})
    assert message.status == "success"
    head, first, body, last = cast("str", message.content).splitlines()
    assert head == "ok"
    assert first.startswith("[[response ")
    assert last.startswith("[[end ")
    assert json.loads(body)["results"][0]["population"] == 589835
    assert message.artifact["response"]["results"][0]["city"] == "Tarnholm"
    opened.learn(message.artifact["run"], "right")


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search_places", {"town": "Tarnholm"}, "has no parameter town; there are: city"),
        ("get_current_weather", {"latitude": 1}, "lacks `longitude`"),
        ("get_current_weather", {"latitude": 999, "longitude": 3}, "latitude must be at most 90"),
    ],
)
def test_what_is_wrong_with_a_call_is_told_to_the_model(
    opened: Footpath, name: str, arguments: dict[str, Any], words: str
) -> None:
    message = said(one(opened, name), arguments)
    assert message.status == "error"
    assert words in message.content


def test_changes_are_made_where_they_are_allowed_only(opened: Footpath) -> None:
    refused = said(one(opened, "create_event"), TEA)
    assert (refused.status, "changes='allow'" in refused.content) == ("error", True)
    asked: list[Change] = []

    def approve(change: Change) -> bool:
        asked.append(change)
        return change.arguments["title"] != "Tea"

    assert said(one(opened, "create_event", changes=approve), TEA).status == "error"
    assert said(one(opened, "create_event", changes=approve), {**TEA, "title": "Coffee"}).status == "success"
    assert [change.arguments["title"] for change in asked] == ["Tea", "Coffee"]
    assert "event" in one(opened, "create_event").description


def test_a_person_cannot_be_asked_outside_of_a_graph(opened: Footpath) -> None:
    message = said(one(opened, "create_event", changes="interrupt"), TEA)
    assert message.status == "error"
    assert "was not made" in message.content


async def test_the_store_learns_from_a_tools_calls(place: tuple[Path, str], tmp_path: Path) -> None:
    """And an open store without a thread of its own serves what is awaited."""
    store, host = place
    own = shutil.copytree(store, tmp_path / "store")
    async with open_container(read_settings(allow_hosts={host}), own) as container:

        async def runs() -> int:
            return len((await describe_tool(container.graph, tool.tool, container.weights)).runs)

        (tool,) = await anamed_tools(AsyncFootpath(container), ["search_places"])
        before = await runs()
        await tool.ainvoke({"city": "Tarnholm"})
        assert await runs() == before + 1
        await AsyncFootpath(container).call(tool.tool, {"city": "Tarnholm"}, learn=False)
        assert await runs() == before + 1
        assert (await run_of(AsyncFootpath(container), policy="offline").ainvoke(WEATHER))["outcome"] == "answered"


def test_a_long_answer_is_cut_for_the_model_and_left_out_of_what_is_kept() -> None:
    call = Call("a/b/c", {}, "ok", json.dumps("x" * (MAX_RESPONSE_LENGTH + 10)), "")
    content, artifact = build_tool_result(Answer("run", "Call it.", "", "answered", "", (call,), "", {}))
    assert len(content) < MAX_RESPONSE_LENGTH + 200
    assert "12 characters more were left out" in content
    assert artifact["response"] is None
    with pytest.raises(ToolException, match="not made"):
        build_tool_result(Answer("run", "Call it.", "", "failed", "the store is gone", (), "", {}))


async def test_a_store_with_a_thread_serves_what_is_awaited_side_by_side(opened: Footpath) -> None:
    tools = {tool.name: tool for tool in await aoffered_tools(opened, WEATHER, 4)}
    both = [tools["search_places"].ainvoke({"city": city}) for city in ("Tarnholm", "Caldera")]
    assert all("results" in answer for answer in await asyncio.gather(*both))
    (alone,) = await anamed_tools(opened, ["search_places"])
    assert alone.tool == tools["search_places"].tool


async def test_an_asynchronous_store_says_that_it_is_to_be_awaited() -> None:
    class Never(AsyncFootpath):
        def __init__(self) -> None:
            """Nothing is asked of it."""

    with pytest.raises(UsageError, match="ainvoke"):
        offered_tools(Never(), WEATHER)
    with pytest.raises(UsageError, match="ainvoke"):
        run_of(Never()).invoke(WEATHER)


def test_a_run_is_what_its_chunks_add_up_to(opened: Footpath) -> None:
    run = run_of(opened, policy="offline")
    chunks = list(run.stream(WEATHER))
    assert all(len(chunk["events"]) == 1 for chunk in chunks)
    assert [event["seq"] for chunk in chunks for event in chunk["events"]] == list(range(1, len(chunks) + 1))
    whole = run.invoke([AIMessage("Hello"), HumanMessage(WEATHER)])
    assert (whole["outcome"], whole["answer"].splitlines()[0]) == ("answered", "7.3")
    assert [call["status"] for call in whole["calls"]] == ["ok", "ok"]
    assert whole["events"][-1]["event"]["kind"] == "run.finished"
    assert {name for chunk in chunks for name in chunk} == set(whole)

    def first_line(told: dict[str, Any]) -> str:
        return told["answer"].splitlines()[0]

    chained = run | first_line
    assert chained.invoke({"messages": [HumanMessage(WEATHER)]}) == "7.3"


async def test_a_runs_events_are_events_of_langchain(opened: Footpath) -> None:
    kinds: Counter[str] = Counter()
    heard: list[str] = []
    async for event in run_of(opened, policy="offline").astream_events(WEATHER, version="v2"):
        kinds[event["event"]] += 1
        if event["event"] == "on_chain_stream":
            heard += [one["event"]["kind"] for one in cast("Any", event["data"])["chunk"]["events"]]
    assert (kinds["on_chain_start"], kinds["on_chain_end"]) == (1, 1)
    assert (heard[0], heard[-1], heard.count("call.finished")) == ("run.started", "run.finished", 2)


async def test_a_run_that_is_left_is_cancelled_and_the_store_goes_on(opened: Footpath) -> None:
    stream = cast("Any", run_of(opened, policy="offline").astream(WEATHER))
    first = await anext(stream)
    assert first["events"][0]["event"]["kind"] == "run.started"
    await stream.aclose()
    late = asyncio.create_task(run_of(opened, policy="offline").ainvoke(WEATHER))
    await asyncio.sleep(0)
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late
    assert (await run_of(opened, policy="offline").ainvoke(WEATHER))["outcome"] == "answered"


def test_without_a_request_a_run_says_what_it_is_given(opened: Footpath) -> None:
    with pytest.raises(UsageError, match="HumanMessage"):
        run_of(opened).invoke([AIMessage("Hello")])
    with pytest.raises(UsageError, match="request is empty"):
        run_of(opened).invoke(" ")
