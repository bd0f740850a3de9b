"""Developer mode: the plan that a run waits with is looked at, edited, tried out, and approved by answering its question."""

import re
from dataclasses import replace

from pydantic import BaseModel, Field, model_validator

from agent.plans.cost_estimate import ModelPrice, estimate_cost
from agent.plans.dry_run import DryRunContext, TriedCall, TriedLine, simulate_plan
from agent.plans.plan_text_check import PlanComplaint
from agent.programs.program_verdict import ProgramClaim
from domain.errors import ConflictError, NotFoundError
from domain.plan import PlanDocument
from domain.program import Program, ProgramPlan
from domain.tool import ToolId
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems as responses
from server.routes.given_documents import GivenDocument
from server.routes.given_programs import GivenProgram, SentProgram
from server.routes.router import operations
from server.routes.shown_plans import ShownPlan, shown_plan
from server.routes.texts import RowId
from server.runs.waiting_plans import (
    CheckedOpenPlan,
    PlanFunctions,
    WaitingPlan,
    approve_plan,
    check_open_plan,
    load_given_results,
    load_plan_functions,
    load_waiting_plan,
    store_edited_plan,
)
from server.services import Services
from server.storage.repository import get_utc_now
from server.storage.run_records import RunQuestion
from server.token_scopes import by_token
from wiring.settings import Settings

_NOTE = "Nothing was called: the responses are recorded ones, or examples of the tools' documents, and may differ from live ones."
_ESTIMATE = " Calls and tokens of the model are an estimate, without what long responses and second tries add."
router = operations("/runs/{run_id}/plan", tag="plans", responses=responses(401, 404))


class PlanBody(BaseModel):
    """``version``: of the plan that this one is put in place of. Either a ``program`` or, as steps, a ``document``."""

    version: int = Field(ge=0, le=2**31 - 1)
    document: GivenDocument | None = None
    program: GivenProgram | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "PlanBody":
        if (self.document is None) == (self.program is None):
            raise ValueError("a plan is a program or a document: send one of them")
        return self


class CheckedText(BaseModel):
    """``complaints``: by line and column; empty: it can be carried out. ``document``: the steps that it is, where it is no more than steps, else ``why_no_steps``."""

    complaints: tuple[PlanComplaint, ...]
    document: PlanDocument | None
    why_no_steps: str
    speaks: bool


class DryRun(BaseModel):
    """``text``: what was gone through, of which ``lines`` tells. ``says``: what it would answer. ``stopped``: why it went no further than ``stopped_line``.
    ``changes``: the tools whose calls may change something. ``cost``: of the model's tokens, where the settings know their price.
    """

    text: str
    lines: tuple[TriedLine, ...]
    calls: tuple[TriedCall, ...]
    says: ProgramClaim | None
    stopped: str
    stopped_line: int
    changes: tuple[ToolId, ...]
    model_calls: int
    tokens: int
    cost: float | None
    note: str


@router.get("", summary="The plan that a run waits with")
@by_token("read")
async def plan(run_id: RowId, user: CurrentUser, services: CurrentServices) -> ShownPlan:
    return await _shown(services, await load_waiting_plan(services.storage, run_id, user.id))


@router.put("", summary="Edit it; what is wrong with it is told", responses=responses(409))
async def edit_plan(run_id: RowId, body: PlanBody, user: CurrentUser, services: CurrentServices) -> ShownPlan:
    found = await load_waiting_plan(services.storage, run_id, user.id)
    new = body.document
    if body.program is not None:
        functions = await load_plan_functions(services.agents, found)
        new = _written(body.program, functions)
    assert new is not None  # noqa: S101  # the body has one of both
    return await _shown(services, await store_edited_plan(services.storage, found, new, body.version))


@router.post("/check", summary="What is wrong with a text; nothing is kept")
@by_token("ask")
async def check_text(run_id: RowId, body: GivenProgram, user: CurrentUser, services: CurrentServices) -> CheckedText:
    found = await load_waiting_plan(services.storage, run_id, user.id)
    functions = await load_plan_functions(services.agents, found)
    plan = replace(found, plan=_written(body, functions))
    told = await check_open_plan(services.agents, plan, functions, services.settings.max_depth)
    return CheckedText(
        complaints=told.complaints, document=told.document, why_no_steps=told.why_no_steps, speaks=told.speaks
    )


@router.post("/dry-run", summary="Go through it line by line without calling anything", responses=responses(400))
@by_token("ask")
async def dry_run(run_id: RowId, user: CurrentUser, services: CurrentServices) -> DryRun:
    found = await load_waiting_plan(services.storage, run_id, user.id)
    agents, chosen = services.agents, services.settings
    told, functions = await _read(services, found)
    told.raise_problems()
    container = await agents.get_container()
    around = DryRunContext(
        request=found.request,
        today=(chosen.today or get_utc_now().date()).isoformat(),
        docs=functions.docs,
        earlier_steps=await load_given_results(services.storage, found),
        policy=container.create_policy("offline"),
        recorded=await agents.get_replay_executor(),
        sandbox=container.sandbox(),
    )
    gone = await simulate_plan(told.executable, around)
    model = found.run.policy == "llm"
    takes = estimate_cost(gone, functions.docs, has_model=model, rephrases=chosen.phrase, price=_price(chosen))
    return DryRun(
        text=gone.text,
        lines=gone.lines,
        calls=gone.calls,
        says=gone.says,
        stopped=gone.stopped,
        stopped_line=gone.stopped_line,
        changes=tuple(dict.fromkeys(call.tool for call in gone.calls if call.changes)),
        model_calls=takes.model_calls,
        tokens=takes.tokens,
        cost=takes.cost,
        note=_NOTE + (_ESTIMATE if model else ""),
    )


def _price(settings: Settings) -> ModelPrice | None:
    prompt, completion = settings.model_price_prompt, settings.model_price_completion
    return None if prompt is None or completion is None else ModelPrice(prompt, completion)


async def approved(
    services: Services, run_id: str, input_id: str, user_id: str, version: int | None = None
) -> RunQuestion:
    """Have a plan carried out as it stands. ``UsageError`` with what is wrong with it, while anything is; ``ConflictError``: it is at another version
    than the one that its user has read.
    """
    found = await load_waiting_plan(services.storage, run_id, user_id)
    if found.input != input_id:
        raise NotFoundError("the run does not wait with this plan")
    if version is not None and found.version != version:
        raise ConflictError(f"the plan is at version {found.version}, not {version}; read it again")
    told, functions = await _read(services, found)
    told.raise_problems()
    called = set(told.executable.program.tools.values())
    return await approve_plan(
        services.storage, found, told.executable, [doc for tool, doc in functions.docs.items() if tool in called]
    )


async def _shown(services: Services, found: WaitingPlan) -> ShownPlan:
    told, functions = await _read(services, found)
    return await shown_plan(found, told, functions, services.settings.max_depth)


async def _read(services: Services, found: WaitingPlan) -> tuple[CheckedOpenPlan, PlanFunctions]:
    functions = await load_plan_functions(services.agents, found)
    return await check_open_plan(services.agents, found, functions, services.settings.max_depth), functions


def _written(sent: SentProgram, functions: PlanFunctions) -> ProgramPlan:
    """What was sent, over the functions that it may call; not checked."""
    words = set(re.findall(r"\w+", sent.text))
    tools = {name: tool for name, tool in functions.tools.items() if name in words}
    return ProgramPlan(program=Program(text=sent.text, tools=tools), inputs=sent.inputs, values=sent.values)
