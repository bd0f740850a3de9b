"""What every view shows where the server refuses, breaks, or is gone: words that say what to do, and the side bar to go elsewhere."""

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from tests.support.source_tree import ROOT
from tests.unit.ui.served import Served
from ui import session
from ui.client import Client
from ui.screens.views import VIEWS

CONVERSATION = {
    "id": "c1",
    "title": "Ships",
    "created_at": "2026-11-28T10:00:00Z",
    "updated_at": "2026-11-28T10:00:00Z",
}
CHOICES = {"planners": [{"name": "program"}], "policies": [{"name": "offline"}]}
AROUND = {"/conversations": [CONVERSATION], "/choices": CHOICES, "/me": {"id": "u", "name": "ada", "role": "admin"}}
"""What the side bar asks for."""


def refuses(_: httpx.Request) -> httpx.Response:
    return httpx.Response(403, json={"code": "forbidden", "detail": "this is for administrators; ask one of them"})


def breaks(_: httpx.Request) -> httpx.Response:
    return httpx.Response(500, content=b"<html>oh no")


def is_gone(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused", request=request)


class Has:
    """Whatever operation a view needs, it is there."""

    def get(self, _: object) -> "Has":
        return self

    def __contains__(self, _: object) -> bool:
        return True


KINDS = {
    "no permission": (refuses, "this is for administrators; ask one of them"),
    "broken": (breaks, "the server answered 500 without saying why; try again later"),
    "gone": (is_gone, "does not answer; see whether it runs, then try again"),
}


def opened(view: str, client: Client, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setattr(client, "_paths", Has())
    monkeypatch.setattr(session, "visitor", lambda: client)
    page = AppTest.from_file(str(ROOT / "ui" / "app.py"), default_timeout=60)
    page.session_state.ticket = ""
    page.query_params.update({"view": view, "conversation": "c1"})
    page.run()
    assert not page.exception
    return page


@pytest.mark.parametrize("view", [name for name, one in VIEWS.items() if one.admins])
def test_a_view_of_administrators_says_so_to_others_and_asks_the_server_nothing(
    view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        if path not in AROUND:
            asked.append(path)
        return httpx.Response(200, json=AROUND.get(path, {}))

    page = opened(view, Served({}, role="user", answer=answer).client, monkeypatch)
    label = VIEWS[view].label
    assert [one.value for one in page.main.title] == [label]
    assert [one.value.startswith(f"{label} is for administrators only.") for one in page.main.info] == [True]
    assert not [*page.main.button, *page.main.text_input, *page.main.tabs, *page.error]
    assert not asked


@pytest.mark.parametrize(("view", "kind"), [(view, list(KINDS)[len(view) % 3]) for view in ("", *VIEWS)])
def test_a_view_says_what_is_wrong(view: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, said = KINDS[kind]

    def answer(request: httpx.Request) -> httpx.Response:
        known = AROUND.get(request.url.path.removeprefix("/api/v1"))
        return httpx.Response(200, json=known) if known is not None else answers(request)

    client = Served({}, role="admin", answer=answer).client
    page = opened(view, client, monkeypatch)
    assert [one.value for one in page.error if said in one.value], [one.value for one in page.error]
    assert "Try again" in [one.label for one in page.button]
    assert "New conversation" in [one.label for one in page.sidebar.button]
