"""APIs that an author adds, in a real browser: read, gated, admitted, and used by somebody else with the next question."""

import json
import re
from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.authors import BERTH, HOSTILE, LAMPS, LIES, LONGEST
from tests.browser.everything import Up
from tests.browser.harbour import KEY, Harbour, harbour_in_thread
from tests.browser.visits import (
    PATIENCE,
    asks,
    chooses,
    converses,
    drawn,
    ended,
    fills,
    goes,
    logs_in,
    presses,
    registers,
    unfolds,
    visit,
)
from tests.support.everything_mcp_server import everything
from tests.support.fake_authorization_server import FakeAuthorizationServer, application
from tests.support.loopback import address_of, free_socket, serving

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)


@pytest.fixture
def harbour() -> Generator[Harbour]:
    """A port whose API nobody has added."""
    with harbour_in_thread() as running:
        yield running


def enters(page: Page, up: Up, name: str, role: str = "author") -> None:
    """Log in with a new account of that role."""
    logs_in(page, up.account(f"{name}{next(_NUMBERS)}", role))
    expect(page.get_by_placeholder("Ask something")).to_be_visible()


def part(page: Page, name: str) -> None:
    """Another part of a source's page."""
    drawn(page)
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    drawn(page)


def adds(page: Page, name: str, address: str) -> None:
    """An API by the address of its document, one key of which serves all; its page is seen afterwards."""
    goes(page, "Sources")
    presses(page, "Add an API")
    fills(page, "Name", name)
    fills(page, "Address of its OpenAPI or Swagger document", address)
    page.get_by_text("Those kept with the source, for all its users").click()
    presses(page, "Add it")
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def looks_at(page: Page, tool: str, place: str) -> None:
    """Choose a tool of the source; what is typed before it is drawn would be said of the one before. ``place``: the end of its address."""
    drawn(page)
    chooses(page, "Tool", re.compile(f"^{tool} "))
    expect(page.get_by_test_id("stText").get_by_text(re.compile(f"^[A-Z]+ http://.*{place}$"))).to_be_visible()
    drawn(page)


def keeps(page: Page, value: str) -> None:
    """A key under the name and for the hosts that stand there."""
    fills(page, "Its value", value)
    presses(page, "Keep it")
    expect(page.get_by_text(re.compile(r"· kept \d"))).to_be_visible()


def says(page: Page, tool: str, check: str, verdict: str | re.Pattern[str]) -> None:
    """Wait until the table says so of a tool's check."""
    row = page.locator(".fp-gate tbody tr", has=page.locator("th", has_text=re.compile(f"^{tool}$")))
    told = row.locator("td .fp-said", has_text=re.compile(f"^{check}: "))
    wanted = verdict if isinstance(verdict, re.Pattern) else f"{check}: {verdict}"
    expect(told).to_have_text(wanted)


def answers(page: Page, request: str, answer: str) -> None:
    """Ask the scripted model, and read that."""
    chooses(page, "Decided by", "A language model")
    asks(page, request)
    ended(page, "Answered")
    expect(page.get_by_text(answer)).to_be_visible()


def house_of_lamps(address: str) -> bytes:
    """The document of what is behind the authorization server: one operation, for which one has to log in."""
    flow = {"authorizationUrl": f"{address}/login", "tokenUrl": f"{address}/token", "scopes": {"things": "see them"}}
    called = {
        "operationId": "list_things",
        "summary": "Lists the things that are in the house of lamps.",
        "security": [{"oauth": ["things"]}],
        "responses": {"200": {"description": "them", "content": {"application/json": {"schema": {"type": "object"}}}}},
    }
    schemes = {"oauth": {"type": "oauth2", "flows": {"authorizationCode": flow}}}
    whole = {"openapi": "3.0.3", "info": {"title": "Lamps", "version": "1"}, "servers": [{"url": address}]}
    return json.dumps(
        whole | {"paths": {"/things": {"get": called}}, "components": {"securitySchemes": schemes}}
    ).encode()


