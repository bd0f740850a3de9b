"""Sources on the page: what is listed, added, checked, admitted, corrected; by whom; and that strangers' texts stay texts."""

from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import DOCUMENT, HOSTILE, SOURCE, Served, tool
from ui.client import Client
from ui.gate_view import gate_html
from ui.source_words import CHECKS, admissible, counts_told, names_told, past_told
from ui.sources import Counts, Past, SourceTool

TOOL = "Custom/Harbour/find_ship"
FAILED: JsonObject = {
    "check": "probe",
    "verdict": "failed",
    "told": "The call answered 404.",
    "advice": "Give other values.",
}
PASSED: JsonObject = {"check": "document", "verdict": "passed", "told": "It says what it does."}


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.sources import sources

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    sources(client)


def shown(answers: dict[str, Any], role: str = "author", **places: str) -> tuple[AppTest, Served]:
    """The page at a place, and the server that it asks."""
    served = Served(answers, role)
    test = AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client, "places": places})
    return test.run(), served


def source_page(
    *tools: JsonObject, role: str = "author", keys: list[JsonObject] | None = None, **changed: Any
) -> tuple[AppTest, Served]:
    """A source that has these tools."""
    answers = {"GET /sources/s1": SOURCE | changed, "GET /sources/s1/tools": list(tools)}
    for what in ("check", "admit", "quarantine", "undo", "refresh", "changes/seen"):
        answers[f"POST /sources/s1/{what}"] = SOURCE if what in ("check", "refresh", "changes/seen") else []
    answers[f"PATCH /sources/s1/tools/{TOOL}"] = tool()
    answers |= {"GET /sources/s1/keys": [], "GET /me/tool-keys": keys or []}
    answers["PUT /sources/s1/keys/harbour"] = {"name": "harbour", "hosts": ["h"]}
    return shown(answers, role, source="s1")


def press(test: AppTest, label: str) -> AppTest:
    """The button that says so."""
    (button,) = [one for one in test.button if one.label == label]
    return button.click().run()


def texts(test: AppTest) -> str:
    """All that is read on the page."""
    parts = [*test.markdown, *test.caption, *test.text, *test.error, *test.warning, *test.info, *test.title]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")


def test_a_user_is_told_who_adds_apis_and_whom_to_ask() -> None:
    test, served = shown({"GET /me": {"id": "u", "name": "ada", "role": "user"}}, role="user")
    assert "under *Accounts*, where you are called ada." in texts(test).replace("**", "")
    assert not served.asked


def test_who_was_made_an_author_meanwhile_need_not_log_in_again() -> None:
    me = {"id": "u", "name": "ada", "role": "user"}
    test, _ = shown({"GET /me": me, "GET /sources": []}, role="user")
    me["role"] = "author"
    press(test, "Look again")
    assert "Nothing was added yet." in texts(test)


def test_nothing_was_added_yet() -> None:
    test, _ = shown({"GET /sources": []})
    assert "Nothing was added yet." in texts(test)


def test_a_server_that_does_not_let_one_says_why() -> None:
    refused = httpx.Response(403, json={"code": "forbidden", "detail": "this needs the role author"})
    test, _ = shown({"GET /sources": refused})
    assert "this needs the role author" in texts(test)


def test_the_list_tells_states_trouble_and_changes() -> None:
    change = {"tool": TOOL, "kind": "schema", "told": "name is gone", "breaks": True}
    one = SOURCE | {"counts": {"admitted": 2, "quarantined": 1}, "trouble": "404", "changes": [change], "author": "bob"}
    test, _ = shown({"GET /sources": [one]})
    told = texts(test)
    assert "2 admitted, 1 kept out" in told
    assert "of bob" in told
    assert "It could not be read last: 404" in told
    assert "1 change that nobody has looked at." in told


def test_an_api_is_added_by_its_address() -> None:
    test, served = shown({"POST /sources": SOURCE, "GET /sources": []}, add="1")
    press(test, "Add it")
    assert "Still needed: it has no name; the address of its document." in texts(test)
    assert not served.asked
    test.text_input(key="add-name").set_value("Harbour")
    test.text_input(key="add-address").set_value("http://127.0.0.1:9/openapi.json")
    test.radio(key="add-visible").set_value("roles").run()
    test.multiselect(key="add-roles").set_value(["author"])
    press(test, "Add it")
    assert served.asked == [
        (
            "POST /sources",
            {
                "name": "Harbour", "kind": "openapi", "address": "http://127.0.0.1:9/openapi.json", "category": "Custom", "watch_minutes": 0,
                "visibility": "roles", "roles": ["author"], "users": [], "keys_of": "caller",
            },
        )
    ]  # fmt: skip


