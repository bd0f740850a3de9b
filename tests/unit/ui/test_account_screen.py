"""One's own account on the page: sessions, the password, the language, the end of it."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.own_account import browser_named

LONG_AGO, LATELY = "2026-11-01T08:00:00Z", "2026-11-27T09:30:00Z"
SESSIONS = [
    {"id": "elsewhere", "label": HOSTILE, "created_at": LONG_AGO, "renewed_at": LATELY},
    {"id": "here", "label": "Footpath page, Firefox on Linux", "created_at": LATELY, "current": True},
    {
        "id": "job",
        "label": "the nightly job",
        "created_at": LONG_AGO,
        "renewed_at": LONG_AGO,
        "expires_at": "2027-02-01T08:00:00Z",
        "program": True,
    },
]
DOCUMENT: JsonObject = {"paths": {"/api/v1/me/sessions": {}, "/api/v1/me/usage": {}, "/api/v1/me/tokens": {}}}
USED: JsonObject = {"runs": {"used": 12, "most": 2000}, "tokens": {"used": 48_210, "most": None}}


def page(client: "Client", part: str) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.language import begin
    from ui.screens.account import account

    begin()
    account(client, part)


def shown(part: str, **answers: Any) -> tuple[AppTest, Served]:
    served = Served(
        {"GET /me/usage": USED, "GET /openapi.json": DOCUMENT, "GET /me/sessions": SESSIONS, **answers}, "user"
    )
    served.client.account.user.language = None
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client, "part": part}).run(), served


def press(test: AppTest, label: str) -> None:
    next(one for one in test.button if one.label == label).click().run()


def read(test: AppTest) -> str:
    return "\n".join(one.value for one in test.caption).replace("\\", "")


def fill(test: AppTest, **values: str) -> None:
    for label, value in values.items():
        next(one for one in test.text_input if one.label == label.replace("_", " ")).set_value(value)


def test_sessions_are_told_and_ended() -> None:
    test, served = shown("sessions", **{"DELETE /me/sessions": {}, "DELETE /me/sessions/elsewhere": {}})
    first, second, third = (one.value for one in test.markdown)
    assert "this one" in first
    assert "last used 27 Nov 2026 09\\:30 UTC" in second
    assert second.startswith("**\\<img")
    assert "a program" in third
    assert "last used" not in third
    press(test, "End it")
    press(test, "End all others")
    assert [key for key, _ in served.asked] == ["DELETE /me/sessions/elsewhere", "DELETE /me/sessions"]


def test_a_token_is_made_shown_listed_and_ended() -> None:
    made = {"token": "fpa_secret", "expires_at": LATELY}
    test, served = shown("tokens", **{"POST /me/tokens": made, "DELETE /me/sessions/job": {}})
    (listed,) = (one.value for one in test.markdown)
    assert "the nightly job" in listed
    assert "until 1 Feb 2027" in listed
    press(test, "Make a token")
    assert [one.value for one in test.error] == ["Say what it is for, so that you know it again."]
    fill(test, What_it_is_for="my editor")
    press(test, "Make a token")
    assert [one.value for one in test.code] == ["fpa_secret", "Authorization: Bearer fpa_secret"]
    assert "my editor" in test.success[0].value
    press(test, "End it")
    assert served.asked == [
        ("POST /me/tokens", {"label": "my editor", "days": 30, "scopes": ["ask", "read"]}),
        ("DELETE /me/sessions/job", None),
    ]


def test_a_password_is_changed_and_a_wrong_one_logs_nobody_out() -> None:
    refusal = httpx.Response(401, json={"code": "wrong_password", "detail": "this is not your password"})
    answers = iter([refusal, httpx.Response(204)])

    def answer(_: object) -> httpx.Response:
        return next(answers)

    test, served = shown("you", **{"POST /me/password": answer})
    fill(test, Password_until_now="plum orchard 1", New_password="plum orchard 2", Once_more="plum orchard 3")
    press(test, "Change it")
    assert [one.value for one in test.error] == ["The two differ; type the same twice."]
    fill(test, Once_more="plum orchard 2")
    press(test, "Change it")
    assert "this is not your password" in test.error[0].value
    press(test, "Change it")
    assert "all your other sessions have ended" in test.success[0].value
    sent = ("POST /me/password", {"old": "plum orchard 1", "new": "plum orchard 2"})
    assert served.asked == [sent, sent]


def test_a_language_is_kept_for_the_user_and_speaks_at_once() -> None:
    def answer(sent: JsonObject) -> JsonObject:
        return {"id": "u", "name": "ada", "role": "user"} | sent

    test, served = shown("you", **{"PATCH /me": answer})
    assert "12 of 2,000 runs, 48,210 tokens" in read(test)
    test.radio(key="language-en").set_value("zh").run()
    assert served.asked == [("PATCH /me", {"language": "zh"})]
    assert test.session_state["language"] == "zh"
    assert test.title[0].value == "我的账户"
    test.radio(key="language-zh").set_value("").run()
    assert served.asked[1:] == [("PATCH /me", {"language": None})]
    assert test.title[0].value == "Account"


def test_the_last_administrator_is_told_why_the_account_stays() -> None:
    refusal = httpx.Response(
        409, json={"code": "conflict", "detail": "this is the last administrator; make another one first"}
    )
    test, _ = shown("you", **{"DELETE /me": refusal})
    fill(test, Your_password="plum orchard 1")
    press(test, "Delete it for good")
    assert "make another one first" in test.error[0].value


def test_browsers_are_named_in_words() -> None:
    firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0 Safari/537.36 Edg/126.0"
    phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1"
    assert [browser_named(one) for one in (firefox, edge, phone, "curl/8")] == [
        "Firefox on Linux", "Edge on Windows", "Safari on iPhone", "",
    ]  # fmt: skip
