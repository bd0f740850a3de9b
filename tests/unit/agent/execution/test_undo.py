"""Whether a change can be taken back: by facts of documents, never by a guess."""

import pytest

from agent.execution.undo_candidates import NO_UNDO, UndoFinder, describe_undo
from domain.tool import Parameter, ToolDoc, make_tool_id


def tool(method: str, path: str, api: str = "", host: str = "a.example", body: bool = False) -> ToolDoc:
    api = api or f"{method} {path}"
    parameters = (Parameter(name="title", location="body"),) if body else ()
    return ToolDoc(
        id=make_tool_id("c", "t", f"{host}{api}"), category="c", toolset="t", api=api, function=api, method=method,
        url=f"https://{host}{path}", parameters=parameters,
    )  # fmt: skip


MAKE = tool("POST", "/v1/events", "createEvent")


@pytest.mark.parametrize(
    "ends",
    [
        tool("DELETE", "/v1/events/{event_id}", "deleteEvent"),
        tool("POST", "/v1/events/{id}/cancel", "cancelEvent"),
        tool("PUT", "/v1/events/{id}/state", "revokeEvent"),
        tool("DELETE", "/v1/events", "removeEvents"),
    ],
)
def test_what_ends_what_a_call_makes_takes_it_back(ends: ToolDoc) -> None:
    assert describe_undo(MAKE, [tool("GET", "/v1/events/{id}"), ends]).startswith("“")
    assert "can take it back" in describe_undo(MAKE, [ends])


@pytest.mark.parametrize(
    "other",
    [
        tool("DELETE", "/v1/rooms/{id}"),
        tool("DELETE", "/v1/events/{id}/guests"),
        tool("DELETE", "/v1/events/{id}", host="b.example"),
        tool("POST", "/v1/events/{id}/invite", "inviteGuest"),
        tool("DELETE", "/v1/events/all"),
        MAKE,
    ],
)
def test_nothing_else_does(other: ToolDoc) -> None:
    assert describe_undo(MAKE, [other]) == NO_UNDO


def test_what_is_deleted_is_not_made_anew_by_making_another() -> None:
    assert describe_undo(tool("DELETE", "/v1/events/{id}"), [MAKE]) == NO_UNDO


def test_what_is_kept_is_given_up_and_kept_again() -> None:
    keep, drop = tool("PUT", "/me/albums", "save"), tool("DELETE", "/me/albums", "remove")
    assert "“Remove”" in describe_undo(keep, [drop])
    assert "“Save”" in describe_undo(drop, [keep])


def test_what_sets_values_can_set_them_anew() -> None:
    assert "set anew" in describe_undo(tool("PATCH", "/events/{id}", body=True), [])
    assert describe_undo(tool("PUT", "/tasks/{id}/done"), []) == NO_UNDO


async def test_each_tool_is_looked_up_once_and_what_reads_not_at_all() -> None:
    class Siblings:
        asked = 0

        async def find_related(self, tool: ToolDoc) -> list[ToolDoc]:
            self.asked += 1
            return []

    undo = UndoFinder(near := Siblings())
    assert [await undo.describe(MAKE), await undo.describe(MAKE), await undo.describe(tool("GET", "/v1/events"))] == [
        NO_UNDO,
        NO_UNDO,
        "",
    ]
    assert near.asked == 1
