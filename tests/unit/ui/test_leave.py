"""Leave on the page: what was said of tools and hosts, and that it is taken back or given."""

from typing import Any

from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.library import Tool

TOOL = "Work/To%20do/create%20task"
LISTED = {
    "tool": TOOL,
    "method": "POST",
    "address": HOSTILE,
    "origins": ["said", "field"],
    "created_at": "2026-11-23T12:00:00Z",
    "holds": False,
}
CROSSED = {"source": "a.example", "target": "b.example:8000", "allowed": False, "decided_at": "2026-11-23T12:00:00Z"}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.leave import permissions

    permissions(client)


def part(client: "Client", found: "Tool") -> None:
    from ui.screens.leave import leave_for

    leave_for(client, found)


def shown(draw: Any, answers: dict[str, Any], **kwargs: Any) -> tuple[AppTest, Served]:
    served = Served(answers, "user")
    return AppTest.from_function(draw, default_timeout=30, kwargs={"client": served.client} | kwargs).run(), served


def read(test: AppTest) -> str:
    return "\n".join(one.value for one in (*test.markdown, *test.caption, *test.warning, *test.info))


def press(test: AppTest, label: str) -> None:
    next(one for one in test.button if one.label == label).click().run()


def test_where_nothing_was_said_everything_asks() -> None:
    test, _ = shown(page, {"GET /me/allowed-tools": [], "GET /me/host-transfers": []})
    assert "None: each call that may change something asks you." in read(test)
    assert "You have not been asked yet." in read(test)


def test_what_was_said_is_told_and_taken_back() -> None:
    answers = {"GET /me/allowed-tools": [LISTED], "GET /me/host-transfers": [CROSSED]}
    taken: dict[str, Any] = {
        f"DELETE /me/allowed-tools/{TOOL}": {},
        "DELETE /me/host-transfers/a.example/b.example:8000": {},
    }
    test, served = shown(page, answers | taken)
    told = read(test)
    assert "for what you say, whole fields of an answer" in told
    assert "it asks you again" in told
    assert "**a\\.example** never go to **b\\.example\\:8000**" in told
    assert not any("**loud**" in one.value or "](http" in one.value for one in test.caption)
    press(test, "Have it ask again")
    press(test, "Ask me again")
    assert [path for path, _ in served.asked] == [*taken]


def test_leave_is_given_on_the_page_of_a_tool() -> None:
    changing = Tool(id=TOOL, effect="changes")  # pyright: ignore[reportArgumentType]  # an id
    given = f"PUT /me/allowed-tools/{TOOL}"
    test, served = shown(part, {"GET /me/allowed-tools": [], given: {}}, found=changing)
    press(test, "Let it change things without asking me")
    assert served.asked == [(given, None)]
    test, _ = shown(part, {"GET /me/allowed-tools": [LISTED | {"holds": True}]}, found=changing)
    assert [one.label for one in test.button][1:] == ["Have it ask again"]
    test, _ = shown(part, {}, found=changing.model_copy(update={"effect": "reads"}))
    assert "asks nobody" in read(test)
