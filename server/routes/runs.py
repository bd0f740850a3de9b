"""Runs: asked for in a conversation, looked at, followed, ended."""

import asyncio
from typing import Annotated, Literal

from fastapi import Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.planners.registry import choose_default_planner
from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_inputs import resolve_input_values
from domain.errors import NotFoundError, UsageError
from domain.event import RunFinished
from domain.model import JsonObject
from domain.program import ProgramPlan
from server.dependencies import Caller, CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.choices import check_choices
from server.routes.drawn_documents import check_document
from server.routes.files import check_files
from server.routes.given_documents import GivenDocument
from server.routes.given_programs import GivenWholeProgram
from server.routes.router import operations
from server.routes.streams import MEDIA_TYPE, sent
from server.routes.texts import Plain, RowId
from server.routes.tools import tools_of
from server.routes.written_programs import written_plan
from server.runs.approvals import READS_ONLY
from server.runs.conversation_context import FILES
from server.runs.event_journal import parse_events
from server.runs.event_stream import stream_events
from server.runs.given_plans import build_plan_settings
from server.services import Services
from server.storage.runs import ListedRun, Run, RunChoices
from server.storage.usage import DailyTotal, OwnLimits
from server.token_scopes import by_token

router = operations("", tag="runs", responses=problems(401))
Request = Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True), Plain]

Policy = Literal["offline", "llm"]
ModelName = Annotated[
    str,
    StringConstraints(max_length=200),
    Plain,
    Field(description="For the policy llm: one of GET /choices; empty: the default one."),
]


class RunBody(BaseModel):
    request: Request = Field(examples=["Which public holidays does Caldera have in 2026?"])
    planner: Annotated[str, StringConstraints(max_length=40)] = Field(
        default="",
        examples=["dfs"],
        description="One of GET /choices; empty: the usual one, program.",
    )
    policy: Policy = "offline"
    model: ModelName = ""
    stop_at_plan: bool = Field(default=False, description="Wait with each plan until it is approved, edited or not.")
    document: GivenDocument | None = Field(default=None, description="The steps to carry out; nothing is planned then.")
    program: GivenWholeProgram | None = Field(default=None, description="The same, as a program with its inputs.")
    files: list[RowId] = Field(
        default_factory=list[RowId], max_length=20, description="Ids of files of the conversation that it is about."
    )


class ShownRun(ListedRun):
    """``last_event``: the number of the last one stored, 0 while there is none."""

    model_config = ConfigDict(extra="ignore")

    last_event: int = 0


class AnsweredRun(ShownRun):
    """``answer``: what it came to; why it came to nothing, where it did. Empty until it has ended."""

    answer: str = ""


@router.post(
    "/conversations/{conversation_id}/runs",
    status_code=202,
    summary="Ask something; follow the run's events for the answer",
    responses=problems(400, 404, 429),
)
@by_token("ask")
async def start_run(
    conversation_id: RowId, body: RunBody, caller: CurrentCaller, services: CurrentServices
) -> ShownRun:
    planner = body.planner or choose_default_planner(body.policy)
    await check_choices(planner, body.policy, body.model, services)
    if body.stop_at_plan and planner == "react":
        raise UsageError("the planner react goes by what each call gives, so it has no plan to stop at; choose another")
    plan = await _given(body, services)
    settings: JsonObject = {"stop_at_plan": True} if body.stop_at_plan else {}
    settings = settings if plan is None else build_plan_settings(plan)
    if body.files:
        settings = {**settings, FILES: [*dict.fromkeys(body.files)]}
    choices = RunChoices(planner=planner, policy=body.policy, model=body.model, settings=settings)
    await check_files(body.files, choices, conversation_id, caller.user.id, services)
    return await begun(caller, conversation_id, body.request, choices, services)


async def _given(body: RunBody, services: Services) -> ProgramPlan | None:
    """The plan that a run is asked for with, as the program that it is. ``UsageError`` with what is wrong with it."""
    if body.document is None and body.program is None:
        return None
    if body.stop_at_plan or (body.document is not None and body.program is not None):
        raise UsageError("send one plan, as a document or as a program; it is carried out as it stands, with no stop")
    if body.program is not None:
        plan = await written_plan(body.program, services)
    else:
        assert body.document is not None  # noqa: S101  # one of both is there
        docs = await tools_of(body.document, services)
        await check_document(body.document, docs, services)
        plan = await asyncio.to_thread(compile_plan, body.document, docs or {})
    resolve_input_values(plan)
    return plan


