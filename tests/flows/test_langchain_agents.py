"""The middleware in agents of the released LangChain, with its own fake chat model that calls tools: over the playground."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
import json
import re
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import tool as own_tool
from pydantic import Field

from footpath import Footpath
from footpath.langchain.tools import named_tools
from tests.support.small_library import WEATHER, playground_folder

pytestmark = pytest.mark.langchain
pytest.importorskip("langchain", reason="LangChain is not installed: make test-langchain")

PAGE = Path(__file__).parents[2] / "docs" / "langchain.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
TEA = {"title": "Tea", "starts_at": "2026-12-01T10:00"}
THREAD: Any = {"configurable": {"thread_id": "1"}}


class Told(GenericFakeChatModel):
    """Says what it was told to, and notes which tools it was given each time."""

    seen: list[list[str]] = Field(default_factory=list[list[str]])

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        self.seen.append([tool.name for tool in tools])
        return self


def calling(*calls: tuple[str, dict[str, Any]]) -> Iterator[AIMessage]:
    """Calls tools, one after the other; then it says what the last of them answered is done."""
    for number, (name, arguments) in enumerate(calls):
        call = {"type": "tool_call", "id": f"call_{number}", "name": name, "args": arguments}
        yield AIMessage(content="", tool_calls=[call])
    while True:
        yield AIMessage(content="done")


def model(*calls: tuple[str, dict[str, Any]]) -> Told:
    return Told(messages=calling(*calls))


WEATHER_CALLS = (
    ("search_places", {"city": "Tarnholm"}),
    ("get_current_weather", {"latitude": 59.3252, "longitude": 13.8625}),
)


def asked(words: str = WEATHER) -> dict[str, Any]:
    return {"messages": [("user", words)]}


def answers(state: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Path, str]]:
    folder = tmp_path_factory.mktemp("agents")
    with playground_folder(folder) as address:
        yield folder, address.removeprefix("http://")


@pytest.fixture
def opened(place: tuple[Path, str]) -> Generator[Footpath]:
    folder, host = place
    with Footpath.open(folder / "my-store", allow_hosts={host}) as footpath:
        yield footpath


def agent(model: Told, opened: Footpath, checkpointer: Any = None, tools: Any = (), **options: Any) -> Any:
    from langchain.agents import create_agent

    from footpath.langchain import OfferedTools

    return create_agent(
        model, tools=list(tools), middleware=[OfferedTools(opened, **options)], checkpointer=checkpointer
    )


def test_the_examples_run_as_they_stand(
    place: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, host = place
    monkeypatch.chdir(folder)
    monkeypatch.setenv("FOOTPATH_ALLOW_HOSTS", host)
    names: dict[str, object] = {"model": model(*WEATHER_CALLS), "writing_model": model(("create_event", TEA))}
    for text in EXAMPLES:
        exec(compile(text, str(PAGE), "exec"), names)
    said = capsys.readouterr().out
    assert len(EXAMPLES) >= 4
    for words in ("done", "Tea", "success", "search_places False", "589835", "7.3", "run.finished"):
        assert words in said


def test_a_model_is_offered_a_few_tools_and_they_are_called(opened: Footpath) -> None:
    told = model(*WEATHER_CALLS)
    state = agent(told, opened, limit=4).invoke(asked())
    assert len(told.seen) == 3
    assert all(len(names) == 4 + 1 for names in told.seen)
    assert all(names[0] == "find_tools" for names in told.seen)
    assert {"search_places", "get_current_weather"} <= set(told.seen[0])
    assert [message.status for message in answers(state)] == ["success", "success"]
    assert answers(state)[1].artifact["response"]["temperature"] == 7.3
    assert state["messages"][-1].text == "done"


async def test_with_an_event_loop_and_its_stream(opened: Footpath) -> None:
    told = model(*WEATHER_CALLS)
    seen = [chunk async for chunk in agent(told, opened).astream(asked(), stream_mode="updates")]
    assert [name for chunk in seen for name in chunk] == ["model", "tools", "model", "tools", "model"]


def test_all_steps_of_a_request_see_the_same_tools_and_what_was_called_stays(opened: Footpath) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    told = model(*WEATHER_CALLS)
    served = agent(told, opened, InMemorySaver(), limit=2)
    served.invoke(asked(), THREAD)
    assert len({tuple(names) for names in told.seen}) == 1
    served.invoke(asked("Which public holidays does Caldera have in 2026?"), THREAD)
    assert {"search_places", "get_current_weather"} < set(told.seen[-1])
    assert "holidays" in " ".join(told.seen[-1])


def test_after_a_restart_the_conversation_goes_on(opened: Footpath) -> None:
    """Another agent over the same checkpoints knows the tools by their names in the store."""
    from langgraph.checkpoint.memory import InMemorySaver

    kept = InMemorySaver()
    agent(model(*WEATHER_CALLS), opened, kept).invoke(asked(), THREAD)
    told = model(("search_places", {"city": "Caldera"}))
    state = agent(told, opened, kept, limit=1).invoke(asked("Which public holidays does Caldera have in 2026?"), THREAD)
    assert {"search_places", "get_current_weather"} < set(told.seen[0])
    assert [message.status for message in answers(state)] == ["success"] * 3


def test_a_model_looks_for_tools_that_it_was_not_offered(opened: Footpath) -> None:
    """What it finds can be called, and is known to another agent over the same checkpoints."""
    from langgraph.checkpoint.memory import InMemorySaver

    kept = InMemorySaver()
    told = model(
        ("find_tools", {"request": "public holidays of a country"}),
        ("get_public_holidays", {"country_code": "XV", "year": 2026}),
    )
    served = agent(told, opened, kept, limit=2)
    state = served.invoke(asked(), THREAD)
    assert "get_public_holidays" not in told.seen[0]
    assert "get_public_holidays" in told.seen[1]
    assert "get_public_holidays: " in answers(state)[0].text
    assert [message.status for message in answers(state)] == ["success", "success"]
    later = model()
    agent(later, opened, kept, limit=1).invoke(asked("And today?"), THREAD)
    assert "get_public_holidays" in later.seen[0]
    without = model()
    agent(without, opened, search=False).invoke(asked())
    assert "find_tools" not in without.seen[0]


def test_tools_of_ones_own_stay_and_keep_their_names(opened: Footpath) -> None:
    @own_tool
    def search_places(city: str) -> str:
        """Mine."""
        return f"my {city}"

    told = model(("search_places", {"city": "Tarnholm"}), ("search_places_2", {"city": "Tarnholm"}))
    state = agent(told, opened, tools=[search_places]).invoke(asked())
    assert {"search_places", "search_places_2"} <= set(told.seen[0])
    assert len(set(told.seen[0])) == len(told.seen[0])
    assert [message.text.startswith("my ") for message in answers(state)] == [True, False]
    assert answers(state)[1].artifact["response"]["results"][0]["city"] == "Tarnholm"


def test_a_tool_of_the_store_that_the_agent_has_anyway_is_not_there_twice(opened: Footpath) -> None:
    told = model(WEATHER_CALLS[0])
    state = agent(told, opened, tools=named_tools(opened, ["search_places"])).invoke(asked())
    assert [name for name in told.seen[0] if "search_places" in name] == ["search_places"]
    assert [message.status for message in answers(state)] == ["success"]


def test_a_tool_that_is_not_there_is_told_to_the_model(opened: Footpath) -> None:
    state = agent(model(("no_such_tool", {})), opened).invoke(asked())
    assert [message.status for message in answers(state)] == ["error"]
    assert "no_such_tool" in answers(state)[0].text


def test_changes_are_not_made_unless_they_are_allowed(opened: Footpath) -> None:
    state = agent(model(("create_event", TEA)), opened).invoke(asked("Create the event Tea"))
    assert [message.status for message in answers(state)] == ["error"]
    state = agent(model(("create_event", TEA)), opened, changes="allow").invoke(asked("Create the event Tea"))
    assert [message.status for message in answers(state)] == ["success"]


@pytest.mark.parametrize(
    ("word", "status"),
    [
        (True, "success"),
        ({"decisions": [{"type": "approve"}]}, "success"),
        ({"decisions": [{"type": "reject", "message": "not now"}]}, "error"),
        ({"decisions": []}, "error"),
        ("yes", "error"),
    ],
)
@pytest.mark.parametrize("waits", [False, True], ids=["sync", "async"])
async def test_a_person_is_asked_by_an_interrupt(opened: Footpath, word: Any, status: str, waits: bool) -> None:
    """Nothing is made before the word came, and once where it is yes."""
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    title = f"Tea {uuid4().hex}"
    served = agent(model(("create_event", {**TEA, "title": title})), opened, InMemorySaver(), changes="interrupt")

    async def given(what: Any) -> Any:
        return await served.ainvoke(what, THREAD) if waits else served.invoke(what, THREAD)

    state = await given(asked("Create the event Tea on 1 December 2026 at 10:00"))
    [stopped] = state["__interrupt__"]
    assert (answers(state), events(opened, title)) == ([], 0)
    assert stopped.value["change"]["arguments"]["title"] == title
    assert stopped.value["action_requests"][0]["args"] == {**TEA, "title": title}
    state = await given(Command(resume=word))
    assert [message.status for message in answers(state)] == [status]
    assert events(opened, title) == (status == "success")


def events(opened: Footpath, title: str) -> int:
    """How many of this title the calendar holds."""
    (call,) = opened.call("list_events", {"text": title}).calls
    return len(json.loads(call.response)["events"])


def test_each_of_two_changes_has_its_own_word(opened: Footpath) -> None:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    first, second = (f"Tea {uuid4().hex}" for _ in range(2))
    calls: list[ToolCall] = [
        {"type": "tool_call", "id": title, "name": "create_event", "args": {**TEA, "title": title}}
        for title in (first, second)
    ]
    told = Told(messages=iter([AIMessage(content="", tool_calls=calls), AIMessage(content="done")]))
    served = agent(told, opened, InMemorySaver(), changes="interrupt")
    stopped = served.invoke(asked("Create two events"), THREAD)["__interrupt__"]
    words = {one.id: one.value["change"]["arguments"]["title"] == second for one in stopped}
    state = served.invoke(Command(resume=words), THREAD)
    assert sorted(words.values()) == [False, True]
    assert {message.tool_call_id: message.status for message in answers(state)} == {first: "error", second: "success"}
    assert (events(opened, first), events(opened, second)) == (0, 1)


def test_what_does_not_fit_never_gets_to_a_person(opened: Footpath) -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    served = agent(model(("create_event", {**TEA, "title": "T"})), opened, InMemorySaver(), changes="interrupt")
    state = served.invoke(asked("Create the event T"), THREAD)
    assert "at least 2 characters" in answers(state)[0].text


def test_without_a_checkpointer_a_change_is_refused_with_what_to_do(opened: Footpath) -> None:
    state = agent(model(("create_event", TEA)), opened, changes="interrupt").invoke(asked("Create the event Tea"))
    assert "checkpointer" in answers(state)[0].text
