"""What a run has done as a plan, and a run once more: as it was, or with another plan or other values."""

import asyncio
import re
from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, Field, model_validator
from pydantic.types import JsonValue

from agent.plans.executed_plan import ExecutedPlan
from agent.plans.parameterization import infer_value_schema
from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_inputs import build_shown_schemas, map_shown_names, set_input_values
from domain.errors import NotFoundError, NotLinearError, UsageError
from domain.event import ProgramStarted
from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.drawn_documents import check_document, drawn_from
from server.routes.given_documents import MOST_PARAMETERS, GivenDocument
from server.routes.given_programs import GivenWholeProgram
from server.routes.router import operations
from server.routes.runs import ShownRun, begun
from server.routes.texts import RowId, ShortText
from server.routes.tools import tools_of
from server.routes.written_programs import written_plan
from server.runs.conversation_context import load_run_files
from server.runs.event_journal import parse_events
from server.runs.given_plans import build_plan_settings
from server.services import Services
from server.storage.runs import Run, RunChoices
from server.token_scopes import by_token

Change = tuple[JsonValue, JsonValue]
"""A value as it was, and as it is to be."""
router = operations("/runs/{run_id}", tag="runs", responses=problems(401, 404))


class ShownParameter(BaseModel):
    """A value that may be another one next time: of an ``input`` of the program, or of a ``parameter`` of a ``step`` of the document, counted from 1.
    ``value_schema``: JSON Schema of what it may be.
    """

    name: str
    value: JsonValue
    value_schema: JsonObject = Field(serialization_alias="schema")
    input: str | None = None
    step: int | None = None
    parameter: str | None = None


class ShownDocument(BaseModel):
    """``program``: with inputs for the values that may be others next time. ``document``: the same as steps, None where steps cannot say it, and then
    ``why_no_steps``.
    """

    program: ProgramPlan
    document: PlanDocument | None
    why_no_steps: str
    parameters: list[ShownParameter]


class RerunBody(BaseModel):
    """At most one of them; without any the same is asked once more."""

    document: GivenDocument | None = Field(default=None, description="The steps to carry out.")
    program: GivenWholeProgram | None = Field(default=None, description="The program to carry out.")
    values: dict[ShortText, JsonValue] | None = Field(
        default=None, max_length=MOST_PARAMETERS, description="Other values for inputs of what the run has done."
    )

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(one is not None for one in (self.document, self.program, self.values)) > 1:
            raise ValueError("give a document, a program or values, one of them")
        return self


@router.get("/document", summary="What a finished run did, as a plan", responses=problems(409))
@by_token("read")
async def document(run_id: RowId, user: CurrentUser, services: CurrentServices) -> ShownDocument:
    made = await drawn_from(await own(run_id, user.id, services), services)
    return ShownDocument(
        program=made.plan,
        document=made.document,
        why_no_steps=made.why_no_steps,
        parameters=_of_inputs(made.plan) or await _of_steps(made, services),
    )


def _of_inputs(plan: ProgramPlan) -> list[ShownParameter]:
    return [
        ShownParameter(
            name=shown,
            value=plan.values.get(name, plan.inputs[name].get("default")),
            value_schema=build_shown_schemas(plan)[shown],
            input=shown,
        )
        for shown, name in map_shown_names(plan).items()
    ]


async def _of_steps(made: ExecutedPlan, services: Services) -> list[ShownParameter]:
    document = made.document
    if document is None or not document.steps:
        return []
    docs = await tools_of(document, services) or {}
    return [
        ShownParameter(
            name=one.name,
            step=one.step,
            parameter=one.parameter,
            value=one.value,
            value_schema=infer_value_schema(docs.get(document.steps[one.step - 1].tool), one.parameter, one.value),
        )
        for one in made.parameter_candidates
    ]


