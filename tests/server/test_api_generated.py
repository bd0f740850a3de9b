"""The whole API asked what nobody thought of: no answer fails, and none is other than its document says."""

import asyncio
import os
import socket
from collections.abc import Generator, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from schemathesis import checks as plain_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks as openapi_checks

from server.auth.passwords import Passwords
from tests.server.document import api_document
from tests.support.rights_matrix import EXPECTED
from tests.support.server_world import CHEAP, PASSWORD, PEOPLE, World, copied, serving, with_store

PLAIN: Any = plain_checks
OPENAPI: Any = openapi_checks
CHECKS: list[Any] = [
    PLAIN.not_a_server_error,
    OPENAPI.status_code_conformance,
    OPENAPI.content_type_conformance,
    OPENAPI.response_headers_conformance,
    OPENAPI.response_schema_conformance,
]
EXAMPLES = int(os.environ.get("FOOTPATH_TEST_EXAMPLES", "4"))
"""Of each operation; ``FOOTPATH_TEST_EXAMPLES`` tries more."""
ASKING = ("user", "admin")
"""Each example is asked by both: making one takes longer than its answer."""
ANY_PACE: Any = list(HealthCheck)
SCHEMA: Any = schemathesis.openapi.from_dict(deepcopy(api_document()))
OPERATIONS: dict[tuple[str, str], Any] = {
    (found.method.upper(), found.path): found for found in (one.ok() for one in SCHEMA.get_all_operations())
}


class Asked:
    """A server that is asked from outside a loop, as generated tests have to be: it lives while it is asked."""

    def __init__(self, runner: asyncio.Runner, world: World) -> None:
        self._runner = runner
        self._world = world
        self._headers: dict[str, dict[str, str]] = {}

    def answer(self, case: Any, who: str, known: bool) -> httpx.Response:
        """``known``: about a thing that is there, and the user's."""
        return self._runner.run(self._answer(case, who, known))

    async def _answer(self, case: Any, who: str, known: bool) -> httpx.Response:
        method = case.method.upper()
        if method != "GET" or who not in self._headers:  # what is read ends neither an account nor a session
            await self._there(who)
            self._headers[who] = await self._world.headers_of(who)
        if known:
            case.path_parameters = dict(await EXPECTED[method, case.operation.path].things(self._world))
        case.headers.update(self._headers[who])
        sent = case.as_transport_kwargs(base_url="http://server")
        sent.pop("cookies", None)
        if "data" in sent:
            sent["content"] = sent.pop("data")
        return await self._world.client.request(**sent)

    async def _there(self, who: str) -> None:
        """Whoever asks has an account: a request made up before may have removed it, with the right password."""
        users, people = self._world.services.storage.users, self._world.people
        if await users.get(people[who].id) is None:
            people[who] = await users.add(who, await Passwords(CHEAP).hash(PASSWORD), PEOPLE[who])


@contextmanager
def asking(home: Path, folder: Path, **settings: object) -> Generator[Asked]:
    """A server with a copy of that home."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        world = runner.run(stack.enter_async_context(serving(copied(home, folder / "home"), **settings)))
        runner.run(with_store(world))
        yield Asked(runner, world)
        runner.run(stack.aclose())


@pytest.fixture(scope="module")
def standing(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """One server for all that only reads, without the limits that they would share."""
    folder = tmp_path_factory.mktemp("standing")
    with asking(home, folder, user_runs=1000, user_requests_per_minute=0, author_sources=10_000) as opened:
        yield opened


@pytest.fixture
def asked(home: Path, tmp_path: Path) -> Iterator[dict[str, Asked]]:
    """A server of the test's own for each who asks, so that nobody finds what another has changed."""
    with ExitStack() as stack:
        yield {who: stack.enter_context(asking(home, tmp_path / who)) for who in ASKING}


@pytest.mark.parametrize("key", [key for key in OPERATIONS if key[0] == "GET"], ids=" ".join)
def test_what_is_read_is_as_documented(standing: Asked, key: tuple[str, str]) -> None:
    _assert_answers_documented(dict.fromkeys(ASKING, standing), key)


@pytest.mark.parametrize("key", [key for key in OPERATIONS if key[0] != "GET"], ids=" ".join)
def test_what_changes_is_as_documented(asked: dict[str, Asked], key: tuple[str, str]) -> None:
    _assert_answers_documented(asked, key)


def _assert_answers_documented(servers: dict[str, Asked], key: tuple[str, str]) -> None:
    """Ask each example of each server, as the one whose server it is."""
    followed = key[1].endswith("/events")  # only of a run that has ended: its events have an end

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=ANY_PACE,
    )
    @given(case=OPERATIONS[key].as_strategy(), known=st.booleans())
    def ask(case: Any, known: bool) -> None:
        for who, server in servers.items():
            note(f"asked by {who}")
            # The second overwrites what the case got of the first: the header of the session and, of a known thing, the path.
            answer = server.answer(case, who, known or followed)
            # 502: another server was asked and is not there, as nobody is here. Whether the document says so is looked at all the same.
            case.validate_response(answer, checks=CHECKS[1:] if answer.status_code == 502 else CHECKS)

    with patch("socket.getaddrinfo", _no_such_name):
        ask()


def _no_such_name(host: object, *_: object, **__: object) -> None:
    raise socket.gaierror(socket.EAI_NONAME, f"{host} is not known")


def test_every_operation_is_asked() -> None:
    assert set(OPERATIONS) == set(EXPECTED)


@pytest.mark.parametrize(
    ("status", "content"), [(500, {"status": "ok"}), (418, {"status": "ok"}), (200, {"status": "bad"}), (200, None)]
)
def test_what_is_not_documented_is_noticed(status: int, content: Any) -> None:
    case = OPERATIONS["GET", "/health"].Case()
    request = httpx.Request("GET", "http://server/health")
    text = None if content else "ok"
    answer = httpx.Response(status, request=request, text=text, json=content)
    answer.elapsed = timedelta()
    with pytest.raises(FailureGroup):
        case.validate_response(answer, checks=CHECKS)
