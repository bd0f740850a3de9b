"""Links of administrators on the page where one comes in: an invitation, a new password."""

from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from ui import session


def page() -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.login import login

    login()


def opened(monkeypatch: pytest.MonkeyPatch, answers: dict[str, httpx.Response], **places: str) -> AppTest:
    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.url.path.removeprefix("/api/v1"), request.content.decode()))
        return answers[sent[-1][0]]

    sent: list[tuple[str, str]] = []
    http = httpx.Client(base_url="http://server/api/v1", transport=httpx.MockTransport(answer))
    monkeypatch.setattr(session, "connections", lambda: http)
    test = AppTest.from_function(page, default_timeout=30)
    for name, value in places.items():
        test.query_params[name] = value
    return test.run()


def rule(which: str) -> dict[str, Any]:
    return {"/auth/registration": httpx.Response(200, json={"registration": which})}


@pytest.mark.parametrize("which", ["invited", "open"])
def test_an_invitations_link_fills_it_in(monkeypatch: pytest.MonkeyPatch, which: str) -> None:
    test = opened(monkeypatch, rule(which), invitation="fpi_mine")
    (field,) = [one for one in test.text_input if one.label == "Invitation"]
    assert field.value == "fpi_mine"


def test_a_new_password_is_set_by_a_link_and_leads_to_the_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    test = opened(monkeypatch, rule("closed") | {"/auth/reset": httpx.Response(204)}, reset="fpw_mine")
    first, again = test.text_input
    first.set_value("a good long one")
    again.set_value("another")
    test.button[0].click().run()
    assert "differ" in test.error[0].value
    test.text_input[1].set_value("a good long one")
    test.button[0].click().run()
    assert "Log in with it" in test.warning[0].value
    assert [one.label for one in test.button] == ["Log in"]


def test_a_link_that_does_not_count_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    old = httpx.Response(403, json={"code": "registration", "detail": "this link is too old"})
    test = opened(monkeypatch, rule("closed") | {"/auth/reset": old}, reset="fpw_old")
    for one in test.text_input:
        one.set_value("a good long one")
    test.button[0].click().run()
    assert "this link is too old" in test.error[0].value


@pytest.mark.parametrize("places", [{"answer": "fps_secret"}, {"view": "shared", "answer": "fps_secret"}])
def test_a_link_to_an_answer_says_why_one_logs_in_and_stays(
    monkeypatch: pytest.MonkeyPatch, places: dict[str, str]
) -> None:
    test = opened(monkeypatch, rule("open"), **places)
    (told,) = test.info
    assert "shares an answer with you" in told.value
    assert "secret" not in told.value
    assert test.query_params["answer"] == "fps_secret"
    assert not opened(monkeypatch, rule("open")).info
