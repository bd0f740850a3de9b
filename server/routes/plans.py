"""Developer mode: the plan that a run waits with is looked at, edited, tried out, and approved by answering its question."""

import asyncio
from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from pydantic import BaseModel, Field

from agent.execution.validation import schema_of
from agent.offer.tool_facts import Evidence
from agent.plans.cost_estimate import Price, expected
from agent.plans.dry_run import TriedCall, tried
from agent.plans.suggestions import Suggestion, suggestions
from agent.plans.validation import PlanProblem, Surroundings, problems
from domain.errors import NotFoundError
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.tool import ToolDoc, ToolId
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems as responses
from server.routes.given_documents import GivenDocument
from server.routes.texts import RowId
from server.runs.plans import OpenPlan, approve, edited, given_results, open_plan, refuse
from server.services import Services
from server.storage.inputs import Input
from wiring.settings import Settings

_NOTE = "Nothing was called: the responses are recorded ones, or examples of the tools' documents, and may differ from live ones."
_ESTIMATE = " Calls and tokens of the model are an estimate, without what long responses and second tries add."
router = APIRouter(prefix="/runs/{run_id}/plan", tags=["plans"], responses=responses(401, 404))


class PlanBody(BaseModel):
    """``version``: of the plan that this one is put in place of."""

    version: int = Field(ge=0, le=2**31 - 1)
    document: GivenDocument


class ShownTool(BaseModel):
    """``parameters``: JSON Schema of a call's arguments. ``changes``: calling it may change something; ``why``: by which source; ``host``: where it goes."""

    id: ToolId
    api: str
    description: str
    changes: bool
    why: str
    host: str
    parameters: JsonObject


class ShownPlan(BaseModel):
    """``given``: the tools of the steps of other subtasks that it builds on: steps 1 to their number, its own come after them."""

    version: int
    input: str
    document: PlanDocument
    given: tuple[ToolId, ...]
    tools: list[ShownTool]
    problems: tuple[PlanProblem, ...]
    suggestions: tuple[Suggestion, ...]


class DryRun(BaseModel):
    """``changes``: the tools whose calls may change something. ``cost``: of the model's tokens, where the settings know their price."""

    calls: tuple[TriedCall, ...]
    changes: tuple[ToolId, ...]
    model_calls: int
    tokens: int
    cost: float | None
    note: str


@router.get("", summary="The plan that a run waits with")
async def plan(run_id: RowId, user: CurrentUser, services: CurrentServices) -> ShownPlan:
    return await _shown(services, await open_plan(services.storage, run_id, user.id))


@router.put("", summary="Edit it; what is wrong with it is told", responses=responses(409))
async def edit_plan(run_id: RowId, body: PlanBody, user: CurrentUser, services: CurrentServices) -> ShownPlan:
    found = await open_plan(services.storage, run_id, user.id)
    return await _shown(services, await edited(services.storage, found, body.document, body.version))


@router.post("/dry-run", summary="Go through it without calling anything", responses=responses(400))
async def dry_run(run_id: RowId, user: CurrentUser, services: CurrentServices) -> DryRun:
    found = await open_plan(services.storage, run_id, user.id)
    agents, chosen = services.agents, services.settings
    docs = await _read(await agents.evidence(found.request, user.id), found)
    wrong = await asyncio.to_thread(problems, found.document, Surroundings(docs, found.given, chosen.max_depth))
    refuse(wrong)
    rules = (await agents.container()).policy("offline")
    given = await given_results(services.storage, found)
    calls = await tried(found.document, found.request, docs, given, rules, await agents.recorded())
    model = found.run.policy == "llm"
    takes = expected(found.document, docs, calls, model=model, learns=chosen.learn, price=_price(chosen))
    return DryRun(
        calls=calls,
        changes=tuple(dict.fromkeys(call.tool for call in calls if call.changes)),
        model_calls=takes.model_calls,
        tokens=takes.tokens,
        cost=takes.cost,
        note=_NOTE + (_ESTIMATE if model else ""),
    )


def _price(settings: Settings) -> Price | None:
    prompt, completion = settings.model_price_prompt, settings.model_price_completion
    return None if prompt is None or completion is None else Price(prompt, completion)


async def approved(services: Services, run_id: str, input_id: str, user_id: str) -> Input:
    """Have a plan carried out as it stands. ``UsageError`` with its problems, while it has any."""
    found = await open_plan(services.storage, run_id, user_id)
    if found.input != input_id:
        raise NotFoundError("the run does not wait with this plan")
    around = await surroundings(services, found)
    refuse(await asyncio.to_thread(problems, found.document, around))
    return await approve(services.storage, found, (around.docs or {}).values())


async def surroundings(services: Services, found: OpenPlan) -> Surroundings:
    """What a plan is checked against."""
    evidence = await services.agents.evidence(found.request, found.run.user_id)
    return Surroundings(await _read(evidence, found), found.given, services.settings.max_depth)


async def _shown(services: Services, found: OpenPlan) -> ShownPlan:
    evidence = await services.agents.evidence(found.request, found.run.user_id)
    docs = await _read(evidence, found)
    around = Surroundings(docs, found.given, services.settings.max_depth)
    wrong = await asyncio.to_thread(problems, found.document, around)
    fits = len(found.document.steps) <= around.depth
    proposed = await suggestions(found.document, found.given, found.request, evidence) if fits else ()
    known = dict(docs) | {one.tool: evidence.doc(one.tool) for one in proposed}
    return ShownPlan(
        version=found.version,
        input=found.input,
        document=found.document,
        given=found.given,
        tools=_tools(known),
        problems=wrong,
        suggestions=proposed,
    )


def _tools(docs: Mapping[ToolId, ToolDoc]) -> list[ShownTool]:
    return [
        ShownTool(
            id=doc.id,
            api=doc.api,
            description=doc.description,
            changes=not doc.safe,
            why=doc.effect.why,
            host=doc.host,
            parameters=schema_of(doc),
        )
        for doc in docs.values()
    ]


async def _read(evidence: Evidence, found: OpenPlan) -> Mapping[ToolId, ToolDoc]:
    """The documents of the tools that a plan names, as far as there are any."""
    named: Sequence[ToolId] = list(dict.fromkeys((*found.given, *(step.tool for step in found.document.steps))))
    await evidence.read(named)
    return {tool: evidence.doc(tool) for tool in named if evidence.has(tool)}