def test_what_the_server_says_against_a_document_is_told_and_nothing_is_lost() -> None:
    bad = httpx.Response(400, json={"code": "bad", "detail": "line 3: expected a mapping"})
    test, _ = shown({"POST /sources": bad}, add="1")
    test.radio(key="add-way").set_value("document").run()
    test.text_input(key="add-name").set_value("Harbour")
    test.text_area(key="add-text").set_value("openapi: [")
    press(test, "Add it")
    assert "line 3: expected a mapping" in texts(test)
    assert test.text_area(key="add-text").value == "openapi: ["


def test_calls_are_described_by_hand_with_parameters_as_rows() -> None:
    test, served = shown({"POST /sources": SOURCE}, add="1")
    test.radio(key="add-way").set_value("form").run()
    test.text_input(key="add-name").set_value("Harbour")
    press(test, "Add another call")
    press(test, "Add a parameter to call 1")
    fields = {one.label: one for one in test.text_input}
    fields["Name of call 1"].set_value("find_ship")
    fields["Address of call 1"].set_value("https://h.example/ships/{imo}")
    fields["Parameter 1 of call 1"].set_value("imo")
    fields["Example 1 of call 1"].set_value("9074729")
    fields["Name of its key, call 1"].set_value("harbour")
    {one.label: one for one in test.text_area}["What call 1 answers, and for which requests"].set_value("A ship.")
    kinds = {one.label: one for one in test.selectbox}
    kinds["Type 1 of call 1"].set_value("integer")
    press(test, "Add it")
    told = texts(test)
    assert "find_ship has {imo} in its address and no path parameter imo" in told
    assert "tool 2 has no name" in told
    {one.label: one for one in test.selectbox}["Sent in 1 of call 1"].set_value("path")
    press(test, "Remove call 2")
    press(test, "Add it")
    ((_, sent),) = served.asked
    assert isinstance(sent, dict)
    assert sent["tools"] == [
        {
            "name": "find_ship", "method": "GET", "url": "https://h.example/ships/{imo}", "description": "A ship.", "side_effect": "",
            "parameters": [{"name": "imo", "type": "integer", "location": "path", "required": True, "description": "", "example": 9074729}],
            "credentials": [{"secret": "harbour", "place": "header", "name": "Authorization", "prefix": ""}],
        }
    ]  # fmt: skip


def test_a_source_that_is_not_there_is_said_so() -> None:
    gone = httpx.Response(404, json={"code": "not_found", "detail": "there is no such source"})
    test, _ = shown({"GET /sources/s1": gone}, source="s1")
    assert "there is no such source" in texts(test)


def test_what_was_left_out_of_a_document_is_told_above_its_tools() -> None:
    note = "GET /ships is imported without its response: #/no leads nowhere; add what it refers to, or correct it"
    test, _ = source_page(tool(), notes=[note, f"{HOSTILE} is not imported: not an object"])
    assert "to have it whole, correct the document and read it again under *Changes*" in texts(test)
    assert note in texts(test)
    assert next(one.label for one in test.expander) == "2 things left out or mended"


def test_a_failed_check_says_what_to_do_and_keeps_from_admitting() -> None:
    test, served = source_page(tool(state="tested", findings=[FAILED, PASSED]))
    told = texts(test)
    assert told.index("Document passed") < told.index("Live call failed")
    assert "What to do: Give other values." in told
    assert "It cannot be admitted while a check fails." in told
    assert [one.disabled for one in test.button if one.label == "Admit what passed"] == [True]
    assert not served.asked


@pytest.mark.parametrize(("kind", "place"), [("openapi", "*Keys* above"), ("form", "*Calls* above")])
def test_what_to_do_names_its_place_on_the_page_once(kind: str, place: str) -> None:
    """A call that was not let in is no fault of its values or its wording."""
    fails = [FAILED | {"check": check, "evidence": {"seen": 1}} for check in ("auth", "probe", "quality", "probe")]
    open_one = DOCUMENT | ({"credentials": []} if kind == "form" else {})
    test, _ = source_page(tool(state="tested", document=open_one, findings=fails), kind=kind)
    assert not test.exception
    told = "\n".join(one.value for one in test.error)
    assert (told.count("What to do"), told.count(" → "), f" → {place}" in told) == (4, 1, True)


def test_a_tool_that_is_kept_out_says_what_comes_next() -> None:
    test, _ = source_page(tool(state="quarantined", reason="flag is new", findings=[PASSED]))
    assert "It is kept out: flag is new. Where its document has changed, check it again" in texts(test)


def test_a_key_that_is_missing_is_told_before_the_gate_is_asked() -> None:
    assert "Its calls send a key that you have not kept: harbour." in texts(source_page(tool())[0])
    assert "have not kept" not in texts(source_page(tool(), keys=[{"name": "harbour", "hosts": ["h"]}])[0])


