"""The tool library on the page: what is told where there is nothing, who sees what, and what a try sends."""

from typing import Any
from unittest.mock import ANY

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client

TOOL = "Custom/Harbour/sink_ship"
ABOUT: JsonObject = {
    "id": TOOL,
    "api": "sink_ship",
    "toolset": "Harbour",
    "category": "Custom",
    "description": HOSTILE,
    "effect": "changes",
    "why": "it is called by DELETE",
    "parameters": [{"name": "name", "required": True, "takes": {"type": "string"}, "description": HOSTILE}],
}
AT = ("2026-07-01T00:00:00Z", "2026-07-02T00:00:00Z")
EMPTY: JsonObject = {"tools": [], "next": None, "total": 0}
TRIED: JsonObject = {"id": "1", "started_at": AT[0], "finished_at": AT[0], "outcome": "ok", "response": HOSTILE}


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.library import library

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    library(client, "")


def shown(answers: dict[str, Any], role: str = "user", **places: str) -> tuple[AppTest, Served]:
    """The page at a place, and the server that it asks."""
    served = Served({"GET /tools/categories": [], "GET /tools": EMPTY, **answers}, role)
    test = AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client, "places": places})
    return test.run(), served


def tool_at(part: str, more: dict[str, Any], role: str = "user") -> tuple[AppTest, Served]:
    """A part of the tool's page."""
    answers: dict[str, Any] = {f"GET /tools/{TOOL}/about": ABOUT, f"GET /tools/{TOOL}/tried": [], **more}
    return shown(answers, role, view="tools", tool=TOOL, part=part)


def words(test: AppTest) -> str:
    return "\n".join(str(one.value) for kind in (test.text, test.caption, test.info, test.error) for one in kind)


def test_an_empty_store_and_a_search_without_a_result_say_so() -> None:
    test, _ = shown({})
    assert "There are no tools here yet" in words(test)
    test.text_input(key="library-query").set_value("sail").run()
    assert "No tool is found" in words(test)


def test_pages_are_turned_and_begin_anew_with_another_search() -> None:
    asked: list[str] = []

    class Pages(Served):
        def _answer(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/tools"):
                asked.append(request.url.params.get("after", ""))
            return super()._answer(request)

    served = Pages({"GET /tools/categories": [], "GET /tools": {"tools": [ABOUT], "next": "n", "total": 2}}, "user")
    test = AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client, "places": {}}).run()
    test.button(key="library-more").click().run()
    assert asked[-1] == "n"
    test.button(key="library-back").click().run()
    assert asked[-1] == ""
    test.button(key="library-more").click().run()
    test.text_input(key="library-query").set_value("sail").run()
    assert asked[-1] == ""


def test_a_tool_that_is_gone_is_said_and_leads_back() -> None:
    test, _ = shown({}, tool="a/b/c")
    assert "nothing is at" in words(test)
    assert [one.label for one in test.button] == ["All tools"]


def test_a_server_that_is_gone_is_told_by_the_page_around_it() -> None:
    test, _ = shown({"GET /tools": httpx.Response(503, json={"code": "unavailable", "detail": "there is no store"})})
    (error,) = test.exception
    assert error.message == "there is no store"


@pytest.mark.parametrize(("role", "sees"), [("user", False), ("author", False), ("admin", True)])
def test_marks_are_offered_to_administrators(role: str, sees: bool) -> None:
    test, _ = tool_at("marks", {f"GET /tools/{TOOL}/marks": {}, f"GET /tools/{TOOL}/neighbours": {}}, role)
    assert ("Marks" in [one.label for one in test.button]) is sees
    assert ("What was said" in [one.value for one in test.subheader]) is sees


def test_a_mark_is_sent_with_its_reason_and_not_without() -> None:
    beside = {"after": [{"tool": "Custom/Harbour/find_ship", "weight": 1.0}], "afters": 1}
    answers = {f"GET /tools/{TOOL}/marks": {}, f"GET /tools/{TOOL}/neighbours": beside, f"PUT /tools/{TOOL}/marks": {}}
    test, served = tool_at("marks", answers, "admin")
    send = next(one for one in test.button if one.label == "Mark it")
    send.click().run()
    assert ("Say why, in a few words." in words(test), served.asked) == (True, [])
    test.selectbox(key="mark-word-edge").set_value("ban")
    test.text_input(key="mark-why-edge").set_value("It sank.")
    next(one for one in test.button if one.label == "Mark it").click().run()
    sent = {"kind": "edge", "mark": "ban", "reason": "It sank.", "target": "Custom/Harbour/find_ship"}
    assert served.asked == [(f"PUT /tools/{TOOL}/marks", sent)]


def test_a_try_asks_for_what_is_needed_and_sends_leave_where_it_is_given() -> None:
    test, served = tool_at("try", {f"POST /tools/{TOOL}/try": TRIED})
    call = next(one for one in test.button if one.label == "Call it")
    call.click().run()
    assert ("Still needed" in words(test), served.asked) == (True, [])
    test.text_input(key=f"try-{TOOL}-name").set_value("Ever True")
    test.checkbox(key="try-leave").check()
    next(one for one in test.button if one.label == "Call it").click().run()
    sent = {"arguments": {"name": "Ever True"}, "leave": True, "key": ANY}
    assert served.asked == [(f"POST /tools/{TOOL}/try", sent)]
    assert "It answered in 0 ms" in words(test)


def test_availability_over_time_is_drawn_from_two_runs_on() -> None:
    moments = [{"at": at, "availability": value} for at, value in zip(AT, (0.5, 0.75), strict=True)]
    for told, drawn in ((moments, 1), (moments[:1], 0)):
        test, _ = tool_at("", {f"GET /tools/{TOOL}/about": ABOUT | {"record": {"over_time": told}}})
        assert not test.exception
        assert len(test.get("vega_lite_chart")) == drawn
        assert ("from 0.50 on 1 Jul 2026 to 0.75 on 2 Jul 2026" in words(test)) == bool(drawn)


def test_what_strangers_wrote_stays_text() -> None:
    test, _ = tool_at("", {})
    assert not test.exception
    assert not any("<img" in one.value or "**loud**" in one.value for one in test.markdown)
    assert "\\*\\*loud" in str(test.table[0].value)
