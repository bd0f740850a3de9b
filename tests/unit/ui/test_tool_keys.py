"""Keys on the page: which are kept and which are wanted, kept as values or by OAuth 2, and never shown."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client

KEPT = {
    "name": "harbour",
    "hosts": ["api.example"],
    "updated_at": "2026-11-23T12:00:00Z",
    "grant": "client_credentials",
    "lapsed": HOSTILE,
}
FOUND = {
    "authorize_url": "https://log.example/in", "token_url": "https://log.example/token", "registration_url": "https://log.example/register",
    "scopes": ["read"], "resource": "https://api.example", "issuer": "https://log.example", "issuer_told": True, "told": ["It wants PKCE."],
}  # fmt: skip


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.keys import own_keys

    own_keys(client)


def shown(**more: Any) -> tuple[AppTest, Served]:
    answers: dict[str, Any] = {
        "GET /openapi.json": {"paths": {"/api/v1/me/needed-keys": {}}},
        "GET /me/tool-keys": [],
        "GET /me/needed-keys": [],
        "PUT /me/tool-keys/harbour": KEPT,
        "DELETE /me/tool-keys/harbour": {},
        "POST /me/oauth-discovery": FOUND,
    }
    served = Served(answers | more)
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), served


def press(test: AppTest, label: str) -> None:
    (button,) = [one for one in test.button if one.label == label]
    button.click().run()


def read(test: AppTest) -> str:
    parts = [*test.markdown, *test.caption, *test.warning, *test.error, *test.info]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")


def test_a_wanted_key_is_told_and_kept_for_its_hosts() -> None:
    wanted = {"name": "harbour", "hosts": ["http://127.0.0.1:9"], "tools": ["a/b/find_ship"]}
    test, served = shown(**{"GET /me/needed-keys": [wanted]})
    assert "harbour** is wanted by tools at http://127.0.0.1:9: find_ship." in read(test)
    press(test, "Keep it")
    assert "Still needed: its value." in read(test)
    test.text_input(key="key-value-own").set_value("s3cret")
    press(test, "Keep it")
    assert served.asked == [("PUT /me/tool-keys/harbour", {"value": "s3cret", "hosts": ["http://127.0.0.1:9"]})]
    assert "s3cret" not in read(test)


def test_a_key_of_a_source_is_kept_there_and_not_among_ones_own() -> None:
    wanted = {
        "name": "harbour",
        "hosts": ["h"],
        "tools": ["a/b/find_ship"],
        "source_id": "s1",
        "lapsed": "it was withdrawn",
    }
    test, _ = shown(**{"GET /me/needed-keys": [wanted]})
    assert "It is kept with their source, which is yours. it was withdrawn" in read(test)
    assert "To its source" in [one.label for one in test.button]
    assert test.text_input(key="key-name-own-").value == ""


def test_keys_can_be_kept_where_the_server_cannot_say_which_are_wanted() -> None:
    test, _ = shown(
        **{"GET /me/needed-keys": httpx.Response(503, json={"code": "unavailable", "detail": "there is no store"})}
    )
    assert "there is no store" in read(test)
    assert "Keep it" in [one.label for one in test.button]


def test_a_key_that_is_kept_is_told_with_why_it_lapsed_and_forgotten() -> None:
    test, served = shown(**{"GET /me/tool-keys": [KEPT]})
    told = read(test)
    assert "renewed by OAuth 2" in told
    assert "<img src=x onerror=alert(1)>" in told
    assert not any("**loud**" in one.value or "](http" in one.value for one in test.warning)
    press(test, "Forget harbour")
    assert served.asked == [("DELETE /me/tool-keys/harbour", None)]


def test_the_server_is_asked_where_to_log_in_and_only_a_web_address_is_opened() -> None:
    begun = {"authorize": "javascript:alert(1)"}
    test, served = shown(**{"POST /me/tool-keys/harbour/oauth": begun})
    test.radio(key="how-own-").set_value("OAuth 2").run()
    test.text_input(key="discover-own").set_value("https://api.example")
    press(test, "Ask it")
    assert "It wants PKCE." in read(test)
    test.text_input(key="oauth-name-own-").set_value("harbour")
    test.text_area(key="oauth-hosts-own").set_value("api.example")
    press(test, "Go on")
    assert "is no web address" in read(test)
    begun["authorize"] = "https://log.example/in?state=1"
    press(test, "Go on")
    assert "Log in there and agree; then come back." in read(test)
    assert served.asked[-1] == (
        "POST /me/tool-keys/harbour/oauth",
        {
            "grant": "authorization_code", "client_id": "", "hosts": ["api.example"],
            **{name: value for name, value in FOUND.items() if name != "told"},
        },
    )  # fmt: skip


def test_where_a_document_names_the_way_to_log_in_its_addresses_stand_there() -> None:
    """A person's own consent goes before a client's; what the document says is told to be the document's."""
    place = {"token_url": "https://log.example/token", "scopes": ["read"]}
    by_client = {"grant": "client_credentials", "token_url": "https://log.example/other"}
    flows = [by_client, place | {"grant": "authorization_code", "authorize_url": "https://log.example/in"}]
    begun = {"authorize": "https://log.example/in?state=1"}
    wanted = [{"name": "harbour", "hosts": ["api.example"], "flows": flows}]
    test, served = shown(**{"GET /me/needed-keys": wanted, "POST /me/tool-keys/harbour/oauth": begun})
    assert "Its document names these addresses" in read(test)
    press(test, "Go on")
    ((path, sent),) = served.asked
    assert path == "POST /me/tool-keys/harbour/oauth"
    assert isinstance(sent, dict)
    told = {name: sent[name] for name in ("grant", "authorize_url", "token_url", "scopes", "hosts")}
    assert told == flows[1] | {"hosts": ["api.example"]}
