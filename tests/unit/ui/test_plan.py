"""The plan in a visit: what reaches it too late changes nothing."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from domain.plan import PlanDocument, PlannedStep
from domain.tool import make_tool_id
from ui.account import Account
from ui.client import Client
from ui.plan_edits import filled, moved, removed
from ui.replies import LoggedIn
from ui.screens.draft import Draft

A, B, C = (PlannedStep(tool=make_tool_id("c", "s", name), arguments={"n": 1}) for name in "abc")


class Server:
    """Keeps a plan, and counts how often it was changed."""

    def __init__(self) -> None:
        self.version, self.document = 0, PlanDocument(steps=(A, B, C))

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.method == "PUT":
            body = httpx.Response(200, content=request.content).json()
            self.document = PlanDocument.model_validate(body["document"])
            self.version += 1
        shown = {"version": self.version, "input": "q", "document": self.document.model_dump(mode="json")}
        return httpx.Response(200, json=shown)


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def draft(server: Server) -> Draft:
    http = httpx.Client(transport=httpx.MockTransport(server), base_url="http://server/api/v1")
    tokens = {"access_token": "a", "refresh_token": "r", "access_expires_at": datetime.now(UTC) + timedelta(hours=1)}
    logged_in = LoggedIn.model_validate(tokens | {"user": {"id": "u", "name": "ann"}})
    return Draft(Client(http, Account(http, logged_in)), "r")


def steps(draft: Draft) -> PlanDocument:
    document = draft.plan.document
    assert document is not None
    return document


def test_a_field_of_steps_that_are_gone_changes_nothing(server: Server, draft: Draft) -> None:
    turn, drawn = draft.turn, steps(draft)
    draft.put(turn, drawn, lambda old: removed(old, 2))
    draft.put(turn, drawn, lambda old: filled(old, 2, "n", 1))
    assert (server.version, draft.told) == (1, ""), "it has the value that it was drawn with: nobody touched it"
    draft.put(turn, drawn, lambda old: filled(old, 2, "n", 2))
    assert (server.version, server.document.steps) == (1, (A, C))
    assert "not done" in draft.told
    draft.put(draft.turn, steps(draft), lambda old: moved(old, 1, 1))
    assert (server.version, server.document.steps, draft.told) == (2, (C, A), "")


def test_two_fields_that_are_changed_at_once_are_both_kept(server: Server, draft: Draft) -> None:
    turn, drawn = draft.turn, steps(draft)
    draft.put(turn, drawn, lambda old: filled(old, 1, "n", 5), shape=False)
    draft.put(turn, drawn, lambda old: filled(old, 3, "n", 6), shape=False)
    draft.put(turn, drawn, lambda old: filled(old, 3, "n", 6), shape=False)
    assert [step.arguments["n"] for step in server.document.steps] == [5, 1, 6]
    assert server.version == 2