def test_what_passed_is_admitted_at_once() -> None:
    other = DOCUMENT | {"id": "Custom/Harbour/b"}
    second = tool(tool="Custom/Harbour/b", document=other, state="tested", findings=[FAILED])
    test, served = source_page(tool(state="tested", findings=[PASSED], called=True), second)
    press(test, "Admit 1 tool that passed")
    assert served.asked == [("POST /sources/s1/admit", {"tools": [TOOL]})]


def test_what_was_not_called_is_shown_so_and_admitted_by_a_choice_of_its_own() -> None:
    uncalled = tool(tool="Custom/Harbour/c", document=DOCUMENT | {"api": "c"}, state="tested", findings=[PASSED])
    test, served = source_page(tool(state="tested", findings=[PASSED], called=True), uncalled)
    assert "Nobody has seen these work: c." in texts(test)
    assert "1 tool was not called" in [one.label for one in test.expander]
    assert "c (GET, checked, not called)" in next(one for one in test.selectbox if one.label == "Tool").options
    press(test, "Admit 1 tool that passed")
    press(test, "Admit 1 tool without a call")
    assert served.asked == [("POST /sources/s1/admit", {"tools": [one]}) for one in (TOOL, "Custom/Harbour/c")]
    assert source_page(uncalled)[0].button(key="admit-all").disabled


def test_an_administrator_admits_in_spite_of_a_check_only_with_a_reason() -> None:
    test, served = source_page(tool(state="tested", findings=[FAILED | {"check": "quality"}]), role="admin")
    press(test, "Admit it now")
    assert "Say why" in texts(test)
    test.text_input(key=f"despite-{TOOL}").set_value("its wording is that of the trade")
    press(test, "Admit it now")
    assert served.asked == [
        ("POST /sources/s1/admit", {"tools": [TOOL], "despite": "its wording is that of the trade"})
    ]


def test_a_tool_is_kept_out_only_with_a_reason() -> None:
    test, served = source_page(tool(state="admitted"))
    press(test, "Keep it out now")
    assert not served.asked
    test.text_input(key=f"why-{TOOL}").set_value("it answers slowly")
    press(test, "Keep it out now")
    assert served.asked == [("POST /sources/s1/quarantine", {"tools": [TOOL], "reason": "it answers slowly"})]


def test_a_check_takes_values_and_requests_and_asks_before_a_change() -> None:
    changing = DOCUMENT | {
        "method": "POST",
        "parameters": [{"name": "stay", "type": "object", "required": True, "location": "body"}],
    }
    test, served = source_page(tool(document=changing, original=changing))
    test.text_input(key=f"try-{TOOL}-0-stay").set_value('{"nights": 2}')
    test.text_area(key=f"requests-{TOOL}").set_value("Book a berth\n\n  Where can the Aurora lie?  ")
    test.checkbox(key=f"may-{TOOL}").set_value(True)
    press(test, "Check it")
    assert "Say with which account" in texts(test)
    test.text_input(key=f"account-{TOOL}").set_value("the trial account")
    press(test, "Check it")
    assert served.asked == [
        (
            "POST /sources/s1/check",
            {
                "tools": [TOOL], "allow_changes": True, "account_note": "the trial account", "arguments": {TOOL: {"stay": {"nights": 2}}},
                "requests": {TOOL: ["Book a berth", "Where can the Aurora lie?"]},
            },
        )
    ]  # fmt: skip


def test_corrections_are_what_differs_from_the_document() -> None:
    test, served = source_page(
        tool(corrections={"description": None, "side_effect": None, "examples": {"name": "Aurora"}, "entities": {}})
    )
    test.text_input(key=f"entity-{TOOL}-0-name").set_value("ship")
    test.text_area(key=f"fields-{TOOL}-0").set_value("berth.id = berth")
    press(test, "Keep these corrections")
    assert served.asked == [
        (
            f"PATCH /sources/s1/tools/{TOOL}",
            {"description": None, "side_effect": None, "examples": {"name": "Aurora"}, "entities": {"name": "ship", "berth.id": "berth"}, "reason": ""},
        )
    ]  # fmt: skip


def test_what_a_stranger_wrote_is_text() -> None:
    bad: dict[str, Any] = DOCUMENT | {
        "description": HOSTILE,
        "function": HOSTILE,
        "api": HOSTILE,
        "parameters": [{"name": HOSTILE, "description": HOSTILE}],
    }
    finding: dict[str, Any] = FAILED | {"told": HOSTILE, "advice": HOSTILE, "evidence": {"said": HOSTILE}}
    hostile = tool(function=HOSTILE, document=bad, original=bad, reason=HOSTILE, findings=[finding], state="tested")
    test, _ = source_page(hostile, name=HOSTILE, trouble=HOSTILE)
    assert not test.exception
    raw = [
        one.value
        for one in (*test.markdown, *test.caption, *test.error, *test.warning, *test.title)
        if "loud" in one.value
    ]
    assert len(raw) >= 4
    for one in raw:
        assert "**loud**" not in one
        assert "<img" not in one.replace("\\<", "")
        assert "](http" not in one
        assert "\u202e" not in one
    drawn = gate_html([SourceTool.model_validate(hostile)])
    assert "<img" not in drawn
    assert "\\u202e" in drawn


