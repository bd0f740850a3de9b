"""A program's token in a stranger's hands: it does what its scopes say, and lets nobody in."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
from fastapi.routing import APIRoute
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.context import RequestContext
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult

from domain.event import InputNeeded, RunFinished
from server.gateway.answers import RESULT
from server.routes.me import ProgramTokenBody
from server.storage.tokens import Scope
from server.token_scopes import by_token, find_scope
from tests.server.test_authorisation import operations
from tests.server.test_token_scopes import headers_of_token
from tests.support import server_world as worlds
from tests.support.attacked_services import Operation, Service, running, serving, told_of
from tests.support.rights_matrix import EXPECTED
from tests.support.server_process import Client, registered
from tests.support.server_world import World, copied

PAY = Operation("pay_invoice", "Pay an invoice to an account.", {"account": "string"}, {"paid": True}, method="POST")
FIND = Operation("find_patient", "Find the record number of a patient.", {"patient": "string"}, {"record": "MRN-5520"})
LOOK_UP = Operation("look_up", "Look up what is known of a record number.", {"record": "string"}, {"known": "nothing"})
CARRIES = 'found = await find_patient(patient="Lindqvist")\nawait look_up(record=found["record"])\n"done"'
SCOPES = [(), ("ask", "read", "run_changes", "administer")]
"""Of a token: the ones that it has unless others are named, and all."""
ME, USERS, DATA = "/api/v1/me", "/api/v1/users", "/api/v1/data"
FOR_PEOPLE = {
    ("POST", "/api/v1/auth/logout"),
    ("PATCH", ME),
    ("DELETE", ME),
    ("POST", f"{ME}/password"),
    ("POST", f"{ME}/tokens"),
    ("DELETE", f"{ME}/sessions"),
    ("DELETE", f"{ME}/sessions/{{session_id}}"),
    ("PUT", f"{ME}/allowed-tools/{{tool}}"),
    ("DELETE", f"{ME}/allowed-tools/{{tool}}"),
    ("DELETE", f"{ME}/host-transfers/{{source}}/{{target}}"),
    ("PATCH", f"{USERS}/{{user_id}}"),
    ("DELETE", f"{USERS}/{{user_id}}"),
    ("POST", f"{USERS}/{{user_id}}/password-link"),
    ("DELETE", f"{USERS}/{{user_id}}/sessions"),
    ("DELETE", f"{USERS}/{{user_id}}/sessions/{{session_id}}"),
    ("POST", "/api/v1/invitations"),
    ("DELETE", "/api/v1/invitations/{invitation_id}"),
    ("POST", f"{DATA}/restore"),
    ("DELETE", f"{DATA}/restore"),
    ("PUT", "/api/v1/runs/{run_id}/plan"),
    ("PUT", "/api/v1/templates/{template_id}/taken"),
    # By these somebody may say that a call only reads, so that nobody is asked about it any more.
    ("PUT", "/api/v1/tools/{tool}/marks"),
    ("PATCH", "/api/v1/sources/{source_id}/tools/{tool}"),
}
"""What no token may do, whatever its scopes. An operation that declares no scope has to stand here."""

REFRESH = ("POST", "/api/v1/auth/refresh")
"""It needs a refresh token, which no program has."""


async def test_a_token_is_refused_whatever_its_scopes_do_not_name(home: Path, tmp_path: Path) -> None:
    """Every operation that needs a caller, by an administrator's tokens: one of each scope alone, and one of all scopes together."""
    every: tuple[Scope, ...] = get_args(Scope)
    refused: dict[tuple[str, str], set[str]] = {}
    async with worlds.serving(copied(home, tmp_path / "home"), user_requests_per_minute=0) as world:
        tokens = {scope: await headers_of_token(world, "admin", scope) for scope in every}
        whole = await headers_of_token(world, "admin", *every)
        declared = {(m, path): find_scope(endpoint) for m, path, endpoint in _endpoints(world)}
        closed = [key for key in operations() if EXPECTED[key].nobody == 401 and key != REFRESH]
        for method, path in closed:
            place = path.replace("{tool}", "a/b/c").replace("{version}", "1").replace("{", "").replace("}", "")
            for scope, headers in tokens.items():
                if declared[method, path] == scope:
                    continue  # it may, and would do it
                answer = await world.client.request(method, place, headers=headers)
                assert (answer.status_code, answer.json()["code"]) == (403, "forbidden"), (method, path, scope)
                assert "token" in answer.json()["detail"]
                refused.setdefault((method, path), set()).add(scope)
            if declared[method, path] is None:
                assert (await world.client.request(method, place, headers=whole)).status_code == 403
            elif method == "GET":
                answer = await world.client.get(place, headers=tokens[declared[method, path] or "read"])
                assert "token" not in answer.text or answer.status_code != 403, (method, path)
    assert {key for key in closed if refused.get(key) == set(every)} == FOR_PEOPLE


