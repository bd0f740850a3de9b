"""The tool graph on the page: what is drawn and said of it, what is chosen by the address, and what strangers wrote stays text."""

import re
from typing import Any
from urllib.parse import unquote

import httpx
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.explorer import GraphEdge
from ui.explorer_words import reckoned

HERE, NEXT, FED = "Custom/Harbour/find_ship", "Custom/Harbour/sink_ship", "Custom/Docks/dock%20%2C%20of"
WALK: JsonObject = {
    "source": HERE, "target": NEXT, "weight": 0.2, "imported": 4, "live": 1, "strength": 0.9, "availability": 0.9, "score": 0.18,
}  # fmt: skip
FEED: JsonObject = {
    "source": HERE, "target": FED, "score": 0.8, "couplings": [{"field": HOSTILE, "parameter": "ship", "score": 0.8}], "many": 3,
}  # fmt: skip
PICTURE: JsonObject = {
    "centre": HERE,
    "ends": 0.25,
    "tools": [
        {"id": HERE, "toolset": "Harbour", "api": "find_ship", "depth": 0, "beyond": 7},
        {"id": NEXT, "toolset": "Harbour", "api": HOSTILE, "effect": "changes", "depth": 1},
        {"id": FED, "toolset": "Docks", "api": "dock , of", "depth": 1, "banned": True},
    ],
    "walks": [WALK],
    "feeds": [FEED],
    "left_out": 5,
    "edges_left_out": 0,
}
OTHER: JsonObject = {"tool": FED, "weight": 0.6, "availability": 0.1, "score": 0.06}
EDGE: JsonObject = {"source": HERE, "target": NEXT, "walk": WALK, "place": 1, "ways": 2, "others": [OTHER]}
ABOUT: JsonObject = {"id": HERE, "api": "find_ship", "toolset": "Harbour", "category": "Custom", "description": HOSTILE}
AFAR: JsonObject = {
    "sets": [{"id": "Custom/Harbour", "category": "Custom", "toolset": HOSTILE, "tools": 2, "walked": 9, "inside": 4}, {"id": "Custom/Docks", "toolset": "Docks", "tools": 1}],
    "toolsets": 40, "tools": 120, "joins": [{"source": "Custom/Harbour", "target": "Custom/Docks", "walked": 0, "coupled": 1}],
    "busiest": [{"id": HERE, "walked": 9}],
}  # fmt: skip


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.explorer import explorer

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    explorer(client, "")


def shown(answers: dict[str, Any] | None = None, **places: str) -> tuple[AppTest, list[httpx.Request]]:
    """The page at a place, and what the server was asked."""
    asked: list[httpx.Request] = []
    known: dict[str, Any] = {
        "/graph": AFAR, f"/tools/{HERE}/around": PICTURE, f"/tools/{HERE}/about": ABOUT, f"/tools/{HERE}/edge": EDGE, **(answers or {}),
    }  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        told = known.get(unquote(request.url.path.removeprefix("/api/v1")))
        return (
            httpx.Response(200, json=told)
            if told is not None
            else httpx.Response(404, json={"detail": "nothing is at it"})
        )

    client = Served({}, "user", answer=answer).client
    test = AppTest.from_function(
        page, default_timeout=30, kwargs={"client": client, "places": {"view": "graph", **places}}
    )
    return test.run(), asked


def words(test: AppTest) -> str:
    kinds = (test.text, test.caption, test.info, test.error, test.subheader)
    return "\n".join(str(one.value) for kind in kinds for one in kind).replace("\\", "")


def at(test: AppTest, name: str) -> str:
    """What the address says of it."""
    said = test.query_params.get(name, "")
    return said if isinstance(said, str) else said[0]


def test_an_empty_store_says_what_to_do() -> None:
    test, _ = shown({"/graph": {}})
    assert "There are no tools here yet" in words(test)


