"""Model services on the page: how they stand, the form that is tried before it is kept, what each is asked for."""

from typing import Any

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.screens import model_form
from ui.screens.views import VIEWS

WORKS: JsonObject = {
    "works": True, "seconds": 0.42, "streams": True, "first_seconds": 0.1, "counts_tokens": True, "program_form": "code",
    "forms": {"json_schema": True, "json_object": True}, "programs": {"code": {"right": 5, "samples": 5}},
    "decisions": {"choose": {"valid": True, "right": False, "prompt_tokens": 1912, "completion_tokens": 38, "seconds": 0.6}},
    "run_tokens": 6300, "decision_cost": 0.0002, "run_cost": 0.0012,
}  # fmt: skip
FAILS: JsonObject = {"works": False, "failure": "key", "error": f"the endpoint wants another key {HOSTILE}"}
LARGE: JsonObject = {
    "id": "m1", "kind": "chat", "name": HOSTILE, "provider": "ollama", "address": "http://127.0.0.1:11434/v1", "own_network": True,
    "model": "large-1", "has_key": True, "parameters": {"temperature": 0.5}, "online": True, "tested": WORKS, "version": 3,
    "tested_at": "2026-11-28T00:00:00Z", "purposes": ["default"],
}  # fmt: skip
BROKEN = LARGE | {"id": "m2", "name": "broken", "online": False, "tested": FAILS, "purposes": [], "has_key": False}
PRESETS = [
    {"provider": "openai", "name": "OpenAI", "address": "https://api.openai.com/v1", "needs_key": True},
    {"provider": "ollama", "name": "Ollama", "address": "http://localhost:11434/v1", "own_network": True},
]
PURPOSES = [
    {"purpose": "default", "service_id": "m1", "used": HOSTILE},
    {"purpose": "programs", "service_id": None, "used": HOSTILE},
]


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.models import all_models

    for name, value in places.items():
        if f"came-by-{name}" not in st.session_state:
            st.session_state[f"came-by-{name}"] = st.query_params[name] = value
    all_models(client)


def shown(answers: dict[str, Any], **places: str) -> tuple[AppTest, Served]:
    there = {"services": [LARGE, BROKEN], "purposes": PURPOSES, "settings": None, "presets": PRESETS}
    served = Served({"GET /models": there, **answers}, "admin")
    test = AppTest.from_function(page, default_timeout=60, kwargs={"client": served.client, "places": places}).run()
    assert not test.exception
    return test, served


def read(test: AppTest) -> str:
    parts: list[Any] = [
        *test.subheader,
        *test.markdown,
        *test.caption,
        *test.text,
        *test.error,
        *test.warning,
        *test.info,
    ]
    parts += [*test.success, *test.title]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")


def press(test: AppTest, label: str) -> None:
    next(one for one in test.button if one.label == label).click().run()
    assert not test.exception


@pytest.mark.parametrize(("role", "sees"), [("author", False), ("admin", True)])
def test_administrators_alone_are_offered_it(role: str, sees: bool) -> None:
    served = Served({"GET /openapi.json": {"paths": {"/api/v1/models": {}}}}, role)
    assert VIEWS["models"].offered(served.client) is sees


def test_each_is_told_with_its_last_test_and_what_it_is_chosen_for() -> None:
    test, served = shown({"PUT /models/purposes/programs": {}, "PUT /models/m2/online": BROKEN})
    text = read(test)
    for words in (
        "0.42 s an answer · programs in Python · 0.0002 a decision",
        "the endpoint wants another key",
        "Chosen for: Whatever no other is chosen for",
        "It works.",
    ):
        assert words in text, words
    marked = "\n".join(one.value for one in [*test.markdown, *test.caption, *test.warning, *test.subheader])
    assert "<img" not in marked.replace("\\<", "")
    test.selectbox[1].select("m1").run()
    next(one for one in test.button if one.key == "line-m2").click().run()
    assert served.asked == [
        ("PUT /models/purposes/programs", {"service_id": "m1"}),
        ("PUT /models/m2/online", {"online": True}),
    ]


def test_without_any_it_says_what_to_do() -> None:
    test, _ = shown({"GET /models": {"presets": PRESETS}})
    assert "rules decide" in read(test)


def test_a_new_one_is_tried_and_kept() -> None:
    test, served = shown({"POST /models/test": WORKS, "POST /models": LARGE}, model="new")
    assert [one.value for one in test.text_input][:1] == ["https://api.openai.com/v1"]
    test.selectbox[0].select("ollama").run()
    assert (test.text_input[0].value, test.checkbox[0].value) == ("http://localhost:11434/v1", True)
    press(test, "Test")
    assert "It needs an address and a model." in read(test)
    assert served.asked == []
    for field, text in ((1, "large-1"), (2, "Large"), (3, "sk-1")):
        test.text_input[field].input(text)
    press(test, "Test")
    assert "It works." in read(test)
    assert "It needs" not in read(test)
    assert not next(one for one in test.button if one.label == "Test").disabled
    press(test, "Save")
    (tried, sent), (kept, body) = served.asked
    assert (tried, kept) == ("POST /models/test", "POST /models")
    assert isinstance(sent, dict)
    assert isinstance(body, dict)
    assert {**sent, "service_id": None} == {**body, "service_id": None}
    found = [
        body[name] for name in ("kind", "name", "address", "own_network", "model", "key", "online", "price_prompt")
    ]
    assert found == ["chat", "Large", "http://localhost:11434/v1", True, "large-1", "sk-1", True, None]


def test_a_kept_key_stays_unless_another_is_given() -> None:
    test, served = shown({"PUT /models/m1": LARGE}, model="m1")
    press(test, "Save")
    ((_, body),) = served.asked
    assert isinstance(body, dict)
    assert (body["key"], body["version"]) == (None, 3)
    assert isinstance(body["parameters"], dict)
    assert body["parameters"]["temperature"] == 0.5


def test_one_that_fails_stays_on_the_form_with_what_is_wrong() -> None:
    def refused(_: Any) -> Any:
        return httpx.Response(409, json={"code": "conflict", "detail": "the test failed, so it cannot be on line"})

    test, _ = shown({"PUT /models/m1": refused, "POST /models/test": FAILS}, model="m1")
    press(test, "Save")
    assert "it cannot be on line" in read(test)
    press(test, "Test")
    assert "It cannot be used: the endpoint wants another key" in read(test)


def test_one_without_a_name_has_that_of_its_model_and_what_was_saved_is_told_above_the_list() -> None:
    test, served = shown({"POST /models": LARGE}, model="new")
    test.text_input[1].input("large-1")
    press(test, "Save")
    ((_, body),) = served.asked
    assert isinstance(body, dict)
    assert body["name"] == "large-1"
    assert [one.value for one in test.title] == ["Models"]
    assert [one.value for one in test.success][:1] == ["Saved."]
    assert [one.value for one in test.run().success][:1] != ["Saved."]


def test_buttons_wait_and_time_is_told_while_a_test_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[Any]()
    plain = model_form.st.form_submit_button

    def button(label: str, **named: Any) -> bool:
        told.append((label, named["disabled"]))
        return plain(label, **named)

    def tried(_: Any) -> JsonObject:
        told.append("asked")
        return WORKS

    monkeypatch.setattr(model_form.st, "form_submit_button", button)
    test, _ = shown({"POST /models/test": tried}, model="new")
    test.text_input[1].input("large-1")
    told.clear()
    press(test, "Test")
    assert told == [("Test", True), ("Save", True), "asked", ("Test", False), ("Save", False)]
