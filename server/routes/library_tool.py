"""A tool's page: its document, how it has answered, what it identifies, and the solutions that call it."""

from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import BaseModel
from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.programs.signatures import build_signature
from domain.model import JsonObject
from domain.solution import Solution
from domain.tool import Credential, Location, Parameter, ToolDoc
from graph.facts import LiveOutcome
from server.dependencies import CurrentServices, CurrentUser
from server.library.facts import Record, entities_of, record_of, solutions_with
from server.library.listing import Listed
from server.problems import problems
from server.routes.library import LibraryTool, shown
from server.routes.library_access import open_tool
from server.routes.me import ToolPath
from server.routes.router import operations
from server.storage.accounts import User
from server.token_scopes import by_token

router = operations("/tools", tag="tools", responses=problems(401, 404))
_LONG = 8_000
"""Characters of a description, of an example, and of the schema of one parameter that are told."""
_PARAMETERS = 200


class ToolParameter(BaseModel):
    """``takes``: JSON Schema of its values; what is very long is left out of it."""

    name: str
    type: str
    location: Location
    required: bool
    description: str
    default: JsonValue
    example: JsonValue
    takes: JsonObject


class ToolCredential(BaseModel):
    """A key that a call sends, by name."""

    secret: str
    place: Literal["header", "query", "cookie"]
    name: str
    required: bool


class AvailabilityMoment(BaseModel):
    """After a run that called it. ``outcomes``: of its calls there."""

    at: datetime
    availability: float
    outcomes: list[LiveOutcome]


class ToolRecord(BaseModel):
    """``calls``, ``successes``: imported ones; ``ok``, ``transient``, ``gone``: live ones. ``told``: what the availability is made of, in words."""

    calls: int
    successes: int
    ok: int
    transient: int
    gone: int
    told: list[str]
    over_time: list[AvailabilityMoment]


class ToolSolution(BaseModel):
    """A solution that calls the tool; ``own``: the caller's, else all share it."""

    id: str
    pattern: str
    own: bool
    good: int
    bad: int
    suspended: str


class AboutTool(LibraryTool):
    """``signature``: the function that programs call. ``why``: by which source it is known what a call does. ``example``: an answer as its document gives it.
    ``takes_entities``, ``gives_entities``: what it identifies in its inputs and in its answers.
    """

    method: str
    url: str
    why: str
    signature: str
    toolset_description: str
    parameters: list[ToolParameter]
    credentials: list[ToolCredential]
    example: str
    record: ToolRecord
    takes_entities: list[str]
    gives_entities: list[str]
    solutions: list[ToolSolution]


@router.get("/{tool:path}/about", summary="All that is known of a tool")
@by_token("read")
async def about_tool(tool: ToolPath, user: CurrentUser, services: CurrentServices) -> AboutTool:
    doc, container = await open_tool(tool, services), await services.agents.get_container()
    record = await record_of(container, doc.id)
    named = await entities_of(container, doc)
    used = await solutions_with(container, doc.id, user.id)
    told: dict[str, Any] = shown(Listed(doc, record.availability, record.facts)).model_dump() | _document(doc)
    return AboutTool(
        **told,
        record=_record(record),
        takes_entities=sorted(named.takes),
        gives_entities=sorted(named.gives),
        solutions=[_solution(one, user) for one in used],
    )


def _document(doc: ToolDoc) -> dict[str, Any]:
    return {
        "description": doc.description[:_LONG],
        "method": doc.method,
        "url": doc.url,
        "why": doc.effect.why,
        "signature": build_signature(doc).text,
        "toolset_description": doc.toolset_description[:_LONG],
        "parameters": [_parameter(one) for one in doc.parameters[:_PARAMETERS]],
        "credentials": [_credential(one) for one in doc.credentials],
        "example": (doc.example_response or "")[:_LONG],
    }


def _parameter(one: Parameter) -> ToolParameter:
    takes: JsonObject = {**build_value_schema(one)}
    if len(orjson.dumps(takes)) > _LONG:
        takes = {"type": one.type}
    return ToolParameter(
        name=one.name,
        type=one.type,
        location=one.location,
        required=one.required,
        description=one.description[:_LONG],
        default=one.default,
        example=one.example,
        takes=takes,
    )


def _credential(one: Credential) -> ToolCredential:
    return ToolCredential(secret=one.secret, place=one.place, name=one.name, required=one.required)


def _record(record: Record) -> ToolRecord:
    facts = record.facts
    return ToolRecord(
        calls=facts.calls,
        successes=facts.successes,
        ok=facts.ok,
        transient=facts.transient,
        gone=facts.gone,
        told=list(record.told),
        over_time=[
            AvailabilityMoment(at=one.at, availability=one.availability, outcomes=list(one.outcomes))
            for one in record.history
        ],
    )


def _solution(one: Solution, user: User) -> ToolSolution:
    pattern = next(iter(one.patterns), "")
    return ToolSolution(
        id=one.id, pattern=pattern, own=one.owner == user.id, good=one.good, bad=one.bad, suspended=one.suspended
    )