def test_from_afar_a_set_and_the_most_walked_tool_lead_on() -> None:
    test, _ = shown()
    assert not test.exception
    assert "120 tools · 2 of 40 tool sets" in words(test)
    next(one for one in test.button if one.key == f"busy-{HERE}").click().run()
    assert not test.exception
    assert at(test, "tool") == HERE
    assert "2 tools beside it · 5 further ones are left out · 25% of requests ended with it" in words(test)


def test_filters_of_the_address_are_asked_for_and_kept_in_it() -> None:
    test, asked = shown(tool=HERE, depth="2", by="feeds", least="0.3", effect="reads", most="no number")
    (around,) = [one for one in asked if one.url.path.endswith("/around")]
    assert dict(around.url.params) == {"depth": "2", "limit": "16", "walks": "false", "least": "0.3", "effect": "reads"}
    test.selectbox(key="graph-most").set_value("40").run()
    test.selectbox(key="graph-by").set_value("walks").run()
    assert (at(test, "most"), at(test, "by")) == ("40", "walks")


def test_an_edge_is_told_with_why_it_comes_before_a_heavier_one() -> None:
    test, _ = shown(tool=HERE, edge=f"{HERE},{NEXT}")
    assert not test.exception
    said = words(test)
    assert (
        "Called one after the other 4 times in what was imported and 1 times here, of which 0.9 still counts." in said
    )
    assert "1 of 2 ways out of Harbour / find_ship: weight 0.20 × availability 0.90 = 0.18." in said
    assert "Docks / dock , of weighs more (0.60 against 0.20) and comes behind it, because its calls succeed with 0.10 against 0.90." in said  # fmt: skip


def test_with_a_request_the_fit_decides_too() -> None:
    fitting = EDGE | {"fit": 0.1, "others": [OTHER | {"weight": 0.1, "availability": 0.9, "score": 0.09, "fit": 0.9}]}
    said = " ".join(reckoned(GraphEdge.model_validate(fitting)))
    assert "× fit 0.10 = 0.02" in said
    assert "weighs less (0.10 against 0.20) and comes before it" in said
    assert "it fits the request with 0.90 against 0.10" in said


def test_one_goes_on_and_back_by_what_stands_in_the_address() -> None:
    alone = PICTURE | {"centre": NEXT, "tools": [{"id": NEXT, "api": "sink_ship"}], "walks": [], "feeds": []}
    more = {f"/tools/{NEXT}/about": ABOUT | {"id": NEXT}, f"/tools/{NEXT}/around": alone}
    test, _ = shown(more, tool=HERE, node=NEXT, depth="2")
    next(one for one in test.button if one.key == "centre-on").click().run()
    assert (at(test, "tool"), at(test, "past"), at(test, "depth")) == (NEXT, HERE, "2")
    assert "Nothing is beside it" in words(test)
    next(one for one in test.button if one.key == "graph-back").click().run()
    assert (at(test, "tool"), at(test, "past")) == (HERE, "")


def test_ways_to_another_tool_and_none() -> None:
    way = {"score": 0.18, "steps": [{"source": HERE, "target": NEXT, "walk": WALK, "feed": FEED | {"target": NEXT}}]}
    test, _ = shown({f"/tools/{HERE}/paths": {"paths": [way], "left_out": 2}}, tool=HERE, to=NEXT)
    assert "2 less sure ways are left out" in words(test)
    next(one for one in test.button if one.key == "way-0-0").click().run()
    assert at(test, "edge") == f"{HERE},{NEXT}"
    test, _ = shown({f"/tools/{HERE}/paths": {"paths": []}}, tool=HERE, to=NEXT)
    assert "No way of at most three edges is known." in words(test)


def test_a_tool_that_is_hidden_or_gone_is_said() -> None:
    test, _ = shown(tool="no/such/tool")
    assert "nothing is at it" in words(test)


def test_what_strangers_wrote_stays_text() -> None:
    for places in ({}, {"set": "Custom/Harbour"}, {"tool": HERE}, {"tool": HERE, "edge": f"{HERE},{NEXT}"}):
        test, _ = shown({"/tools": {"tools": [ABOUT | {"api": HOSTILE}], "total": 1}}, **places)
        assert not test.exception
        assert not any(
            re.search(r"(?<!\\)<img", one.value) or "**loud**" in one.value for one in (*test.markdown, *test.subheader)
        )
        assert not any("**loud**" in one.label for one in test.button)


