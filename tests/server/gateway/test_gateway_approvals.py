"""Changes are put to the person at the client; who cannot be asked is told what to do. Questions, too. A request that is taken back ends its run."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.mcp_clients import BERTHS, SHIPS, Says, call_taken_back, client, silent_api, store, text
from tests.support.small_api import SmallApi, small_api

BOOK = {"tool": "book_berth", "arguments": {"ship": "Argo"}}
BOOK_ALL = """
import asyncio
ships = (await list_ships())["ships"]
await asyncio.gather(*[book_berth(ship=one["name"]) for one in ships])
"booked"
"""
ASKS = """
which = await ask("Which ship?", choices=["Argo", "Zeemeeuw"])
berth = await berth_of(ship=which)
f"{which}: {berth['number']}"
"""


@pytest.fixture
async def api() -> AsyncIterator[SmallApi]:
    async with small_api(list_ships=SHIPS, berth_of=BERTHS, book_berth=BERTHS) as served:
        yield served


def booked(api: SmallApi) -> int:
    return sum(path == "/book_berth" for _, path in api.asked)


async def test_a_change_is_asked_about_with_its_values_and_made_once_allowed(tmp_path: Path, api: SmallApi) -> None:
    person = Says({"allow": True})
    async with store(tmp_path, api.url) as container, client(container, person) as session:
        answer = await session.call_tool("call_tool", BOOK)
    assert not answer.isError
    assert booked(api) == 1
    (asked,) = person.asked
    assert "May book_berth" in asked
    assert 'ship = "Argo"' in asked


@pytest.mark.parametrize("said", ["decline", "cancel", {"allow": False}, {}])
async def test_what_is_not_a_yes_makes_no_change(tmp_path: Path, api: SmallApi, said: dict[str, bool] | str) -> None:
    async with store(tmp_path, api.url) as container, client(container, Says(said)) as session:
        answer = await session.call_tool("call_tool", BOOK)
    assert answer.isError
    assert "did not allow it" in text(answer)
    assert booked(api) == 0


async def test_a_client_that_cannot_ask_is_told_what_to_do(tmp_path: Path, api: SmallApi) -> None:
    async with store(tmp_path, api.url) as container, client(container) as session:
        answer = await session.call_tool("call_tool", BOOK)
    assert answer.isError
    assert "--yes" in text(answer)
    assert booked(api) == 0


async def test_changes_may_be_allowed_beforehand(tmp_path: Path, api: SmallApi) -> None:
    async with store(tmp_path, api.url) as container, client(container, yes=True) as session:
        answer = await session.call_tool("call_tool", BOOK)
    assert not answer.isError
    assert booked(api) == 1


async def test_changes_that_wait_together_are_asked_about_once(tmp_path: Path, api: SmallApi) -> None:
    person = Says({"allow": True})
    async with store(tmp_path, api.url) as container, client(container, person) as session:
        answer = await session.call_tool("run_program", {"request": "Book for all", "program": BOOK_ALL})
    assert not answer.isError, text(answer)
    assert booked(api) == 2
    (asked,) = person.asked
    assert "Argo" in asked
    assert "Zeemeeuw" in asked


async def test_a_question_is_put_to_the_person(tmp_path: Path, api: SmallApi) -> None:
    person = Says({"answer": "2"})
    async with store(tmp_path, api.url) as container, client(container, person) as session:
        answer = await session.call_tool("run_program", {"request": "Where does it lie?", "program": ASKS})
    assert "Which ship?" in person.asked[0]
    assert "Zeemeeuw: 8" in text(answer)


async def test_a_request_that_is_taken_back_ends_its_run_and_no_other(tmp_path: Path) -> None:
    async with silent_api() as api, store(tmp_path, api.url) as container, client(container) as session:
        told = await call_taken_back(session, api)
        again = await session.call_tool("find_tools", {"request": "ships"})
    assert "cancelled" in told
    assert not again.isError
