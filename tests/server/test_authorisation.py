"""Every operation by everyone: the routes of the application times nobody, user, other user, author and administrator."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts

from server.app import create_app
from server.dependencies import caller
from tests.server.document import api_document
from tests.support.rights_matrix import ALSO, EXPECTED, Access
from tests.support.server_world import World, copied, serving

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
    assert found - EXPECTED.keys() == set(), "who may do this? Say so in tests/support/rights_matrix.py"
    assert EXPECTED.keys() - found == set(), "these are gone: take them out of tests/support/rights_matrix.py"


def test_the_document_tells_of_every_operation() -> None:
    paths = api_document()["paths"]
    assert [(method.upper(), path) for path in sorted(paths) for method in sorted(paths[path], key=str.upper)] == [
        (method, path) for method, path in sorted(OPERATIONS, key=lambda key: (key[1], key[0]))
    ]


@dataclass(frozen=True)
class Line:
    """One operation, and what it answers to each of them."""

    method: str
    path: str
    access: Access

    def __str__(self) -> str:
        return f"{self.method}-{self.path}-{self.access.things.__name__}"

    def changes(self, who: str) -> bool:
        """Whether something is another afterwards."""
        return self.method != "GET" and self.access.of(who) < 400


LINES = [Line(method, path, access) for method, path, access in (*((*key, EXPECTED[key]) for key in KNOWN), *ALSO)]


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
@pytest.mark.parametrize("line", LINES, ids=str)
async def test_who_may_read_and_who_is_refused(
    standing: World, sessions: dict[str, dict[str, str]], line: Line
) -> None:
    for who in WHO:
        if not line.changes(who):
            await _check(standing, line, who, sessions[who])


@pytest.mark.parametrize("line", [line for line in LINES if any(map(line.changes, WHO))], ids=str)
async def test_who_may_change(home: Path, tmp_path: Path, line: Line) -> None:
    """Of things that are made anew for each of them."""
    changing = [who for who in WHO if line.changes(who)]
    for turn in ([who] for who in changing) if line.access.once else (changing,):
        async with serving(copied(home, tmp_path / turn[0] / "home")) as world:
            for who in turn:
                await _check(world, line, who, await world.headers_of(who))


async def _check(world: World, line: Line, who: str, headers: dict[str, str]) -> None:
    place = line.path.format(**await line.access.things(world))
    answer = await world.client.request(line.method, place, json=line.access.body, headers=headers)
    assert answer.status_code == line.access.of(who), (who, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json", who
        assert answer.json()["code"], who


def test_whatever_is_not_for_everybody_asks_who_is_calling() -> None:
    """By one function, so that what it does not take for a token opens nothing: of that, one operation of each method is asked below."""
    for found in iter_route_contexts(create_app().routes):
        for method in found.methods or ():
            expected = EXPECTED.get((method, found.path_format or ""))
            if expected is not None and (expected.nobody, expected.user) == (401, 401):
                continue  # what tells of itself in its body who is calling
            if expected is not None and expected.nobody == 401:
                assert isinstance(found.route, APIRoute)
                assert caller in _dependencies(found.route.dependant), found.path_format


def _dependencies(dependant: Dependant) -> set[object]:
    return {dependant.call}.union(*map(_dependencies, dependant.dependencies))


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("token", ["Bearer nonsense", "Bearer ", "Basic dXNlcjpwdw==", "refresh"])
async def test_what_is_no_access_token_opens_nothing(standing: World, token: str) -> None:
    if token == "refresh":
        pair = await standing.services.storage.tokens.open_session(standing.people["admin"].id)
        token = f"Bearer {pair.refresh_token}"
    one_of_each = {line.method: line for line in LINES if (line.access.nobody, line.access.user) == (401, 200)}
    for line in one_of_each.values():
        place = line.path.format(**await line.access.things(standing))
        answer = await standing.client.request(
            line.method, place, json=line.access.body, headers={"Authorization": token}
        )
        assert answer.status_code == 401, answer.text