def test_each_check_has_its_column_in_the_gates_order() -> None:
    drawn = gate_html([SourceTool.model_validate(tool(findings=[FAILED, PASSED]))])
    assert drawn.count('scope="col"') == len(CHECKS) + 3
    assert drawn.index("Document: passed") < drawn.index("Live call: failed")


def test_what_is_admissible_was_checked_and_stopped_by_nothing() -> None:
    states = [
        tool(state="tested"),
        tool(state="tested", findings=[FAILED]),
        tool(state="draft"),
        tool(state="tested", gone=True),
    ]
    found = [SourceTool.model_validate(one) for one in states]
    assert (len(admissible(found, called=False)), admissible(found)) == (1, [])


@pytest.mark.parametrize(
    ("numbers", "told"), [({}, "no tools"), ({"draft": 1, "admitted": 1200}, "1 not checked, 1,200 admitted")]
)
def test_counts_are_told(numbers: dict[str, int], told: str) -> None:
    assert counts_told(Counts(**numbers)) == told


def test_a_step_of_the_history_is_told() -> None:
    one = Past.model_validate(
        {"at": "2026-11-23T12:00:00Z", "what": "admitted", "tools": ["a/b/c"], "reason": "tried", "undone": True}
    )
    assert past_told(one) == "23 Nov 2026 12:00 UTC  the server admitted: c (tried) (undone since)"
    assert names_told([f"a/b/{number}" for number in range(9)]) == "0, 1, 2, 3, 4, 5 and 3 more"


def test_calls_that_were_written_by_hand_are_changed_in_their_fields() -> None:
    """What has no field, as a second key, and choices with commas in them, stay as they are."""
    second = {"secret": "tide", "place": "query", "name": "t", "prefix": ""}
    flag = {"name": "flag", "enum": ["NL, BE", "DE"], "example": "DE", "location": "cookie"}
    ship: dict[str, Any] = DOCUMENT | {"method": "HEAD", "side_effect": "reads", "example_response": '{"imo": 7}'}
    ship |= {"credentials": [*ship["credentials"], second], "parameters": [*ship["parameters"], flag]}
    berth = DOCUMENT | {"id": "Custom/Harbour/b", "api": "b", "parameters": [], "credentials": []}
    gone = tool(tool="Custom/Harbour/c", original=DOCUMENT | {"api": "c"}, gone=True)
    tools = [tool(original=ship), tool(tool="Custom/Harbour/b", original=berth), gone]
    test, served = source_page(*tools, kind="form", address="")
    test.segmented_control(key="part-s1").set_value("Calls").run()
    press(test, "Add a parameter to call 1")
    fields = {one.label: one for one in test.text_input}
    assert fields["Choices 2 of call 1"].value == '["NL, BE", "DE"]'
    fields["Parameter 3 of call 1"].set_value("imo")
    press(test, "Remove call 2")
    press(test, "Keep these calls")
    ((path, sent),) = served.asked
    assert path == "POST /sources/s1/refresh"
    same = {"type": "string", "description": ""}
    assert sent == {
        "tools": [
            {
                "name": "find_ship", "method": "HEAD", "url": "http://127.0.0.1:9/ships", "description": "Find a ship by its name.",
                "side_effect": "reads", "example_response": '{"imo": 7}',
                "credentials": [{"secret": "harbour", "place": "header", "name": "X-Harbour-Key", "prefix": ""}, second],
                "parameters": [
                    same | {"name": "name", "location": "query", "required": True},
                    same | {"name": "flag", "location": "cookie", "required": False, "example": "DE", "enum": ["NL, BE", "DE"]},
                    same | {"name": "imo", "location": "query", "required": False},
                ],
            }
        ]
    }  # fmt: skip


def test_calls_are_as_they_were_again() -> None:
    test, served = source_page(tool(), kind="form", address="")
    test.segmented_control(key="part-s1").set_value("Calls").run()
    {one.label: one for one in test.text_input}["Name of call 1"].set_value("other").run()
    press(test, "As they were")
    assert {one.label: one.value for one in test.text_input}["Name of call 1"] == "find_ship"
    assert not served.asked


def test_what_is_not_written_by_hand_has_no_calls_to_change() -> None:
    test, _ = source_page(tool())
    assert [one.content for one in test.segmented_control(key="part-s1").proto.options][:2] == ["Tools", "Changes"]