@router.post(
    "/rerun",
    status_code=202,
    summary="Run the same once more, or with a changed program, document or values",
    responses=problems(400, 409, 429),
)
@by_token("ask")
async def rerun(run_id: RowId, body: RerunBody, caller: CurrentCaller, services: CurrentServices) -> ShownRun:
    run = await own(run_id, caller.user.id, services)
    plan, changes = await _changed(run, body, services)
    settings = run.settings if plan is None else build_plan_settings(plan, run)
    kept = RunChoices.model_validate(run.model_dump(include=set(RunChoices.model_fields)))
    choices = kept.model_copy(update={"settings": settings, "rerun_of": run.id})
    return await begun(caller, run.conversation_id, reworded(run.request, changes), choices, services)


def reworded(request: str, changes: Sequence[Change]) -> str:
    """A request that asks for the new values: each old one that stands in it once, as whole words, gives way. What is found is put in at once, so that
    no new value is taken for an old one.
    """
    given = {str(old): str(new) for old, new in changes if old != new and _is_told(old) and _is_told(new)}
    found = [one for one in given if len(re.findall(_whole(one), request)) == 1]
    if not found:
        return request
    longest_first = sorted(found, key=len, reverse=True)
    return re.sub("|".join(map(_whole, longest_first)), lambda one: given[one.group()], request)


def _is_told(value: JsonValue) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool) and bool(str(value).strip())


def _whole(text: str) -> str:
    return rf"(?<!\w){re.escape(text)}(?!\w)"


async def _changed(run: Run, body: RerunBody, services: Services) -> tuple[ProgramPlan | None, list[Change]]:
    """What is to be carried out, None for what the run is asked for with as it is; and which values are others now."""
    files = await load_run_files(run, services.storage)
    if body.program is not None:
        return await _tainted_as(run, await written_plan(body.program, services, files), services), []
    if body.values is not None:
        made = await drawn_from(run, services)
        before = _values(made.plan)
        plan, wrong = await asyncio.to_thread(set_input_values, made.plan, {**before, **body.values})
        if wrong:
            raise UsageError(
                " ".join(said for _, said in wrong), tuple((f"values.{name}".rstrip("."), said) for name, said in wrong)
            )
        return plan, [(before[name], value) for name, value in body.values.items() if name in before]
    if body.document is None:
        return None, []
    docs, proven = await tools_of(body.document, services), await _proven(run, services)
    await check_document(body.document, docs, services, proven)
    changes = [
        (old.arguments[name], value)
        for old, new in zip(proven.steps if proven else (), body.document.steps, strict=False)
        if old.tool == new.tool
        for name, value in new.arguments.items()
        if name in old.arguments
    ]
    return await asyncio.to_thread(compile_plan, body.document, docs or {}), changes


async def _tainted_as(run: Run, plan: ProgramPlan, services: Services) -> ProgramPlan:
    """A text that is given in place of one that was written after its author had seen responses may hold words of theirs as well."""
    records = await parse_events(await services.storage.events.list_kinds(run.id, ("program.started",)))
    if not any(isinstance(one.event, ProgramStarted) and one.event.program.tainted for one in records):
        return plan
    return plan.model_copy(update={"program": plan.program.model_copy(update={"tainted": True})})


def _values(plan: ProgramPlan) -> JsonObject:
    """Those that a plan has, by the shown names of its inputs."""
    return {shown: plan.values[name] for shown, name in map_shown_names(plan).items() if name in plan.values}


async def _proven(run: Run, services: Services) -> PlanDocument | None:
    """What a run has carried out, as far as it has ended and steps can say it."""
    try:
        return (await drawn_from(run, services)).document if run.status == "finished" else None
    except NotLinearError:
        return None


async def own(run_id: str, user_id: str, services: Services) -> Run:
    """A run of this user. ``NotFoundError`` where there is none."""
    if (found := await services.storage.runs.get(run_id, user_id)) is None:
        raise NotFoundError("there is no such run")
    return found
