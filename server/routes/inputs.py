"""What runs ask their users, and the answers."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, cast

from fastapi import Path
from pydantic import BaseModel, Field, StrictInt, StringConstraints

from agent.execution.redaction import contains_secret
from agent.execution.validation import build_arguments_schema
from agent.user_questions import MAX_ANSWER_CHARS, UserQuestion
from domain.errors import ConflictError, ForbiddenError, NotFoundError, UsageError
from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.provenance import AskedCall, ValueKind, ValueOrigin
from server.dependencies import Caller, CurrentCaller, CurrentServices, CurrentUser
from server.problems import problems
from server.routes.plans import approved
from server.routes.router import operations
from server.routes.texts import RowId
from server.runs.call_corrections import Correction, check_corrections, parse_corrections, restore_tool
from server.runs.questions import BY_ANOTHER
from server.services import Services
from server.storage.permissions import CallTarget
from server.storage.run_records import InputKind, RunQuestion
from server.token_scopes import by_token

router = operations("/runs/{run_id}/inputs", tag="runs", responses=problems(401, 404))
InputId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9:-]+$"),
    Path(description="The question's id."),
]
Decision = Literal["allow", "deny", "happened", "did_not_happen", "leave", "answer"]
_LEAVE: tuple[Decision, ...] = ("allow", "deny")
DECISIONS: Mapping[InputKind, tuple[Decision, ...]] = {
    "plan": _LEAVE,
    "call": _LEAVE,
    "flow": _LEAVE,
    "unknown_outcome": ("happened", "did_not_happen", "leave"),
    "question": ("answer", "deny"),
}
_APPROVE_NOTHING: tuple[Decision, ...] = ("answer", "deny", "leave")
"""Decisions that a program's token may make."""


class DecisionBody(BaseModel):
    """``allow`` and ``deny`` are about a call, a plan or a flow from host to host; ``answer`` and ``deny`` about a question; the others about a call of
    which nobody knows whether it took effect.
    """

    decision: Decision = Field(
        examples=["allow"],
        description="happened: it counts as made. did_not_happen: it is made again, once. leave: it stays unknown. "
        "deny of a question: it is not answered.",
    )
    answer: (
        Annotated[str, StringConstraints(strict=True, min_length=1, max_length=MAX_ANSWER_CHARS)] | StrictInt | None
    ) = Field(
        default=None,
        description="With answer: what is said to the question, or the place of one of its choices, from 0.",
    )
    version: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="With allow of a plan: the version that was read; where it is another by now, that is told (409). Without it: the plan as it stands.",
    )
    always: bool = Field(
        default=False,
        description="With allow of a call: do not ask for this tool again, in any run, while it is where it is and its values have such origins. "
        "With allow or deny of a flow: do not ask about these two hosts again, in any run; without it, the answer is for this run.",
    )
    corrections: Annotated[
        list[Correction],
        Field(
            default_factory=list,
            max_length=500,
            description="With allow: other values for arguments of its calls, or that a call of several is left out; the others are made.",
        ),
    ]


class ShownInput(BaseModel):
    """``decision`` None: it is open. ``answer``: what was said to a question. ``host``: where the call goes; ``origins``: where each of its
    arguments really comes from. ``calls``: all that one answer is about, where they are several calls of one tool. ``accepts``: JSON Schema
    of a call's arguments, where values may be corrected; ``corrections``: those that the answer held.
    """

    id: str
    asks: InputKind
    tool: str
    arguments: JsonObject
    reason: str
    plan: PlanDocument | None = None
    program: ProgramPlan | None = None
    choices: tuple[str, ...] = ()
    summary: str = ""
    undo: str = ""
    host: str = ""
    origins: tuple[ValueOrigin, ...] = ()
    calls: tuple[AskedCall, ...] = ()
    accepts: JsonObject | None = None
    corrections: tuple[Correction, ...] = ()
    asked_at: datetime
    decision: Decision | None
    answer: str = ""
    answered_at: datetime | None


@router.get("", summary="What a run asks, and what was answered")
@by_token("read")
async def inputs(run_id: RowId, user: CurrentUser, services: CurrentServices) -> list[ShownInput]:
    if await services.storage.runs.get(run_id, user.id) is None:
        raise NotFoundError("there is no such run")
    return [_shown(one) for one in await services.storage.run_questions.list_all(run_id)]


@router.post("/{input_id}", summary="Answer a run, which then goes on", responses=problems(400, 409))
@by_token("ask")
async def answer(
    run_id: RowId, input_id: InputId, body: DecisionBody, caller: CurrentCaller, services: CurrentServices
) -> ShownInput:
    """A program's token answers a question or denies a call; what is to be done is allowed by a person."""
    return await answer_run(run_id, input_id, body, caller, services)


