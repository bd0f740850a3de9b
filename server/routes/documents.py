"""What a run has done as a document, and a run once more: as it was, or with other steps and values."""

from fastapi import APIRouter
from pydantic import BaseModel, Field
from pydantic.types import JsonValue

from domain.errors import NotFoundError, NotLinearError
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.drawn_documents import (
    check_document,
    drawn_from,
    schema_for,
    settings_with,
)
from server.routes.given_documents import GivenDocument
from server.routes.runs import ShownRun, begun
from server.routes.texts import RowId
from server.routes.tools import tools_of
from server.services import Services
from server.storage.runs import Run, RunChoices

router = APIRouter(prefix="/runs/{run_id}", tags=["runs"], responses=problems(401, 404))


class ShownParameter(BaseModel):
    """A value that may be another one next time. ``step`` counts from 1; ``value_schema``: JSON Schema of what it may be."""

    name: str
    step: int
    parameter: str
    value: JsonValue
    value_schema: JsonObject = Field(serialization_alias="schema")


class ShownDocument(BaseModel):
    document: PlanDocument
    parameters: list[ShownParameter]


class RerunBody(BaseModel):
    document: GivenDocument | None = Field(
        default=None, description="The steps to carry out; without them the same is asked once more."
    )


@router.get("/document", summary="The calls that a finished run made, as a plan", responses=problems(409))
async def document(run_id: RowId, user: CurrentUser, services: CurrentServices) -> ShownDocument:
    made, offered = await drawn_from(await own(run_id, user.id, services), services)
    docs = (await tools_of(made, services) if made.steps else None) or {}
    shown = [
        ShownParameter(
            name=one.name,
            step=one.step,
            parameter=one.parameter,
            value=one.value,
            value_schema=schema_for(docs.get(made.steps[one.step - 1].tool), one.parameter, one.value),
        )
        for one in offered
    ]
    return ShownDocument(document=made, parameters=shown)


@router.post(
    "/rerun",
    status_code=202,
    summary="Run the same once more, or with a changed document",
    responses=problems(400, 429),
)
async def rerun(run_id: RowId, body: RerunBody, caller: CurrentCaller, services: CurrentServices) -> ShownRun:
    run = await own(run_id, caller.user.id, services)
    settings = run.settings
    if body.document is not None:
        proven = await _proven(run, services)
        docs = await tools_of(body.document, services)
        await check_document(body.document, docs, services, proven)
        settings = settings_with(body.document, run)
    kept = RunChoices.model_validate(run.model_dump(include=set(RunChoices.model_fields)))
    choices = kept.model_copy(update={"settings": settings, "rerun_of": run.id})
    return await begun(caller, run.conversation_id, run.request, choices, services)


async def _proven(run: Run, services: Services) -> PlanDocument | None:
    """What a run has carried out, as far as it has ended and steps can say it."""
    try:
        return (await drawn_from(run, services))[0] if run.status == "finished" else None
    except NotLinearError:
        return None


async def own(run_id: str, user_id: str, services: Services) -> Run:
    """A run of this user. ``NotFoundError`` where there is none."""
    if (found := await services.storage.runs.get(run_id, user_id)) is None:
        raise NotFoundError("there is no such run")
    return found
