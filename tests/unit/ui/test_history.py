"""The history on the page: runs in words, what is looked for, more of them, one in full, two beside each other, all as files."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from domain.event import CallFinished, CallStarted, Event, ProgramEnded, ProgramStarted, RunFinished
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program
from domain.tool import make_tool_id
from domain.usage import Usage
from tests.unit.ui.served import HOSTILE, Served
from tests.unit.ui.telling import told
from ui.client import Client
from ui.past_run_files import as_lines, as_table
from ui.past_runs import PastRun
from ui.stream import Told

RUN: dict[str, Any] = {
    "id": "r1", "request": "Who is in?", "conversation_id": "c1", "conversation_title": "Rooms", "planner": "program",
    "policy": "offline", "status": "finished", "outcome": "answered", "created_at": "2026-11-23T12:00:00Z", "verdict": "right",
    "calls": 3, "usage": {"total_seconds": 2.5, "prompt_tokens": 900, "completion_tokens": 100}, "last_event": 5,
}  # fmt: skip
OTHER = RUN | {"id": "r2", "request": HOSTILE, "outcome": None, "status": "waiting", "calls": None, "verdict": None}
TOOL = make_tool_id("c", "Set", "get_item")
PATHS = ("/runs", "/runs/tools", "/runs/{run_id}/rerun", "/runs/{run_id}/verdict")
ROUTES = {"paths": dict[str, JsonObject]({f"/api/v1{path}": {} for path in PATHS})}


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.history import history

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    history(client, places.get("conversation", ""))


class World:
    """A server with the runs ``r1`` and ``r2``. ``asked``: with which parameters the list was."""

    def __init__(self, runs: list[dict[str, Any]], following: str | None = None) -> None:
        self.asked: list[dict[str, str]] = []
        self.client = self._served(runs, following)

    def _served(self, runs: list[dict[str, Any]], following: str | None) -> Client:
        answers: dict[str, Any] = {"GET /openapi.json": ROUTES, "GET /conversations": [{"id": "c1", "title": "Rooms"}]}
        answers |= {
            "GET /runs/tools": [{"tool": TOOL, "runs": 2}],
            "GET /runs/r1": RUN,
            "GET /runs/r2": RUN | {"id": "r2"},
        }
        client = Served(answers).client
        plain = client.send

        def send(method: str, path: str, **more: Any) -> httpx.Response:
            if (method, path) != ("GET", "/runs"):
                return plain(method, path, **more)
            self.asked.append(more["params"])
            if "before" not in more["params"]:
                return httpx.Response(200, json={"runs": runs, "next": following})
            older = [RUN | {"id": f"old{number}"} for number in range(int(more["params"]["limit"]))]
            return httpx.Response(200, json={"runs": older, "next": "old"})

        def events(run: str, after: int = 0, wanted: Callable[[], bool] = lambda: True) -> Iterator[Told]:
            assert after == 0
            assert wanted()
            yield from (told(seq, event) for seq, event in enumerate(story(run), 1))

        client.send, client.events = send, events
        return client

    def shown(self, **places: str) -> AppTest:
        test = AppTest.from_function(page, default_timeout=60, kwargs={"client": self.client, "places": places}).run()
        assert not test.exception
        return test


def story(run: str) -> list[Event]:
    """``r2`` asks for another item with another program."""
    number, text = (1, "await get_item(n=1)") if run == "r1" else (2, "await get_item(n=2)\nawait get_item(n=3)")
    result = StepResult(tool=TOOL, arguments={"n": number}, status="ok", response="[]")
    return [
        ProgramStarted(number=1, program=Program(text=text, tools={"get_item": TOOL})),
        CallStarted(step=1, tool=TOOL, arguments={"n": number}, site="1:6#0-0"),
        CallFinished(step=1, result=result, site="1:6#0-0"),
        ProgramEnded(number=1, answered="yes", answer=f"It is {number}.", verdict="yes"),
        RunFinished(outcome="answered", answer=f"It is {number}.", usage=Usage()),
    ]


def read(test: AppTest) -> str:
    parts: list[Any] = [
        *test.markdown,
        *test.caption,
        *test.text,
        *test.error,
        *test.info,
        *test.title,
        *test.subheader,
    ]
    labels = [one.label for one in (*test.button, *test.expander)]
    return "\n".join([*(one.value for one in parts), *labels]).replace("\\", "")


def press(test: AppTest, label: str) -> AppTest:
    (button,) = [one for one in test.button if one.label.replace("\\", "") == label]
    test = button.click().run()
    assert not test.exception
    return test


def test_runs_are_told_in_words_and_lead_to_themselves() -> None:
    test = World([OTHER, RUN]).shown()
    text = read(test)
    assert (
        "Answered · 23 Nov 2026 12:00 · 2.5 s · 3 calls · 1,000 tokens · :material/thumb_up: said to be right · Rooms"
        in text
    )
    assert "Waits for you · 23 Nov 2026 12:00 · Rooms" in text
    assert not any(
        "<img" in one.value.replace("\\<", "") or ":red[" in one.value for one in (*test.markdown, *test.caption)
    )
    assert not any("<img" in one.label.replace("\\<", "") for one in test.button)
    test = press(test, "Who is in?")
    assert test.query_params["run"] == "r1"
    assert "It is 1." in read(test)


def test_a_run_that_was_not_allowed_is_told_as_in_its_conversation() -> None:
    refused = RUN | {"outcome": "gave_up", "refused": "call", "calls": 0}
    told = read(World([refused, RUN | {"id": "r2", "outcome": "gave_up"}]).shown())
    assert "Not done, as you did not allow it · 23 Nov 2026 12:00 · 2.5 s · no calls" in told
    assert "Found no way to answer · 23 Nov 2026 12:00 · 2.5 s · 3 calls" in told


def test_what_is_looked_for_is_asked_of_the_server() -> None:
    world = World([RUN], following="r1")
    test = world.shown(conversation="c1")
    assert world.asked[0] == {"conversation": "c1", "limit": "50"}
    assert world.asked[1] == {"conversation": "c1", "limit": "49", "before": "r1"}
    test.text_input[0].input(" room ").run()
    test.selectbox(key="history-by-end").select("waiting").run()
    test.selectbox(key="history-by-tool").select(TOOL).run()
    test.selectbox(key="history-by-verdict").select("none").run()
    test.date_input(key="history-by-since").set_value(datetime(2026, 11, 1, tzinfo=UTC).date()).run()
    test = test.date_input(key="history-by-until").set_value(datetime(2026, 11, 30, tzinfo=UTC).date()).run()
    assert world.asked[-2] == {
        "search": "room", "status": "waiting", "conversation": "c1", "tool": TOOL, "verdict": "none",
        "since": "2026-11-01T00:00:00+00:00", "until": "2026-12-01T00:00:00+00:00", "limit": "50",
    }  # fmt: skip
    press(test, "Load more")
    assert world.asked[-2]["limit"] == "100"


@pytest.mark.parametrize(("places", "says"), [({"of": "all"}, "Nothing was asked yet"), ({}, "No run is like that")])
def test_nothing_is_told_from_nothing_found(places: dict[str, str], says: str) -> None:
    world = World([])
    test = world.shown(conversation="c1", **places)
    assert says in read(test)
    if not places:
        test = press(test, "Look for all runs")
        assert "conversation" not in world.asked[-1]
        assert "Nothing was asked yet" in read(test)


@pytest.mark.parametrize("places", [{"run": "r3"}, {"run": "r1", "with": "r3"}, {"run": "r3", "with": "r1"}])
def test_a_run_of_nobody_is_not_found(places: dict[str, str]) -> None:
    test = World([RUN]).shown(**places)
    assert "You have no such run" in read(test)
    assert "It is 1." not in read(test)


def test_a_run_is_gone_through_step_by_step() -> None:
    test = World([RUN]).shown(run="r1")
    test = test.segmented_control[0].set_value("replay").run()
    assert "Event 1 of 5, after 0 ms: Program 1 began" in read(test)
    test = press(test, "Next event")
    assert "Event 2 of 5, after 0 ms: Called Set / get_item" in read(test)
    assert "Under way: 1 call, 1 not answered yet …" in read(test)
    test = press(test, "Last event")
    assert "Event 5 of 5" in read(test)
    assert "It is 1." in read(test)
    test = test.slider[0].set_value(3).run()
    assert "Event 3 of 5" in read(test)
    assert test.button(key="replay-at-r1-skip_next").disabled is False


def test_two_runs_are_compared() -> None:
    test = World([OTHER, RUN]).shown(run="r1")
    test = press(test, "Compare with …")
    assert "Who is in?" not in read(test), "a run is not compared with itself"
    (other,) = [one for one in test.button if one.key == "look-r2"]
    test = other.click().run()
    assert not test.exception
    text = read(test)
    assert test.query_params["with"] == "r2"
    for words in (
        "Two runs compared",
        "It is 1.",
        "It is 2.",
        "1 was given other values.",
        "≠ Set / get_item: other n",
    ):
        assert words in text


def test_a_list_as_a_file_is_read_back_and_no_cell_is_a_formula() -> None:
    runs = [
        PastRun.model_validate(RUN | {"request": "=1+1", "conversation_title": "+x"}),
        PastRun.model_validate(OTHER),
    ]
    first, second = [json.loads(line) for line in as_lines(runs).splitlines()]
    assert (first["request"], first["tokens"], first["seconds"], first["calls"]) == ("=1+1", 1000, 2.5, 3)
    assert (second["request"], second["seconds"], second["outcome"]) == (HOSTILE, None, None)
    heads, row, _ = csv.reader(io.StringIO(as_table(runs), newline=""))
    cells = dict(zip(heads, row, strict=True))
    assert (cells["request"], cells["conversation_title"], cells["tokens"]) == ("'=1+1", "'+x", "1000")
