"""A document of too many operations, in a real browser: its tags are ticked, what is chosen is added, and chosen anew."""

import json

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.everything import Up
from tests.browser.looks import in_all_lights
from tests.browser.test_sources import enters, fills, part
from tests.browser.visits import drawn, goes, press, presses, unfolds, visit
from tests.support.small_api import document, operation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_TAGS = {"ships": 12, "berths": 40, "pilots": 300, "weather": 250}
_FILLER = "x" * 1_500_000


def port() -> bytes:
    """602 operations, in more bytes than a request has room for; every other one of ships is called by POST."""
    content = document("https://port.example", title="Port")
    for tag, count in _TAGS.items():
        for number in range(count):
            method = "post" if tag == "ships" and number % 2 else "get"
            called = operation(f"{tag}_{number}", tags=[tag], summary=f"Tells number {number} of the {tag}.")
            content["paths"][f"/{tag}/{number}"] = {method: called}
    return json.dumps(content | {"x-filler": _FILLER}).encode()


def test_operations_of_a_large_document_are_chosen(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "petra")
        goes(page, "Sources")
        presses(page, "Add an API")
        page.get_by_text("Its document, as a file or text").click()
        fills(page, "Name", "Port")
        page.locator("input[type=file]").set_input_files(
            {"name": "port.json", "mimeType": "application/json", "buffer": port()}
        )
        expect(page.get_by_text("port.json")).to_be_visible()
        drawn(page)
        presses(page, "Add it")
        expect(page.get_by_text("Its document lists 602 operations, and a source may have 500")).to_be_visible()
        expect(page.get_by_text("602 operations are chosen, and a source may have 500. Choose fewer.")).to_be_visible()
        press(page, page.get_by_role("button", name="ships (12)"))
        expect(page.get_by_text("12 operations are chosen of at most 500.")).to_be_visible()
        page.get_by_text("Of these, only what reads (GET)").click()
        expect(page.get_by_text("6 operations are chosen of at most 500.")).to_be_visible()
        fills(page, "By path: all that begin with", "/berths")
        expect(page.get_by_text("46 operations are chosen of at most 500.")).to_be_visible()
        unfolds(page, "What is chosen")
        in_all_lights(page, "operations-chosen")
        presses(page, "Add it")
        expect(page.get_by_role("heading", name="Port", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name="Check all 46 tools")).to_be_visible()
        part(page, "Operations")
        expect(page.get_by_text("tags: ships; paths: /berths; methods: GET, HEAD.")).to_be_visible()
        presses(page, "Choose its operations")
        page.get_by_role("combobox", name="One by one: type a part of a name, path or summary").click()
        page.keyboard.type("pilots_17 ")
        page.get_by_role("option", name="pilots_17 ·").click()
        expect(page.get_by_text("47 operations are chosen of at most 500.")).to_be_visible()
        page.keyboard.press("Escape")
        in_all_lights(page, "operations-anew")
        presses(page, "Take these operations")
        expect(page.get_by_text("single operations: pilots_17; methods: GET, HEAD.")).to_be_visible()
        part(page, "Tools")
        expect(page.get_by_role("button", name="Check all 47 tools")).to_be_visible()
