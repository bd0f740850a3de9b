"""Every operation by everyone: the routes of the application times nobody, user, other user, author and administrator."""

import pytest
from fastapi.routing import iter_route_contexts

from server.app import create_app
from tests.server.matrix import ALSO, EXPECTED, Access
from tests.server.world import World

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
    paths = create_app().openapi()["paths"]
    assert [(method.upper(), path) for path in sorted(paths) for method in sorted(paths[path], key=str.upper)] == [
        (method, path) for method, path in sorted(OPERATIONS, key=lambda key: (key[1], key[0]))
    ]


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize(
    ("method", "path", "access"),
    [*((*key, EXPECTED[key]) for key in KNOWN), *ALSO],
    ids=lambda part: part.things.__name__ if isinstance(part, Access) else part,
)
async def test_access(world: World, method: str, path: str, access: Access, who: str) -> None:
    place = path.format(**await access.things(world))
    answer = await world.client.request(method, place, json=access.body, headers=await world.headers_of(who))
    assert answer.status_code == access.of(who), answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["code"]


@pytest.mark.parametrize(("method", "path"), [key for key in KNOWN if EXPECTED[key].nobody == 401], ids=" ".join)
@pytest.mark.parametrize("token", ["Bearer nonsense", "Bearer ", "Basic dXNlcjpwdw==", "refresh"])
async def test_what_is_no_access_token_opens_nothing(world: World, method: str, path: str, token: str) -> None:
    access = EXPECTED[method, path]
    if token == "refresh":
        pair = await world.services.storage.tokens.open(world.people["admin"].id)
        token = f"Bearer {pair.refresh_token}"
    place = path.format(**await access.things(world))
    answer = await world.client.request(method, place, json=access.body, headers={"Authorization": token})
    assert answer.status_code == 401, answer.text