async def answer_run(run_id: str, input_id: str, body: DecisionBody, caller: Caller, services: Services) -> ShownInput:
    """Store the caller's decision and queue the run again. Every answer goes through here, whichever protocol it came by.

    Raises:
        ForbiddenError: the decision approves something, and the caller has a program's token.
        NotFoundError, UsageError, ConflictError: there is no such question; it is answered otherwise; it was answered before.
    """
    if body.decision not in _APPROVE_NOTHING and not caller.may_approve:
        raise ForbiddenError("no program's token may approve: allow it on the page, logged in with name and password")
    user = caller.user
    asked = await _asked(services, run_id, input_id, user.id)
    kind = asked.kind
    if body.decision not in DECISIONS[kind]:
        raise UsageError(f"this question is answered with one of: {', '.join(DECISIONS[kind])}")
    if body.always and kind != "flow" and (body.decision != "allow" or kind != "call"):
        raise UsageError("always goes with allow of a call, and with allow or deny of what goes from host to host")
    if body.corrections and (body.decision != "allow" or kind != "call"):
        raise UsageError("only a call that is allowed can be corrected")
    if body.version is not None and (body.decision != "allow" or kind != "plan"):
        raise UsageError("only a plan that is allowed has a version")
    if kind == "plan" and body.decision == "allow":
        if asked.answered_at is not None:
            raise ConflictError("this was answered already")
        answered = _shown(await approved(services, run_id, input_id, user.id, body.version))
    else:
        said = await _said(asked, body)
        answered = _shown(await services.storage.run_questions.answer(run_id, input_id, user.id, said))
    if body.always and kind == "call":
        reach = CallTarget.model_validate(_question(asked).get("reach", {}))
        await services.storage.allowed_tools.allow(user.id, answered.tool, reach, _kinds(answered))
    if body.always and kind == "flow":
        hosts, allowed = _question(asked)["flow"], body.decision == "allow"
        await services.storage.host_transfers.decide(user.id, hosts["source"], hosts["target"], allowed=allowed)
    services.worker.wake()
    return answered


async def _said(asked: RunQuestion, body: DecisionBody) -> JsonObject:
    """The answer as it is kept: in its user's words, or with corrections, which are checked against the tool's schema."""
    if (body.decision == "answer") != (body.answer is not None):
        raise UsageError("answer goes with the decision answer, which needs it")
    if body.answer is not None:
        said = UserQuestion("", "", tuple(_question(asked).get("choices", ()))).resolve_answer(body.answer)
        if not said:
            raise UsageError("the answer says nothing, or there is no choice at that place; the first is 0")
        told = _question(asked)
        if told.get(BY_ANOTHER) and said not in told.get("choices", ()) and contains_secret(said):
            raise UsageError(
                "the answer holds what looks like a key or a card number, and another user's program asks: "
                "answer without it, or with deny"
            )
        return {"decision": body.decision, "answer": said}
    if not body.corrections:
        return {"decision": body.decision}
    kept = await asyncio.to_thread(check_corrections, asked, body.corrections)
    return {"decision": body.decision, "corrections": [one.model_dump(mode="json") for one in kept]}


async def _asked(services: Services, run_id: str, input_id: str, user_id: str) -> RunQuestion:
    run = await services.storage.runs.get(run_id, user_id)
    asked = None if run is None else await services.storage.run_questions.get(run_id, input_id)
    if asked is None:
        raise NotFoundError("no run of yours asks this")
    return asked


def _question(asked: RunQuestion) -> dict[str, Any]:
    return cast("dict[str, Any]", asked.question)


def _kinds(shown: ShownInput) -> set[ValueKind]:
    """What leave is given for that was asked for with these values: for such, and for what a user says. What was corrected counts as that."""
    each = [one.origins for one in shown.calls] or [shown.origins]
    corrected = {one.call: one for one in shown.corrections}
    left = [Correction(call=at) if at not in corrected else corrected[at] for at in range(len(each))]
    told = [(one, origin) for one, origins in zip(left, each, strict=True) for origin in origins]
    return {"said", *(origin.kind for one, origin in told if not one.skip and origin.parameter not in one.arguments)}


def _shown(one: RunQuestion) -> ShownInput:
    told = cast("dict[str, Any]", one.answer or {})
    tool = restore_tool(one)
    return ShownInput(
        accepts=build_arguments_schema(tool) if tool is not None else None,
        corrections=tuple(parse_corrections(told)),
        id=one.key,
        asks=one.kind,
        asked_at=one.asked_at,
        decision=told.get("decision"),
        answer=told.get("answer", ""),
        answered_at=one.answered_at,
        **_question(one),
    )
