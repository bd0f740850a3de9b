"""Templates and solutions in one list: searched, chosen by kind and owner, opened, renamed and shared."""

from typing import Any

from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client
from ui.kept import chosen, kept_ones

USED: JsonObject = {"runs": 4, "answered": 3, "last_used_at": "2026-11-27T09:30:00Z"}
TEMPLATE: JsonObject = {"id": "t1", "name": HOSTILE, "description": "Inhabitants of a city", "version": 1, "use": USED}
OTHERS: JsonObject = {"id": "t2", "name": "Pay the rent", "own": False, "shared": True}
SOLUTION: JsonObject = {
    "id": "s1",
    "patterns": ["How warm is it in {city}?"],
    "path": ["Weather/Now/warmth"],
    "good": 2,
    "bad": 1,
}
ANOTHER: JsonObject = {"id": "s2", "patterns": ["Who wrote {book}?"], "path": ["Books/Shelf/author"], "own": False}
WHOLE: JsonObject = {**TEMPLATE, "name": "Inhabitants", "content": {"version": 1, "request": "How many?"}}
PATHS: JsonObject = {"paths": {"/api/v1/templates": {}, "/api/v1/solutions": {}}}
ANSWERS: JsonObject = {
    "GET /openapi.json": PATHS,
    "GET /templates": [TEMPLATE, OTHERS],
    "GET /solutions": [SOLUTION, ANOTHER],
    "GET /templates/t1": WHOLE,
}


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.kept import kept

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    kept(client, "")


def shown(answers: dict[str, Any], role: str = "author", **places: str) -> tuple[AppTest, Served]:
    served = Served(ANSWERS | answers, role)
    kwargs = {"client": served.client, "places": places}
    return AppTest.from_function(page, default_timeout=30, kwargs=kwargs).run(), served


def read(test: AppTest) -> str:
    parts: list[Any] = [*test.caption, *test.text, *test.info, *test.error, *test.title]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")


def test_all_are_listed_with_how_they_have_done() -> None:
    test, _ = shown({})
    said = read(test)
    assert "template · yours · served 3 of 4 times · last used 27 Nov 2026 09:30 UTC" in said
    assert "template · shared with you · not used yet" in said
    assert "solution · yours · served 2 of 3 times · calls Now / warmth" in said
    test.selectbox(key="kept-kind-").set_value("solution").run()
    test.selectbox(key="kept-whose-").set_value("others").run()
    assert "Books" not in read(test)
    assert [one.key for one in test.button] == ["kept-solution-s2"]


def test_what_says_the_words_comes_before_what_is_near() -> None:
    near = SOLUTION | {"likeness": 0.8}
    client = Served({**ANSWERS, "GET /solutions": [near]}).client
    assert [one.id for one in kept_ones(client, "city inhabitants")] == ["t1", "s1"]
    assert [one.id for one in chosen(kept_ones(client), whose="own")] == ["t1", "s1"]


def test_an_empty_list_says_how_something_gets_there() -> None:
    test, _ = shown({"GET /templates": [], "GET /solutions": []})
    assert "Below a run that was answered is *Save as template*" in read(test)


def test_a_template_is_renamed_and_shared_on_its_page() -> None:
    test, served = shown({"PATCH /templates/t1": {}}, template="t1")
    assert test.title[0].value == "Inhabitants"
    test.text_input(key="name-t1").set_value("Citizens").run()
    test.button(key="rename-t1").click().run()
    test.button(key="share-t1").click().run()
    sent = [body for key, body in served.asked if key == "PATCH /templates/t1"]
    assert sent == [{"name": "Citizens"}, {"shared": True}]


def test_what_is_gone_is_said_and_the_list_is_near() -> None:
    test, _ = shown({}, solution="nowhere")
    assert "It is not there any more" in read(test)
    assert test.button[0].label == "All templates and solutions"
