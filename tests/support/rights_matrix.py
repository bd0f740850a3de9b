"""What every operation answers to nobody, to whom a thing belongs, to another user, to an author and to an administrator.

A new operation has no line here, and ``test_authorisation`` fails until it has one. ``things`` makes what the operation is about;
it belongs to ``user``. Where an operation speaks of the caller's own things, another's are not found.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import ToolId
from server.storage.identifiers import generate_id
from server.storage.permissions import CallTarget
from server.storage.rows.runs import RunRow
from server.storage.runs import RunChoices
from server.storage.templates import TemplateContent
from tests.server.access import Access, everyone, for_admins, for_authors, for_oneself, none, own
from tests.server.administration import ADMINISTRATION
from tests.server.embeddings import EMBEDDINGS
from tests.server.library import LIBRARY, a_store, two_tools
from tests.server.model_services import MODELS
from tests.server.of_runs import OF_RUNS, a_finished_run
from tests.support.server_world import PASSWORD, World, with_store
from tests.support.source_samples import A_TOOL, FORM_TOOL, NEW_SOURCE, source_of


async def a_user(world: World) -> Mapping[str, str]:
    return {"user_id": world.people["user"].id}


async def a_session(world: World) -> Mapping[str, str]:
    user = world.people["user"]
    await world.services.storage.tokens.open_session(user.id, "elsewhere")
    return {"session_id": (await world.services.storage.tokens.list_sessions(user.id))[0].id}


async def a_users_session(world: World) -> Mapping[str, str]:
    return {**await a_user(world), **await a_session(world)}


async def a_tool_key(world: World) -> Mapping[str, str]:
    await world.services.storage.tool_keys.put(world.people["user"].id, "weather", "secret", ["api.example.com"])
    return {"name": "weather"}


async def an_allowed_tool(world: World) -> Mapping[str, str]:
    await world.services.storage.allowed_tools.allow(world.people["user"].id, "a/b/c", CallTarget())
    return {"tool": "a/b/c"}


async def a_flow(world: World) -> Mapping[str, str]:
    user = world.people["user"].id
    await world.services.storage.host_transfers.decide(user, "a.example", "b.example", allowed=True)
    return {"source": "a.example", "target": "b.example"}


async def an_invitation(world: World) -> Mapping[str, str]:
    made, _ = await world.services.storage.invitations.add(world.people["admin"].id, "user", "", 7)
    return {"invitation_id": made.id}


async def a_conversation(world: World) -> Mapping[str, str]:
    made = await world.services.storage.conversations.add(world.people["user"].id, "a title")
    return {"conversation_id": made.id}


async def an_ended_run(world: World) -> Mapping[str, str]:
    """One that was cancelled before it began, so that its events have an end."""
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    run = await storage.runs.add(user, conversation.id, "a request", RunChoices(planner="dfs", policy="offline"))
    await storage.runs.cancel(run.id, user)
    return {"run_id": run.id}


async def a_shared_answer(world: World) -> Mapping[str, str]:
    storage, user = world.services.storage, world.people["user"].id
    run = (await a_finished_run(world))["run_id"]
    made, secret = await storage.shared_answers.add(user, run, 7, with_calls=False)
    return {"shared_id": made.id, "secret": secret}


async def a_template(world: World) -> Mapping[str, str]:
    return await _template_of("user", world)


async def a_version(world: World) -> Mapping[str, str]:
    """Of a template."""
    return {**await a_template(world), "version": "1"}


async def a_shared_template(world: World) -> Mapping[str, str]:
    """Of the author."""
    return await _template_of("author", world, shared=True)


async def a_template_that_is_shared_no_more(world: World) -> Mapping[str, str]:
    """Of one who was an author when it was shared."""
    return await _template_of("user", world, shared=True)


async def _template_of(who: str, world: World, *, shared: bool = False) -> Mapping[str, str]:
    content = TemplateContent(parameters={}, plan={"program": {"text": "await act()", "tools": {"act": "a/b/c"}}})
    templates, owner = world.services.storage.templates, world.people[who].id
    made = await templates.add(owner, generate_id(), content)
    await templates.change(made.id, owner, shared=shared)
    return {"template_id": made.id}


async def a_solution(world: World) -> Mapping[str, str]:
    """The user's."""
    return await _solution_of(world, world.people["user"].id)


