"""Every operation by everyone: the routes of the application times nobody, user, other user, author and administrator."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from fastapi.routing import iter_route_contexts

from server.app import create_app
from tests.server.document import api_document
from tests.server.matrix import ALSO, EXPECTED, Access
from tests.server.world import World, copied, serving

WHO = ("nobody", "user", "other", "author", "admin")


def operations() -> list[tuple[str, str]]:
    """(method, path) of all that the application serves, whether its document tells of it or not."""
    found = {
        (method, route.path_format or "")
        for route in iter_route_contexts(create_app().routes)
        for method in route.methods or {"ANY"}
    }
    return sorted(found - {("GET", "/openapi.json"), ("HEAD", "/openapi.json")})


OPERATIONS = operations()
KNOWN = [key for key in OPERATIONS if key in EXPECTED]


def test_every_operation_has_its_line() -> None:
    found = set(OPERATIONS)
    assert found - EXPECTED.keys() == set(), "who may do this? Say so in tests/server/matrix.py"
    assert EXPECTED.keys() - found == set(), "these are gone: take them out of tests/server/matrix.py"


def test_the_document_tells_of_every_operation() -> None:
    paths = api_document()["paths"]
    assert [(method.upper(), path) for path in sorted(paths) for method in sorted(paths[path], key=str.upper)] == [
        (method, path) for method, path in sorted(OPERATIONS, key=lambda key: (key[1], key[0]))
    ]


@dataclass(frozen=True)
class Cell:
    """One operation by one of them."""

    method: str
    path: str
    access: Access
    who: str

    @property
    def changes(self) -> bool:
        return self.method != "GET" and self.access.of(self.who) < 400

    def __str__(self) -> str:
        return f"{self.method}-{self.path}-{self.access.things.__name__}-{self.who}"


CELLS = [
    Cell(method, path, access, who)
    for method, path, access in (*((*key, EXPECTED[key]) for key in KNOWN), *ALSO)
    for who in WHO
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def standing(home: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """One server for all that changes nothing: what is read, and what is refused. It has no limits that they would share."""
    home = copied(home, tmp_path_factory.mktemp("standing") / "home")
    async with serving(home, user_runs=1000, user_requests_per_minute=0, author_sources=10_000) as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sessions(standing: World) -> dict[str, dict[str, str]]:
    """The headers of a session of each, which nothing of what changes nothing ends."""
    return {who: await standing.headers_of(who) for who in WHO}


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("cell", [cell for cell in CELLS if not cell.changes], ids=str)
async def test_who_may_read_and_who_is_refused(
    standing: World, sessions: dict[str, dict[str, str]], cell: Cell
) -> None:
    await _is_as_expected(standing, cell, sessions[cell.who])


@pytest.mark.parametrize("cell", [cell for cell in CELLS if cell.changes], ids=str)
async def test_who_may_change(world: World, cell: Cell) -> None:
    await _is_as_expected(world, cell, await world.headers_of(cell.who))


async def _is_as_expected(world: World, cell: Cell, headers: dict[str, str]) -> None:
    place = cell.path.format(**await cell.access.things(world))
    answer = await world.client.request(cell.method, place, json=cell.access.body, headers=headers)
    assert answer.status_code == cell.access.of(cell.who), answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("method", "path"), [key for key in KNOWN if EXPECTED[key].nobody == 401], ids=" ".join)
@pytest.mark.parametrize("token", ["Bearer nonsense", "Bearer ", "Basic dXNlcjpwdw==", "refresh"])
async def test_what_is_no_access_token_opens_nothing(standing: World, method: str, path: str, token: str) -> None:
    access = EXPECTED[method, path]
    if token == "refresh":
        pair = await standing.services.storage.tokens.open(standing.people["admin"].id)
        token = f"Bearer {pair.refresh_token}"
    place = path.format(**await access.things(standing))
    answer = await standing.client.request(method, place, json=access.body, headers={"Authorization": token})
    assert answer.status_code == 401, answer.text