async def begun(
    caller: Caller, conversation_id: str, request: str, choices: RunChoices, services: Services
) -> ShownRun:
    """A new run, queued.

    Raises:
        NotFoundError: this user has no such conversation. BusyError: too many of the user's runs are open. OverLimitError: what the
            user may use in a day is used up.
    """
    runs, most = services.storage.runs, services.settings.user_runs
    settings = {name: value for name, value in choices.settings.items() if name != READS_ONLY}
    if not caller.may("run_changes"):
        settings[READS_ONLY] = True

    def within(used: DailyTotal, own: OwnLimits) -> None:
        services.limits.quotas.of(own).check_run(used, choices.policy)

    run = await runs.add(
        caller.user.id,
        conversation_id,
        request,
        choices.model_copy(update={"settings": settings}),
        add_message=True,
        max_open=most,
        session_id=caller.session_id,
        check_limits=within,
    )
    services.traces.asked(run.id)
    services.worker.wake()
    return shown(run)


@router.get("/conversations/{conversation_id}/runs", summary="The runs of a conversation", responses=problems(404))
@by_token("read")
async def runs(
    conversation_id: RowId,
    user: CurrentUser,
    services: CurrentServices,
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[ShownRun]:
    if await services.storage.conversations.get(conversation_id, user.id) is None:
        raise NotFoundError("there is no such conversation")
    found = await services.storage.runs.list_page(
        user.id, conversation_id=conversation_id, before=before or "", limit=limit
    )
    last = await services.storage.events.find_last_numbers([run.id for run in found])
    return [shown(run, last.get(run.id, 0)) for run in found]


@router.get("/runs/{run_id}", summary="How a run stands, and what it answered", responses=problems(404))
@by_token("read")
async def run(run_id: RowId, user: CurrentUser, services: CurrentServices) -> AnsweredRun:
    found = await services.storage.runs.get_with_end(run_id, user.id)
    if found is None:
        raise _no_run()
    ends = await parse_events([found.end] if found.end else [])
    answers = [one.event.answer for one in ends if isinstance(one.event, RunFinished)]
    return AnsweredRun(**shown(found.run, found.last_event).model_dump(), answer=answers[-1] if answers else "")


@router.get(
    "/runs/{run_id}/events",
    summary="A run's events as they come, to its last",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE: {}}, "description": "Server-sent events."}, **problems(404)},
)
@by_token("read")
async def run_events(
    run_id: RowId,
    caller: CurrentCaller,
    services: CurrentServices,
    last_event_id: Annotated[
        int | None,
        Header(ge=0, le=2**31 - 1, description="Only those after this number; a browser sends it by itself."),
    ] = None,
    after: Annotated[int, Query(ge=0, le=2**31 - 1, description="The same, where a header cannot be set.")] = 0,
) -> StreamingResponse:
    await _own(run_id, caller.user.id, services)
    start = after if last_event_id is None else last_event_id
    heartbeat = services.settings.heartbeat_seconds
    allowed = services.followed.track(caller.session_id, caller.user.role)
    return sent(stream_events(services.storage, services.broker, run_id, start, allowed=allowed, heartbeat=heartbeat))


@router.post(
    "/runs/{run_id}/cancel",
    status_code=202,
    summary="End a run; what it found until then stays",
    responses=problems(404),
)
@by_token("ask")
async def cancel_run(run_id: RowId, user: CurrentUser, services: CurrentServices) -> ShownRun:
    cancelled = await services.storage.runs.cancel(run_id, user.id)
    services.worker.wake()
    return shown(cancelled, (await services.storage.events.find_last_numbers([run_id])).get(run_id, 0))


async def _own(run_id: str, user_id: str, services: CurrentServices) -> Run:
    if (found := await services.storage.runs.get(run_id, user_id)) is None:
        raise _no_run()
    return found


def _no_run() -> NotFoundError:
    return NotFoundError("there is no such run")


def shown(run: Run | ListedRun, last: int = 0) -> ShownRun:
    """A run as its user sees it."""
    return ShownRun(**run.model_dump(include=set(ShownRun.model_fields)), last_event=last)
