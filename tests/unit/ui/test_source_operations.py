"""Operations of a large document, on the page: chosen before it is added, shown, and chosen anew."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from domain.model import JsonObject
from tests.unit.ui.served import HOSTILE, SOURCE, Served, tool
from tests.unit.ui.test_sources import press, shown, source_page, texts


def words(test: AppTest) -> str:
    """All that is read on the page, what went well included."""
    return "\n".join([texts(test), *(one.value for one in test.success)])


OUTLINE: JsonObject = {
    "title": "Port",
    "total": 4,
    "most": 2,
    "operations": [
        {"method": "GET", "path": "/ships", "name": "list_ships", "tags": ["ships"], "summary": "The *ships*"},
        {"method": "POST", "path": "/ships", "name": "add_ship", "tags": ["ships"]},
        {"method": "GET", "path": "/berths/{id}", "name": "", "tags": ["berths", HOSTILE]},
        {"method": "GET", "path": "/docks", "name": "list_docks", "tags": []},
    ],
    "tags": [{"tag": "ships", "count": 2}, {"tag": "berths", "count": 1}, {"tag": HOSTILE, "count": 1}, {"tag": "", "count": 1}],
}  # fmt: skip


def body(served: Served) -> JsonObject:
    """What was sent last."""
    sent = served.asked[-1][1]
    assert isinstance(sent, dict)
    return sent


def test_of_a_document_that_lists_too_much_some_operations_are_chosen_and_it_is_added() -> None:
    def answered(new: JsonObject) -> Any:
        if "operations" in new:
            return SOURCE
        return httpx.Response(422, json={"code": "too_many_operations", "detail": "holds 4 operations"})

    test, served = shown({"POST /sources": answered, "POST /sources/outline": OUTLINE, "GET /sources": []}, add="1")
    test.text_input(key="add-name").set_value("Port")
    test.text_input(key="add-address").set_value("http://127.0.0.1:9/port.json")
    press(test, "Add it")
    assert served.asked[1] == ("POST /sources/outline", {"address": "http://127.0.0.1:9/port.json"})
    assert "Its document lists 4 operations, and a source may have 2" in words(test)
    assert "4 operations are chosen, and a source may have 2. Choose fewer." in words(test)
    (tags,) = [one for one in test.get("button_group") if one.label == "By tag"]  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType, reportAttributeAccessIssue]
    tags.set_value(["ships"]).run()  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]
    assert "2 operations are chosen of at most 2." in words(test)
    {one.label: one for one in test.toggle}["Of these, only what reads (GET)"].set_value(True).run()
    {one.label: one for one in test.text_input}["By path: all that begin with"].set_value("/berths").run()
    press(test, "Add it")
    assert body(served)["operations"] == {
        "tags": ["ships"],
        "paths": ["/berths"],
        "methods": ["GET", "HEAD"],
        "names": [],
    }


def test_a_large_document_is_sent_by_itself() -> None:
    test, served = shown({"POST /sources": SOURCE, "POST /sources/documents": {"id": "d1", "bytes": 1}}, add="1")
    test.radio(key="add-way").set_value("document").run()
    test.text_input(key="add-name").set_value("Port")
    test.text_area(key="add-text").set_value("openapi: 3.0.0 #" + "x" * 600_000)
    press(test, "Add it")
    assert [one for one, _ in served.asked] == ["POST /sources/documents", "POST /sources"]
    assert body(served)["document_id"] == "d1"
    assert "document" not in body(served)


def test_what_a_source_takes_is_shown_and_changed() -> None:
    test, served = source_page(tool(), operations={"tags": ["ships"], "methods": ["GET", "HEAD"]})
    served.answers |= {"GET /sources/s1/outline": OUTLINE, "PUT /sources/s1/operations": SOURCE}
    test.segmented_control(key="part-s1").set_value("Operations").run()
    assert "Of its document are taken: tags: ships; methods: GET, HEAD." in words(test)
    press(test, "Choose its operations")
    assert "1 operation is chosen of at most 2." in words(test)
    {one.label: one for one in test.multiselect}["One by one: type a part of a name, path or summary"].set_value(
        ["list_docks"]
    ).run()
    press(test, "Take these operations")
    assert served.asked[-1] == (
        "PUT /sources/s1/operations",
        {"tags": ["ships"], "paths": [], "methods": ["GET", "HEAD"], "names": ["list_docks"]},
    )


def test_the_address_of_calls_is_a_setting() -> None:
    test, served = source_page(tool(), base_url="https://a.example")
    served.answers["PATCH /sources/s1"] = SOURCE
    test.segmented_control(key="part-s1").set_value("Settings").run()
    test.text_input(key="base-s1").set_value("https://b.example")
    press(test, "Keep these settings")
    assert body(served)["base_url"] == "https://b.example"
