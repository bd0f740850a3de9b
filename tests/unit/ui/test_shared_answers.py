"""Shared answers on the page: a link is made and taken back; what it shows is read as text, and what is withheld is said."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.replies import Run

UNTIL = "2026-12-05T09:30:00Z"
MINE: JsonObject = {
    "id": "s1",
    "run_id": "r1",
    "request": HOSTILE,
    "with_calls": True,
    "created_at": UNTIL,
    "expires_at": UNTIL,
}
READ: JsonObject = {
    "owner": "ada",
    "request": HOSTILE,
    "outcome": "answered",
    "finished_at": UNTIL,
    "expires_at": UNTIL,
    "answer": "There are 9 holidays.",
    "programs": ["days = await list_holidays()\ndays"],
    "calls": [{"tool": "places/Days/list_holidays", "status": "ok"}],
    "withheld": 0,
}


def reading(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.shared import shared

    st.query_params.setdefault("answer", "fps_secret")
    shared(client, "")


def making(client: "Client", run: "Run") -> None:
    from ui.screens.sharing import own_shared, sharing

    sharing(client, run)
    own_shared(client)


def drawn(page: Any, answers: JsonObject, **kwargs: Any) -> tuple[AppTest, Served]:
    served = Served(answers, "user")
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client} | kwargs).run(), served


def read(test: AppTest) -> str:
    parts: list[Any] = [*test.caption, *test.text, *test.info, *test.warning, *test.markdown]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")


def test_a_link_is_made_for_the_days_that_were_chosen_and_taken_back() -> None:
    made = MINE | {"secret": "fps_secret"}
    answers: JsonObject = {"POST /runs/r1/shared": made, "GET /me/shared": [MINE], "DELETE /me/shared/s1": {}}
    test, served = drawn(making, answers, run=Run(id="r1", request="a request", status="finished"))
    test.selectbox(key="share-days-r1").set_value(30).run()
    test.checkbox(key="share-calls-r1").check().run()
    test.button(key="share-r1").click().run()
    assert test.code[0].value.endswith("?answer=fps_secret")
    test.button(key="unshare-s1").click().run()
    assert served.asked == [("POST /runs/r1/shared", {"days": 30, "with_calls": True}), ("DELETE /me/shared/s1", None)]


def test_question_answer_program_and_tools_are_read() -> None:
    test, _ = drawn(reading, {"GET /shared/fps_secret": READ})
    said = read(test)
    assert "ada asked this, and shares what came of it until 5 Dec 2026 09:30 UTC." in said
    assert "There are 9 holidays." in said
    assert "Days / list_holidays: ok" in said
    assert [one.value for one in test.code] == ["days = await list_holidays()\ndays"]


def test_what_is_withheld_is_said() -> None:
    withheld = READ | {"answer": "", "programs": [], "calls": [], "withheld": 2}
    test, _ = drawn(reading, {"GET /shared/fps_secret": withheld})
    assert "It rests on 2 tools that you may not use" in read(test)
    assert not test.code


def test_a_link_that_leads_nowhere_says_whom_to_ask() -> None:
    gone = httpx.Response(404, json={"code": "not_found", "detail": "this link leads nowhere any more"})
    test, _ = drawn(reading, {"GET /shared/fps_secret": gone})  # pyright: ignore[reportArgumentType]
    assert "Ask who gave it to you for another." in read(test)