def test_an_api_is_added_gated_and_used_by_another_user(
    browser_program: BrowserContext, up: Up, harbour: Harbour
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "berta")
        adds(page, "Harbour", f"{harbour.address}/openapi.json")
        expect(page.get_by_text("Its calls send a key that you have not kept")).to_be_visible()
        part(page, "Keys")
        keeps(page, KEY)
        part(page, "Tools")
        presses(page, "Check all 6 tools")
        says(page, "list_berths", "Live call", "passed")
        expect(page.get_by_text("The admission check is running")).to_have_count(0)
        says(page, "find_ship", "Live call", "not done")
        says(page, "cancel_booking", "Live call", "not done")
        says(page, "berth_occupancy", "Live call", "passed")
        looks_at(page, "find_ship", "/ships")
        page.get_by_text("Check it with values of your own").click()
        fills(page, "name (required)", "Aurora")
        presses(page, "Check it")
        says(page, "find_ship", "Live call", "passed")
        expect(page.get_by_text("The admission check is running")).to_have_count(0)
        presses(page, "Admit 3 tools that passed")
        expect(page.get_by_text("3 admitted").first).to_be_visible()
        unfolds(page, "3 tools were not called")
        presses(page, "Admit 3 tools without a call")
        expect(page.get_by_text("6 admitted").first).to_be_visible()
        assert (harbour.calls > 2, harbour.bookings, harbour.cancelled) == (True, {}, [])
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "carlo")
        chooses(page, "Decided by", "A language model")
        asks(page, BERTH)
        expect(page.get_by_text(re.compile(r"^Allow this\?"))).to_be_visible(timeout=3 * PATIENCE)
        assert harbour.bookings == {}
        presses(page, "Allow once")
        ended(page, "Answered")
        expect(page.get_by_text("The Aurora lies at berth 2, booking KB-0001.")).to_be_visible()
        assert [(one.imo, one.berth, one.stay.nights) for one in harbour.bookings.values()] == [(9074729, 2, 2)]


def test_changes_corrections_undo_and_who_may_see_it(browser_program: BrowserContext, up: Up, harbour: Harbour) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "doris")
        adds(page, "Pier", f"{harbour.address}/openapi.json")
        looks_at(page, "find_ship", "/ships")
        page.get_by_text("Correct what its document says").click()
        page.get_by_label("What it answers, and for which requests", exact=True).fill(HOSTILE)
        page.get_by_label("Example of name", exact=True).fill("Aurora")
        presses(page, "Keep these corrections")
        expect(page.get_by_test_id("stText").get_by_text("<img src=x onerror=alert(1)> **loud**")).to_be_visible()
        expect(page.locator("img[src='x'], a[href*='evil']")).to_have_count(0)
        part(page, "History")
        expect(page.get_by_text(re.compile("corrected: find_ship$")).last).to_be_visible()
        presses(page, "Undo the last step")
        expect(page.get_by_text(re.compile("corrected: find_ship \\(undone since\\)$")).last).to_be_visible()
        harbour.wants_flag = True
        part(page, "Changes")
        presses(page, "Read it again")
        expect(page.get_by_text(re.compile("since it was read before"))).to_be_visible()
        expect(page.get_by_text(re.compile("^Its values: .*flag"))).to_be_visible()
        presses(page, "I have looked at these")
        expect(page.get_by_text("Nothing has changed that was not looked at.")).to_be_visible()
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "edgar")
        goes(page, "Sources")
        expect(page.get_by_text("Nothing was added yet.")).to_be_visible()
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "fiona")
        goes(page, "Account")
        presses(page, "Keys")
        expect(page.get_by_text("No key is kept here.")).to_be_visible()
        goes(page, "Sources")
        expect(page.get_by_text("Ask an administrator of this server to make you an author")).to_be_visible()
        expect(page.get_by_role("button", name="Add an API")).to_have_count(0)


def test_an_mcp_server_is_added_and_used(browser_program: BrowserContext, up: Up) -> None:
    with serving(everything().streamable_http_app()) as address, visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "gerda")
        goes(page, "Sources")
        presses(page, "Add an API")
        page.get_by_text("An MCP server", exact=True).click()
        fills(page, "Name", "Harbour master")
        fills(page, "Address of the MCP server", f"{address}/mcp")
        presses(page, "Add it")
        expect(page.get_by_role("heading", name="Harbour master", exact=True)).to_be_visible()
        looks_at(page, "berth_of", "/mcp")
        page.get_by_text("Check it with values of your own").click()
        fills(page, "ship (required)", "Petrel")
        presses(page, "Check it")
        says(page, "berth_of", "Address", "passed")
        expect(page.get_by_text("The admission check is running")).to_have_count(0)
        presses(page, "Admit it")
        expect(page.get_by_text("1 admitted").first).to_be_visible()
        converses(page)
        chooses(page, "Decided by", "A language model")
        asks(page, LIES)
        expect(page.get_by_text(re.compile(r"^Allow this\?"))).to_be_visible(timeout=3 * PATIENCE)
        presses(page, "Allow once")
        ended(page, "Answered")
        expect(page.get_by_text("The Argonaut lies at berth 8.")).to_be_visible()