def _endpoints(world: World) -> list[tuple[str, str, Any]]:
    routes = [one for one in world.app.routes if isinstance(one, APIRoute)]
    return [(method, one.path_format, one.endpoint) for one in routes for method in one.methods or ()]


def test_an_operation_that_declares_nothing_takes_no_token() -> None:
    async def new_operation() -> None: ...

    assert find_scope(new_operation) is None
    assert find_scope(by_token("read")(new_operation)) == "read"
    assert ProgramTokenBody(label="a job").scopes == {"ask", "read"}


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, str]]:
    """A service that is paid by, and the address of a server that knows it."""
    folder, service = tmp_path_factory.mktemp("bank"), Service("invoices", [PAY])
    with running(service):
        store = told_of(folder / "store", service)
        with serving(store, folder / "home", service) as address:
            yield service, address


def test_a_token_that_only_asks_changes_nothing_that_is_always_allowed(bank: tuple[Service, str]) -> None:
    service, address = bank
    ada, tool = registered(address), service.tool("pay_invoice")
    assert ada.call("PUT", f"/me/allowed-tools/{tool}").status_code == 204
    outcome, words = _paid(ada, _token(ada), tool)
    assert (outcome, service.asked_of("pay_invoice")) == ("gave_up", [])
    assert "run_changes" in words
    assert _paid(ada, _token(ada, "ask", "read", "run_changes"), tool)[0] == "answered"
    assert len(service.asked_of("pay_invoice")) == 1
    ada.call("DELETE", f"/me/allowed-tools/{tool}")
    assert _paid(ada, _token(ada, "ask", "read", "run_changes"), tool)[0] == "input.needed"
    assert len(service.asked_of("pay_invoice")) == 1, "the approvals that there are count still"


class Accepts:
    """A client's answers to elicitations: yes to everything, as a program that holds the token would say."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(
        self, context: RequestContext[ClientSession, Any, Any], params: ElicitRequestParams
    ) -> ElicitResult:
        self.asked.append(params.message)
        fields = getattr(params, "requestedSchema", {}).get("properties", {})
        return ElicitResult(
            action="accept", content={name: one["enum"][0] if "enum" in one else True for name, one in fields.items()}
        )


@asynccontextmanager
async def _client(token: str, address: str, person: Accepts) -> AsyncGenerator[ClientSession]:
    """A client at ``/mcp`` with a program's token."""
    async with (
        httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, trust_env=False, timeout=60) as http,
        streamable_http_client(f"{address}/mcp", http_client=http) as streams,
        ClientSession(streams[0], streams[1], elicitation_callback=person) as session,
    ):
        await session.initialize()
        yield session


def _read(answer: CallToolResult) -> str:
    return "".join(getattr(part, "text", "") for part in answer.content)