async def a_shared_solution(world: World) -> Mapping[str, str]:
    return await _solution_of(world, "")


async def _solution_of(world: World, owner: str) -> Mapping[str, str]:
    await with_store(world)
    container = await world.services.agents.get_container()
    program = Program(text="answer = 6 * 7\nanswer", tools={})
    one = Solution(
        id="new", owner=owner, plan=ProgramPlan(program=program), patterns=("What is six times seven?",), path=(),
        origin="person", at=datetime.now(UTC),
    )  # fmt: skip
    (kept,) = await (await container.solutions(owner)).add([one])
    return {"solution_id": kept}


async def a_question(world: World) -> Mapping[str, str]:
    """Of a run that has not ended and is in nobody's hands."""
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    at, run_id = conversation.created_at, generate_id()
    kept: dict[str, Any] = {
        "request": "a request",
        "status": "waiting",
        "planner": "dfs",
        "policy": "offline",
        "model": "",
        "settings": {},
    }
    row = RunRow(id=run_id, user_id=user, conversation_id=conversation.id, plan_version=0, created_at=at, **kept)
    async with storage.database.write_session() as session:
        session.add(row)
    question: JsonValue = {"tool": "a/b/c", "arguments": {}, "reason": "May it be called?"}
    await storage.run_questions.ask(run_id, "a-question", "call", question)
    return {"run_id": run_id, "input_id": "a-question"}


async def a_source(world: World) -> Mapping[str, str]:
    """The author's, with one tool."""
    return await source_of("author", world)


A_DOCUMENT = "openapi: 3.0.3\ninfo: {title: Harbour}\npaths: {/ships: {get: {operationId: list_ships}}}"


async def a_documents_source(world: World) -> Mapping[str, str]:
    return await source_of("author", world, kind="openapi", tools=[], document=A_DOCUMENT)


async def a_source_key(world: World) -> Mapping[str, str]:
    things = await a_source(world)
    await world.services.storage.source_keys.put(things["source_id"], "weather", "secret", ["api.example.com"])
    return {**things, "name": "weather"}


async def an_admins_source(world: World) -> Mapping[str, str]:
    return await source_of("admin", world)


async def a_sources_tool(world: World) -> Mapping[str, str]:
    return {**await a_source(world), "tool": A_TOOL}


async def a_tested_tool(world: World) -> Mapping[str, str]:
    """One that passed the gate."""
    return await source_of("author", world, tested=True)


async def a_kept_out_tool(world: World) -> Mapping[str, str]:
    """One that its author keeps out."""
    things = await source_of("author", world)
    await world.services.sources.quarantine(things["source_id"], [ToolId(A_TOOL)], world.people["author"], "slow")
    return things


def for_admins_alone(status: int, body: Any = None) -> Access:
    """An administrator's source: another author's is not found."""
    return Access(401, 403, 403, 404, status, body, an_admins_source)