SAID = {"tool": HERE, "kind": "entity", "mark": "set", "place": "name", "entity": "ship", "reason": "It is one.", "by": "boss", "at": "2026-11-28T10:00:00Z"}  # fmt: skip


def corrected(answers: dict[str, Any], **places: str) -> tuple[AppTest, Served]:
    """The page as an administrator has it."""
    known = {f"GET /tools/{HERE}/around": PICTURE, f"GET /tools/{HERE}/about": ABOUT, f"GET /tools/{HERE}/edge": EDGE}
    served = Served({**known, f"PUT /tools/{HERE}/marks": {}, f"PUT /tools/{NEXT}/marks": {}, **answers}, "admin")
    test = AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client, "places": {"tool": HERE, **places}})  # fmt: skip
    return test.run(), served


def press(test: AppTest, label: str) -> None:
    next(one for one in test.button if one.label == label).click().run()


def test_an_entity_is_corrected_with_a_reason_and_taken_back() -> None:
    places = {"places": [{"place": "name"}, {"place": "ships[].id", "field": True, "entity": "harbour"}]}
    test, served = corrected({f"GET /tools/{HERE}/marks": {"history": [SAID]}, f"GET /tools/{HERE}/entities": places})
    press(test, "Correct it")
    assert "Say what it is of" in words(test)
    test.selectbox(key=f"entity-place-{HERE}").set_value("ships[].id")
    test.text_input(key="entity-said").set_value("ship")
    press(test, "Correct it")
    assert ("Say why, in a few words." in words(test), served.asked) == (True, [])
    test.selectbox(key=f"entity-place-{HERE}").set_value("ships[].id")
    test.text_input(key="entity-said").set_value("ship")
    test.text_input(key="correct-tool-why").set_value("Its list is of ships.")
    press(test, "Correct it")
    sent = {"kind": "entity", "mark": "set", "reason": "Its list is of ships.", "target": "", "place": "ships[].id", "entity": "ship"}  # fmt: skip
    assert served.asked == [(f"PUT /tools/{HERE}/marks", sent)]
    assert "boss: set · name is of: ship · It is one." in words(test)
    test.text_input(key="back-why-entity-0").set_value("It is none.")
    press(test, "Take it back")
    back = {"kind": "entity", "mark": "clear", "reason": "It is none.", "target": "", "place": "name"}
    assert served.asked[-1] == (f"PUT /tools/{HERE}/marks", back)


def test_a_feed_is_forbidden_at_the_tool_that_it_leads_into() -> None:
    fed = EDGE | {"couplings": [{"field": "ships[].name", "parameter": "name", "score": 0.9, "because": "names"}]}
    test, served = corrected({f"GET /tools/{HERE}/edge": fed, f"GET /tools/{HERE}/marks-to": []}, edge=f"{HERE},{NEXT}")
    test.selectbox(key="correct-edge").set_value("forbid").run()
    test.text_input(key="correct-edge-why").set_value("Another name.")
    press(test, "Correct it")
    sent = {"kind": "feed", "mark": "forbid", "reason": "Another name.", "target": HERE, "field": "ships[].name", "place": "name"}  # fmt: skip
    assert served.asked == [(f"PUT /tools/{NEXT}/marks", sent)]
    test.selectbox(key="correct-edge").set_value("ban").run()
    test.text_input(key="correct-edge-why").set_value("It sinks.")
    press(test, "Correct it")
    assert served.asked[-1] == (f"PUT /tools/{HERE}/marks", {"kind": "edge", "mark": "ban", "reason": "It sinks.", "target": NEXT})  # fmt: skip


def test_only_administrators_correct() -> None:
    test, _ = shown(tool=HERE)
    assert "Correct it" not in [one.label for one in test.expander]
