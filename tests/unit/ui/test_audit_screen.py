"""The audit log on the page: rows in words, what is looked for, older ones."""

from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.audit import Entry
from ui.client import Client
from ui.screens.views import VIEWS

ENTRY: dict[str, Any] = {
    "id": "e1", "at": "2026-11-23T12:00:00Z", "name": HOSTILE, "role": "admin", "via": "session", "operation": "change_user",
    "about": "Give a role", "said": {"user_id": "c", "account": "carlo", "role": "author", "cost": None}, "status": 200,
}  # fmt: skip
LOST = ENTRY | {"id": "e0", "name": "ada", "via": "token", "label": "nightly", "status": None}
REFUSED = ENTRY | {"id": "e2", "name": "boss", "status": 409}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.audit import audit_log

    audit_log(client)


def shown(answer: Any) -> tuple[AppTest, list[dict[str, str]]]:
    asked: list[dict[str, str]] = []
    served = Served({"GET /audit/operations": [{"operation": "change_user", "about": "Give a role"}]}, "admin")
    plain = served.client.send

    def send(method: str, path: str, **more: Any) -> httpx.Response:
        if path != "/audit":
            return plain(method, path, **more)
        asked.append(more["params"])
        return httpx.Response(200, json=answer)

    served.client.send = send
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), asked


def cells(test: AppTest) -> str:
    return "\n".join(str(one) for one in test.table[0].value.to_numpy().flatten())


@pytest.mark.parametrize(("role", "sees"), [("author", False), ("admin", True)])
def test_administrators_alone_are_offered_it(role: str, sees: bool) -> None:
    served = Served({"GET /openapi.json": {"paths": {"/api/v1/audit": {}}}}, role)
    assert VIEWS["audit"].offered(served.client) is sees


def test_each_change_is_told_in_words_and_strangers_names_are_no_markup() -> None:
    test, _ = shown({"entries": [REFUSED, ENTRY, LOST], "next": None})
    assert not test.exception
    text = cells(test).replace("\\", "")
    for words in (
        "refused (409)",
        "done",
        "nobody knows",
        "a program's token: nightly",
        "account: carlo, role: author",
    ):
        assert words in text
    assert "user_id" not in text
    assert "None" not in text
    assert "**loud**" not in cells(test)
    assert not [one for one in test.button if one.key == "audit-older"]


def test_what_is_looked_for_is_asked_of_the_server_and_begins_at_the_newest() -> None:
    test, asked = shown({"entries": [ENTRY], "next": "e1"})
    test.button(key="audit-older").click().run()
    assert asked[-1]["before"] == "e1"
    test.text_input(key="audit-name").set_value("bo").run()
    assert (asked[-1]["name"], asked[-1].get("before")) == ("bo", None)
    test.selectbox(key="audit-via").set_value("token").run()
    assert asked[-1]["via"] == "token"


def test_an_empty_log_says_so() -> None:
    test, _ = shown({"entries": []})
    assert [one.value for one in test.info] == ["Nothing was changed yet."]


@pytest.mark.parametrize(
    ("operation", "said", "what", "details"),
    [
        (
            "import",
            {"reason": "", "replace": False, "unchecked": True, "files": ["a", "b"]},
            "Did",
            "unchecked: yes, files: a, b",
        ),
        ("import", {"reason": "", "replace": False}, "Did", ""),
        (
            "limits",
            {"account": "carlo", "runs": 0, "visible_to": {}, "watch_minutes": 5},
            "Did",
            "account: carlo, runs: 0, watch minutes: 5",
        ),
        ("line", {"service": "Large", "online": False}, "Did", "service: Large, online: no"),
        ("change_user", {"account": "carlo", "disabled": True}, "Lock out", "account: carlo"),
        ("change_user", {"account": "carlo", "disabled": False}, "Let in again", "account: carlo"),
        (
            "change_user",
            {"account": "carlo", "role": "author", "disabled": None},
            "Give a role",
            "account: carlo, role: author",
        ),
    ],
)
def test_details_tell_what_was_chosen_and_no_more(
    operation: str, said: dict[str, Any], what: str, details: str
) -> None:
    entry = Entry.model_validate(ENTRY | {"operation": operation, "about": "Did", "said": said})
    assert (entry.what, entry.details) == (what, details)