SOURCE = "/api/v1/sources/{source_id}"
NO_ID = "00000000-0000-0000-0000-000000000000"
A_TEMPLATE: dict[str, Any] = {"name": "a template", "document": {"steps": [{"tool": "a/b/c"}]}}
A_SOLUTION: dict[str, Any] = {"program": {"text": "6 * 7"}, "patterns": ["What is six times seven?"]}
A_GRANT: dict[str, Any] = {
    "grant": "authorization_code",
    "authorize_url": "https://id.example.com/authorize",
    "token_url": "https://id.example.com/token",
    "client_id": "footpath",
    "hosts": ["api.example.com"],
}
LOGIN = {"name": "user", "password": PASSWORD}
EXPECTED: dict[tuple[str, str], Access] = {
    ("GET", "/health"): everyone(200),
    ("GET", "/health/ready"): Access(200, 200, 200, 200, 200, None, a_store),
    ("GET", "/metrics"): everyone(200),
    ("GET", "/api/v1/auth/registration"): everyone(200),
    ("POST", "/api/v1/auth/register"): replace(everyone(201, {"name": "new", "password": PASSWORD}), once=True),
    ("POST", "/api/v1/auth/login"): everyone(200, LOGIN),
    ("POST", "/api/v1/auth/reset"): everyone(403, {"secret": "no such link", "password": PASSWORD}),
    ("POST", "/api/v1/auth/refresh"): everyone(401, {"refresh_token": "no such token"}),
    ("POST", "/api/v1/auth/logout"): for_oneself(204),
    ("GET", "/api/v1/me"): for_oneself(200),
    ("PATCH", "/api/v1/me"): for_oneself(200, {"language": "zh"}),
    # The last administrator cannot go.
    ("DELETE", "/api/v1/me"): Access(401, 200, 200, 200, 409, {"password": PASSWORD}),
    ("POST", "/api/v1/me/password"): for_oneself(204, {"old": PASSWORD, "new": PASSWORD + "!"}),
    ("POST", "/api/v1/me/tokens"): for_oneself(201, {"label": "an editor"}),
    ("GET", "/api/v1/me/usage"): for_oneself(200),
    ("GET", "/api/v1/me/sessions"): for_oneself(200),
    ("DELETE", "/api/v1/me/sessions"): for_oneself(204),
    ("DELETE", "/api/v1/me/sessions/{session_id}"): own(204, a_session),
    ("GET", "/api/v1/me/tool-keys"): for_oneself(200),
    ("PUT", "/api/v1/me/tool-keys/{name}"): Access(
        401, 200, 200, 200, 200, {"value": "k", "hosts": ["api.example.com"]}, a_tool_key
    ),
    ("DELETE", "/api/v1/me/tool-keys/{name}"): own(204, a_tool_key),
    ("POST", "/api/v1/me/tool-keys/{name}/oauth"): Access(401, 200, 200, 200, 200, A_GRANT, a_tool_key),
    ("GET", "/api/v1/me/needed-keys"): for_oneself(200),
    # Nobody may be asked from here: the guard keeps the address.
    ("POST", "/api/v1/me/oauth-discovery"): for_oneself(422, {"address": "https://10.0.0.7/"}),
    # It is for browsers, and says whose by its state, which this is none of.
    ("GET", "/api/v1/oauth/callback"): everyone(400),
    ("GET", "/api/v1/me/allowed-tools"): for_oneself(200),
    ("PUT", "/api/v1/me/allowed-tools/{tool}"): Access(401, 204, 204, 204, 204, None, an_allowed_tool),
    ("DELETE", "/api/v1/me/allowed-tools/{tool}"): own(204, an_allowed_tool),
    ("GET", "/api/v1/me/host-transfers"): for_oneself(200),
    ("DELETE", "/api/v1/me/host-transfers/{source}/{target}"): own(204, a_flow),
    ("GET", "/api/v1/users"): for_admins(200),
    ("GET", "/api/v1/users/{user_id}"): for_admins(200, a_user),
    ("PATCH", "/api/v1/users/{user_id}"): for_admins(200, a_user, {"role": "author"}),
    ("DELETE", "/api/v1/users/{user_id}"): for_admins(200, a_user),
    ("POST", "/api/v1/users/{user_id}/password-link"): for_admins(201, a_user),
    ("GET", "/api/v1/users/{user_id}/sessions"): for_admins(200, a_user),
    ("DELETE", "/api/v1/users/{user_id}/sessions"): for_admins(204, a_users_session),
    ("DELETE", "/api/v1/users/{user_id}/sessions/{session_id}"): for_admins(204, a_users_session),
    **ADMINISTRATION,
    **EMBEDDINGS,
    **OF_RUNS,
    **MODELS,
    ("GET", "/api/v1/users/{user_id}/limits"): for_admins(200, a_user),
    ("PUT", "/api/v1/users/{user_id}/limits"): for_admins(200, a_user, {"runs": 5}),
    ("GET", "/api/v1/invitations"): for_admins(200),
    ("POST", "/api/v1/invitations"): for_admins(201, none, {"role": "user"}),
    ("DELETE", "/api/v1/invitations/{invitation_id}"): for_admins(204, an_invitation),
    ("POST", "/api/v1/conversations"): for_oneself(201, {"title": "a title"}),
    ("GET", "/api/v1/conversations"): for_oneself(200),
    ("GET", "/api/v1/conversations/{conversation_id}"): own(200, a_conversation),
    ("PATCH", "/api/v1/conversations/{conversation_id}"): own(200, a_conversation, {"title": "another"}),
    ("DELETE", "/api/v1/conversations/{conversation_id}"): own(204, a_conversation),
    ("GET", "/api/v1/conversations/{conversation_id}/messages"): own(200, a_conversation),
    ("GET", "/api/v1/conversations/{conversation_id}/export"): own(200, a_conversation),
    ("GET", "/api/v1/conversations/{conversation_id}/runs"): own(200, a_conversation),
    ("POST", "/api/v1/conversations/{conversation_id}/runs"): own(202, a_conversation, {"request": "a request"}),
    ("GET", "/api/v1/choices"): for_oneself(200),
    ("GET", "/api/v1/runs"): for_oneself(200),
    ("GET", "/api/v1/runs/tools"): for_oneself(200),
    ("GET", "/api/v1/runs/{run_id}"): own(200, an_ended_run),
    ("GET", "/api/v1/runs/{run_id}/events"): own(200, an_ended_run),
    ("GET", "/api/v1/runs/{run_id}/calls"): own(200, an_ended_run),
    ("POST", "/api/v1/runs/{run_id}/shared"): own(201, a_finished_run, {"days": 1}),
    ("GET", "/api/v1/me/shared"): for_oneself(200),
    ("DELETE", "/api/v1/me/shared/{shared_id}"): own(204, a_shared_answer),
    # Whoever has the link and is logged in.
    ("GET", "/api/v1/shared/{secret}"): Access(401, 200, 200, 200, 200, None, a_shared_answer),
    ("GET", "/api/v1/runs/{run_id}/inputs"): own(200, a_question),
    ("POST", "/api/v1/runs/{run_id}/inputs/{input_id}"): own(200, a_question, {"decision": "allow"}),
    # Such a run waits with a call, not with a plan; tests/flows/test_server_plans.py is about those that do.
    ("GET", "/api/v1/runs/{run_id}/plan"): Access(401, 404, 404, 404, 404, None, a_question),
    ("PUT", "/api/v1/runs/{run_id}/plan"): Access(
        401, 404, 404, 404, 404, {"version": 0, "document": {"steps": []}}, a_question
    ),
    ("POST", "/api/v1/runs/{run_id}/plan/dry-run"): Access(401, 404, 404, 404, 404, None, a_question),
    ("POST", "/api/v1/runs/{run_id}/plan/check"): Access(401, 404, 404, 404, 404, {"text": "1"}, a_question),
    ("POST", "/api/v1/runs/{run_id}/cancel"): own(202, an_ended_run),
    ("GET", "/api/v1/runs/{run_id}/document"): own(409, a_question),
    ("GET", "/api/v1/runs/{run_id}/export"): own(409, a_question),
    # It has not ended; tests/flows/test_server_verdicts.py is about those that have.
    ("PUT", "/api/v1/runs/{run_id}/verdict"): own(409, a_question, {"verdict": "wrong"}),
    ("POST", "/api/v1/runs/{run_id}/rerun"): own(202, an_ended_run, {}),
    ("GET", "/api/v1/templates"): for_oneself(200),
    ("POST", "/api/v1/templates"): for_oneself(201, A_TEMPLATE),
    ("GET", "/api/v1/templates/{template_id}"): own(200, a_template),
    ("GET", "/api/v1/templates/{template_id}/versions"): own(200, a_template),
    ("POST", "/api/v1/templates/{template_id}/versions"): own(201, a_template, {"document": A_TEMPLATE["document"]}),
    ("PATCH", "/api/v1/templates/{template_id}"): own(200, a_template, {"description": "new"}),
    ("DELETE", "/api/v1/templates/{template_id}"): own(204, a_template),
    # The template is found; the conversation, whose id is made up, is not.
    ("GET", "/api/v1/templates/{template_id}/differences"): own(200, a_template),
    ("GET", "/api/v1/templates/{template_id}/versions/{version}/differences"): own(200, a_version),
    # One's own needs no taking.
    ("PUT", "/api/v1/templates/{template_id}/taken"): own(409, a_template, {"version": 1}),
    ("POST", "/api/v1/templates/{template_id}/runs"): own(404, a_template, {"conversation_id": NO_ID}),
    ("GET", "/api/v1/solutions"): Access(401, 200, 200, 200, 200, None, a_store),
    ("POST", "/api/v1/solutions"): Access(401, 201, 201, 201, 201, A_SOLUTION, a_store),
    ("GET", "/api/v1/solutions/{solution_id}"): own(200, a_solution),
    ("GET", "/api/v1/solutions/{solution_id}/export"): own(200, a_solution),
    ("DELETE", "/api/v1/solutions/{solution_id}"): own(204, a_solution),
    ("POST", "/api/v1/solutions/{solution_id}/check"): own(200, a_solution),
    # An administrator shares what is the administrator's.
    ("POST", "/api/v1/solutions/{solution_id}/promote"): for_admins(404, a_solution),
    ("POST", "/api/v1/solutions/{solution_id}/runs"): own(404, a_solution, {"conversation_id": NO_ID}),
    ("GET", "/api/v1/sources"): for_authors(200),
    ("POST", "/api/v1/sources"): for_authors(201, none, NEW_SOURCE),
    # Its body is the document, which is taken as it comes; an empty one is refused.
    ("POST", "/api/v1/sources/documents"): for_authors(400),
    ("POST", "/api/v1/sources/outline"): for_authors(200, none, {"document": A_DOCUMENT}),
    ("GET", f"{SOURCE}/outline"): for_authors(200, a_documents_source),
    ("PUT", f"{SOURCE}/operations"): for_authors(200, a_documents_source, {"methods": ["GET"]}),
    ("GET", f"{SOURCE}"): for_authors(200, a_source),
    ("PATCH", f"{SOURCE}"): for_authors(200, a_source, {"watch_minutes": 5}),
    ("DELETE", f"{SOURCE}"): for_authors(204, a_source),
    ("GET", f"{SOURCE}/history"): for_authors(200, a_source),
    ("GET", f"{SOURCE}/tools"): for_authors(200, a_source),
    ("GET", f"{SOURCE}/tools/{{tool}}"): for_authors(200, a_sources_tool),
    ("PATCH", f"{SOURCE}/tools/{{tool}}"): for_authors(200, a_sources_tool, {"description": "better"}),
    ("POST", f"{SOURCE}/admit"): replace(for_authors(200, a_tested_tool, {}), once=True),
    ("POST", f"{SOURCE}/quarantine"): for_authors(200, a_source, {"tools": [A_TOOL], "reason": "slow"}),
    ("POST", f"{SOURCE}/undo"): for_authors(200, a_kept_out_tool),
    ("GET", f"{SOURCE}/keys"): for_authors(200, a_source),
    ("PUT", f"{SOURCE}/keys/{{name}}"): for_authors(200, a_source_key, {"value": "k", "hosts": ["api.example.com"]}),
    ("DELETE", f"{SOURCE}/keys/{{name}}"): for_authors(204, a_source_key),
    ("POST", f"{SOURCE}/keys/{{name}}/oauth"): for_authors(200, a_source_key, A_GRANT),
    # There is no store; tests/server/test_source_checks.py is about those that are checked.
    ("POST", f"{SOURCE}/check"): for_authors(202, a_source, {}),
    ("GET", f"{SOURCE}/quality"): for_authors(200, a_source),
    ("POST", f"{SOURCE}/refresh"): for_authors(200, a_source, {"tools": [FORM_TOOL]}),
    ("GET", f"{SOURCE}/touched"): for_authors(200, a_source),
    ("POST", f"{SOURCE}/changes/seen"): for_authors(200, a_source),
    ("GET", "/api/v1/user-names"): for_authors(200),
    **LIBRARY,
}
OTHERS = "/api/v1/templates/{template_id}"
SOLUTION = "/api/v1/solutions/{solution_id}"
END = {"shared": False}
ALSO: list[tuple[str, str, Access]] = [
    ("GET", "/api/v1/tools/{tool}/edge?target={other}", Access(401, 200, 200, 200, 200, None, two_tools)),
    ("GET", "/api/v1/tools/{tool}/marks-to?target={other}", for_admins(200, two_tools)),
    ("GET", "/api/v1/tools/{tool}/paths?target={other}", Access(401, 200, 200, 200, 200, None, two_tools)),
    ("GET", SOURCE, for_admins_alone(200)),
    ("GET", f"{SOURCE}/tools", for_admins_alone(200)),
    ("POST", f"{SOURCE}/quarantine", for_admins_alone(200, {"tools": [A_TOOL], "reason": "slow"})),
    ("DELETE", SOURCE, for_admins_alone(204)),
    ("GET", OTHERS, Access(401, 200, 200, 200, 200, None, a_shared_template)),
    ("GET", f"{OTHERS}/versions", Access(401, 200, 200, 200, 200, None, a_shared_template)),
    ("PATCH", OTHERS, Access(401, 404, 404, 200, 404, {"description": "new"}, a_shared_template)),
    ("PATCH", OTHERS, Access(401, 404, 404, 200, 200, END, a_shared_template)),
    ("DELETE", OTHERS, Access(401, 404, 404, 204, 204, None, a_shared_template)),
    ("GET", OTHERS, Access(401, 200, 404, 404, 200, None, a_template_that_is_shared_no_more)),
    ("GET", f"{OTHERS}/versions", Access(401, 200, 404, 404, 200, None, a_template_that_is_shared_no_more)),
    ("PATCH", OTHERS, Access(401, 200, 404, 404, 200, END, a_template_that_is_shared_no_more)),
    ("PUT", f"{OTHERS}/taken", Access(401, 204, 204, 409, 204, {"version": 1}, a_shared_template)),
    ("GET", f"{OTHERS}/differences", Access(401, 200, 200, 200, 200, None, a_shared_template)),
    ("DELETE", OTHERS, Access(401, 204, 404, 404, 204, None, a_template_that_is_shared_no_more)),
    ("GET", SOLUTION, Access(401, 200, 200, 200, 200, None, a_shared_solution)),
    ("DELETE", SOLUTION, for_admins(204, a_shared_solution)),
    ("POST", f"{SOLUTION}/check", for_admins(200, a_shared_solution)),
    # What its calls answer does not matter to its answer: nobody lets all share that.
    ("POST", f"{SOLUTION}/promote", for_admins(409, a_shared_solution)),
]
"""The same operations about other things, where that makes a difference."""