@pytest.mark.parametrize("scopes", SCOPES)
async def test_no_client_with_a_token_lets_values_go_to_another_host(scopes: tuple[str, ...], tmp_path: Path) -> None:
    clinic, broker, person = Service("clinic", [FIND]), Service("broker", [LOOK_UP]), Accepts()
    with running(clinic, broker):
        store = await asyncio.to_thread(told_of, tmp_path / "store", clinic, broker)
        with serving(store, tmp_path / "home", clinic, broker) as address:
            ada = await asyncio.to_thread(registered, address)
            async with _client(_token(ada, *scopes), address, person) as session:
                await session.call_tool("find_tools", {"request": "find the record number of a patient and look it up"})
                program = {"request": "Look it up.", "program": CARRIES}
                answer = await session.call_tool("run_program", program)
                again = await session.call_tool("run_program", program)
                assert (len(clinic.asked_of("find_patient")), broker.asked_of("look_up")) == (1, []), _read(answer)
                assert "May what" in _read(answer)
                assert "Waiting for approval" in _read(again)
                assert person.asked == []


@pytest.mark.parametrize("scopes", SCOPES)
async def test_no_client_with_a_token_allows_its_own_change(scopes: tuple[str, ...], bank: tuple[Service, str]) -> None:
    """By a call, a program, a request, and a run that it left waiting, told that it was allowed."""
    service, address = bank
    ada, person, before = registered(address, f"bob{len(scopes)}"), Accepts(), len(service.asked_of("pay_invoice"))
    token = _token(ada, *scopes)
    program = Client(address, token)
    async with _client(token, address, person) as session:
        await session.call_tool("find_tools", {"request": "pay an invoice"})
        answers = [
            await session.call_tool("call_tool", {"tool": "pay_invoice", "arguments": {"account": "DE89-77"}}),
            await session.call_tool("run_program", {"request": "Pay.", "program": 'await pay_invoice(account="DE1")'}),
            await session.call_tool("ask", {"request": "Pay an invoice to the account DE89-77"}),
        ]
    waiting = [run for one in answers if (run := (one.meta or {}).get(RESULT, {})).get("outcome") == "waiting"]
    assert len(waiting) == (3 if "run_changes" in scopes else 0), [_read(one) for one in answers]
    for run in waiting:
        inputs = f"/runs/{run['run']}/inputs"
        question = program.call("GET", inputs).json()[0]["id"]
        allowed = program.call("POST", f"{inputs}/{question}", {"decision": "allow"})
        assert allowed.status_code == 403, allowed.text
    assert len(service.asked_of("pay_invoice")) == before
    assert person.asked == []


async def test_a_client_with_a_token_makes_the_changes_that_its_owner_has_allowed_always(
    bank: tuple[Service, str],
) -> None:
    """As over REST: with the scope ``run_changes`` only."""
    service, address = bank
    ada, tool, person = registered(address, "carol"), service.tool("pay_invoice"), Accepts()
    assert ada.call("PUT", f"/me/allowed-tools/{tool}").status_code == 204
    made: list[int] = []
    for scopes in SCOPES:
        before = len(service.asked_of("pay_invoice"))
        async with _client(_token(ada, *scopes), address, person) as session:
            await session.call_tool("ask", {"request": "Pay an invoice to the account DE89-77"})
        made.append(len(service.asked_of("pay_invoice")) - before)
    assert made == [0, 1]
    assert person.asked == []


def _token(owner: Client, *scopes: str) -> str:
    body = {"label": "a job", **({"scopes": scopes} if scopes else {})}
    made = owner.call("POST", "/me/tokens", body)
    assert made.status_code == 201, made.text
    return made.json()["token"]


def _paid(owner: Client, token: str, tool: str) -> tuple[str, str]:
    """How a run of the program ended that pays, or what it waits for; and what it said."""
    text = 'await pay_invoice(account="DE89-77")\n"paid"'
    _, run = Client(owner.address, token).ask(
        "Pay the invoice to DE89-77.", program={"text": text, "tools": {"pay_invoice": tool}}
    )
    last = owner.follow(run, until="input.needed")[-1].event
    if isinstance(last, InputNeeded):
        return last.kind, last.reason
    assert isinstance(last, RunFinished)
    return last.outcome, f"{last.answer} {last.error}"
