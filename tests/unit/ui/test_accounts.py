"""Accounts on the page: roles, who is locked out, invitations."""

from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.screens.views import VIEWS

BOSS = {"id": "u", "name": "boss", "role": "admin", "created_at": "2026-11-23T12:00:00Z"}
CARLO = {"id": "c", "name": HOSTILE, "role": "user", "created_at": "2026-11-23T12:00:00Z"}
INVITED: dict[str, Any] = {"id": "i", "role": "author", "note": "for Ines", "expires_at": "2026-12-01T12:00:00Z"}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.accounts import all_accounts

    all_accounts(client)


def shown(**answers: Any) -> tuple[AppTest, Served]:
    usual: dict[str, Any] = {"GET /users": [BOSS, CARLO], "GET /invitations": [INVITED]}
    usual["GET /openapi.json"] = {"paths": {}}
    served = Served(usual | answers, "admin")
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), served


def press(test: AppTest, key: str) -> None:
    next(one for one in test.button if one.key == key).click().run()


@pytest.mark.parametrize(("role", "sees"), [("user", False), ("author", False), ("admin", True)])
def test_administrators_alone_are_offered_them(role: str, sees: bool) -> None:
    served = Served({"GET /openapi.json": {"paths": {"/api/v1/users": {}}}}, role)
    assert VIEWS["accounts"].offered(served.client) is sees


def test_a_user_is_made_an_author() -> None:
    test, served = shown(**{"PATCH /users/c": CARLO})
    assert not any("**loud**" in one.value for one in test.markdown)
    assert test.button(key="give-c").disabled
    test.selectbox(key="role-c-user").set_value("author").run()
    press(test, "give-c")
    assert served.asked == [("PATCH /users/c", {"role": "author"})]


def test_somebody_is_locked_out_and_let_in_again_but_not_oneself() -> None:
    out = CARLO | {"disabled_at": "2026-11-23T13:00:00Z"}
    for account, disabled in ((CARLO, True), (out, False)):
        test, served = shown(**{"GET /users": [BOSS, account], "PATCH /users/c": account})
        press(test, "lock-c")
        assert served.asked == [("PATCH /users/c", {"disabled": disabled})]
        assert test.button(key="lock-u").disabled
        assert any("also after letting in again" in one.value for one in test.markdown) is disabled


def test_all_sessions_of_somebody_are_ended_and_what_goes_with_them_is_said_before() -> None:
    there: dict[str, Any] = {"/api/v1/users/{user_id}/sessions": {"delete": {}}}
    test, served = shown(**{"GET /openapi.json": {"paths": there}, "DELETE /users/c/sessions": {}})
    assert any("tokens of programs do not count any more" in one.value for one in test.markdown)
    assert not [one for one in test.button if one.key == "sessions-u"]
    assert served.asked == []
    press(test, "sessions-c")
    assert served.asked == [("DELETE /users/c/sessions", None)]
    assert [one.value for one in test.success] == ["They have ended."]


def test_the_last_administrator_stays_one() -> None:
    last = httpx.Response(409, json={"code": "conflict", "detail": "this is the last administrator"})
    test, _ = shown(**{"PATCH /users/u": last})
    test.selectbox(key="role-u-admin").set_value("user").run()
    press(test, "give-u")
    assert "this is the last administrator" in test.error[0].value.replace("\\", "")


def test_somebody_is_searched_for_by_name() -> None:
    test, _ = shown(**{"GET /user-names": [{"id": "z", "name": "zoe", "role": "author"}]})
    test.text_input(key="accounts-prefix").set_value("zo").run()
    assert [one.key for one in test.selectbox if one.key] == ["role-z-author", "invite-role", "invite-days"]


def test_links_of_invitations_say_for_whom_and_are_shown_until_the_page_is_left() -> None:
    made = INVITED | {"secret": "fpi_once", "note": f"for {HOSTILE}"}
    another = INVITED | {"id": "j", "secret": "fpi_other", "note": ""}
    test, served = shown(**{"POST /invitations": made, "DELETE /invitations/i": {}})
    test.selectbox(key="invite-role").set_value("author")
    test.text_input(key="invite-note").set_value("for Ines")
    next(one for one in test.button if one.label == "Invite somebody").click().run()
    assert served.asked == [("POST /invitations", {"role": "author", "note": "for Ines", "days": 7})]
    served.answers |= {"POST /invitations": another, "GET /invitations": [INVITED | {"id": "j"}, INVITED]}
    next(one for one in test.button if one.label == "Invite somebody").click().run()
    assert [one.value.partition("?")[2] for one in test.code] == ["invitation=fpi_other", "invitation=fpi_once"]
    told = [one.value for one in test.success]
    assert "Whoever has this link" in told[0]
    assert "Made for for " in told[1]
    assert "**loud**" not in told[1]
    press(test, "withdraw-i")
    assert served.asked[-1] == ("DELETE /invitations/i", None)
    served.answers["GET /invitations"] = [INVITED | {"id": "j"}]
    assert len(test.run().code) == 1
    del test.session_state["kept-here"]
    assert not test.run().code


def test_a_link_for_a_new_password_is_made_and_shown_once() -> None:
    made = {"secret": "fpw_once", "expires_at": "2026-12-01T12:00:00Z"}
    test, served = shown(**{"POST /users/c/password-link": made})
    press(test, "password-c")
    assert served.asked == [("POST /users/c/password-link", None)]
    assert [one.value.partition("?")[2] for one in test.code] == ["reset=fpw_once"]
    assert "**loud**" not in test.success[0].value
    test.run()
    assert not test.code
