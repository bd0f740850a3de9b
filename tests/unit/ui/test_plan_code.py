"""The plan as code in a visit: what the server does not keep stays, and looking changes nothing."""

import pytest
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.kept_plan import KeptPlan
from ui.screens.draft import Draft


def page(draft: "Draft") -> None:
    """The code of a plan; Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.plan_code import code

    st.session_state["plain-r"] = True
    code(draft)


def drawn(draft: Draft) -> AppTest:
    return AppTest.from_function(page, default_timeout=30, kwargs={"draft": draft}).run()


@pytest.mark.parametrize("status", [0, 409, 422, 503])
def test_what_is_typed_stays_where_it_is_not_kept(status: int) -> None:
    server = KeptPlan("a = 1")
    draft = server.draft()
    turn, server.refuses = draft.turn, status
    draft.write(text="a = 12")
    assert (draft.program.text, draft.plan.program.text, draft.turn) == ("a = 12", "a = 1", turn)
    assert draft.told.startswith("Not kept: ")
    draft.write(text="a = 123")
    assert (draft.program.text, draft.turn) == ("a = 123", turn)
    server.refuses = None
    draft.write(text="a = 1234")
    assert (server.program["text"], draft.pending, draft.told) == ("a = 1234", None, "")


def test_of_two_edits_one_is_taken_and_none_is_lost_unasked() -> None:
    server = KeptPlan("a = 1")
    first, second = server.draft(), server.draft()
    second.write(text="b = 2")
    first.write(text="c = 3")
    first.write(text="c = 34")
    assert (server.program["text"], first.program.text) == ("b = 2", "c = 34")
    first.insist()
    assert (server.program["text"], first.pending) == ("c = 34", None)
    second.write(text="b = 25")
    turn = second.turn
    second.take_kept()
    assert (second.program.text, second.pending, second.told, second.turn) == ("c = 34", None, "", turn + 1)


def test_what_cannot_be_read_takes_nothing_away() -> None:
    server = KeptPlan("a = 1")
    draft = server.draft()
    turn, server.refuses = draft.turn, 0
    draft.write(text="a = 12")
    draft.take_kept()
    assert (draft.program.text, draft.turn) == ("a = 12", turn)
    draft.insist()
    assert draft.program.text == "a = 12"


def test_what_is_typed_back_to_what_is_kept_is_no_longer_pending() -> None:
    server = KeptPlan("a = 1")
    draft = server.draft()
    server.refuses = 422
    draft.write(text="a = 12")
    draft.write(text="a = 1")
    assert (draft.pending, draft.told) == (None, "")


def test_a_text_that_is_not_kept_is_shown() -> None:
    server = KeptPlan("a = 1")
    draft = server.draft()
    server.refuses = 422
    shown = drawn(draft)
    shown.text_area[0].set_value("a = 12").run()
    assert shown.text_area[0].value == "a = 12"
    assert draft.pending is not None


INPUTS: dict[str, JsonObject] = {
    "x": {"type": "string"},
    "o": {},
    "n": {"type": "any"},
    "z": {"type": ["string", "null"]},
    "d": {"type": "integer", "default": 3},
}


def test_looking_at_a_plan_changes_nothing() -> None:
    values: JsonObject = {"x": "", "o": True, "n": "12", "z": None}
    server = KeptPlan("x", INPUTS, values)
    shown = drawn(server.draft())
    assert not shown.exception
    assert (server.written, server.version, server.program["values"]) == ([], 1, values)
    assert [one.value for one in shown.caption][:2] == ["x is an empty text.", "z is null."]


def test_a_field_changes_its_own_value_alone() -> None:
    values: JsonObject = {"x": "", "o": True, "n": "12", "z": None}
    server = KeptPlan("x", INPUTS, values)
    shown = drawn(server.draft())
    shown.text_input[4].set_value("5").run()
    assert server.program["values"] == values | {"d": 5}
    shown.text_input[4].set_value("").run()
    assert server.program["values"] == values
    assert len(server.written) == 2


def test_a_value_that_is_not_kept_is_sent_once_for_each_change() -> None:
    server = KeptPlan("x", {"x": {"type": "string"}}, {"x": "a"})
    shown = drawn(server.draft())
    server.refuses = 422
    shown.text_input[0].set_value("b").run()
    shown.run()
    assert not shown.exception
    assert len(server.written) == 1
    assert shown.text_input[0].value == "b"