def test_calls_are_described_by_hand_changed_and_used(
    browser_program: BrowserContext, up: Up, harbour: Harbour
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "hanna")
        goes(page, "Sources")
        presses(page, "Add an API")
        page.get_by_text("None: I describe its calls").click()
        fills(page, "Name", "Pilots")
        fills(page, "Name of call 1", "pilot_berths")
        fills(page, "Address of call 1", f"{harbour.address}/berths")
        fills(
            page,
            "What call 1 answers, and for which requests",
            "Tells which berths the pilots know, with their length.",
        )
        unfolds(page, "Key and example answer of call 1")
        fills(page, "Name of its key, call 1", "pilots")
        fills(page, "Sent as, call 1", "X-Harbour-Key")
        page.get_by_text("Those kept with the source, for all its users").click()
        presses(page, "Add it")
        expect(page.get_by_role("heading", name="Pilots", exact=True)).to_be_visible()
        part(page, "Keys")
        keeps(page, KEY)
        part(page, "Calls")
        presses(page, "Add a parameter to call 1")
        fills(page, "Parameter 1 of call 1", "min_length_m")
        chooses(page, "Type 1 of call 1", "integer")
        presses(page, "Keep these calls")
        expect(page.get_by_text("1 change since it was read before")).to_be_visible()
        part(page, "Tools")
        presses(page, "Check its one tool")
        says(page, "pilot_berths", "Live call", "passed")
        presses(page, "Admit 1 tool that passed")
        expect(page.get_by_text("1 admitted").first).to_be_visible()
        converses(page)
        answers(page, LONGEST, "It has 180 metres.")


def test_a_document_is_uploaded_and_its_key_had_by_consent(browser_program: BrowserContext, up: Up) -> None:
    bound = free_socket()
    fake = FakeAuthorizationServer(address_of(bound))
    with serving(application(fake), bound), visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "ivo")
        goes(page, "Sources")
        presses(page, "Add an API")
        page.get_by_text("Its document, as a file or text").click()
        fills(page, "Name", "Lamps")
        page.locator("input[type=file]").set_input_files(
            {"name": "lamps.json", "mimeType": "application/json", "buffer": house_of_lamps(fake.url)}
        )
        expect(page.get_by_text("lamps.json")).to_be_visible()
        drawn(page)
        page.get_by_text("Those kept with the source, for all its users").click()
        presses(page, "Add it")
        expect(page.get_by_role("heading", name="Lamps", exact=True)).to_be_visible()
        part(page, "Keys")
        expect(page.get_by_text("Its document names these addresses")).to_be_visible()
        fills(page, "Address of the API or server, to ask it where to log in", f"{fake.url}/things")
        presses(page, "Ask it")
        told = page.get_by_label("Address to log in at").and_(page.locator(f'[value="{fake.url}/authorize"]'))
        expect(told).to_be_visible()  # While the page is drawn anew, the one of before stands beside it.
        presses(page, "Go on")
        with page.expect_popup() as opened:
            page.get_by_role("link", name="Log in there").click()
        expect(opened.value.get_by_text("The key lamps_oauth is kept.")).to_be_visible()
        presses(page, "I have agreed")
        expect(page.get_by_text("renewed by OAuth 2")).to_be_visible()
        part(page, "Tools")
        presses(page, "Check its one tool")
        says(page, "list_things", "Live call", re.compile("passed"))
        presses(page, "Admit 1 tool that passed")
        expect(page.get_by_text("1 admitted").first).to_be_visible()
        converses(page)
        answers(page, LAMPS, "There is a lamp.")
    assert fake.kinds() == ["authorization_code"]
    assert "code_verifier" in fake.asked[0]
