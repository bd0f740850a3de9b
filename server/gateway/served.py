"""The server's store and runs for one of its users: their keys, visibility, rights and quotas, as in the API."""

import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from agent.execution.secret_store import SecretStore
from agent.planners.registry import choose_default_planner
from agent.scheduler import closing
from agent.text import clean_text
from domain.errors import ConflictError, NotFoundError, UnauthenticatedError, UnavailableError
from domain.event import EventRecord, InputNeeded, RunFinished
from domain.model import JsonObject
from domain.provenance import AskedCall, describe_origin
from server.dependencies import Caller
from server.gateway.approving import value_told
from server.gateway.backend import OwnerApprovalNeeded, Person, Task
from server.gateway.following import Followed
from server.gateway.serving import Session
from server.routes.choices import models_of
from server.routes.inputs import DecisionBody, answer_run
from server.routes.runs import begun
from server.runs.agent_runtime import REMEMBER_REQUEST
from server.runs.conversation_context import ALONE
from server.runs.event_journal import parse_events
from server.runs.event_stream import stream_events
from server.runs.given_plans import build_plan_settings
from server.services import Services
from server.storage.audit import AuditedAction
from server.storage.runs import RunChoices
from server.storage.tokens import Scope
from server.token_scopes import check_scope
from wiring.container import Container

_log = logging.getLogger(__name__)
_HAPPENED = {"It took effect": "happened", "It did not": "did_not_happen"}
_HOW_ELSE = (
    "This client cannot ask its user, so {what} was not allowed. Use a client with elicitation; or ask on Footpath's page, "
    "where the call can be allowed, once or always: what is always allowed there is then made for ask, too."
)
_WAITING = 100
"""Runs of a session that are remembered while they wait for their owner; each user may have fewer open."""


@dataclass(frozen=True, slots=True)
class ServedBackend:
    """One caller's. ``client``: what the client calls itself."""

    services: Services
    caller: Caller
    container: Container
    session: Session
    client: str = ""
    followed: Followed = field(default_factory=Followed)

    @property
    def owner(self) -> str:
        """The user's own."""
        return self.caller.user.id

    def check_scope(self, needed: Scope) -> None:
        """Raise ``ForbiddenError`` where the caller's token may not do this."""
        check_scope(self.caller.scopes, needed)

    async def secrets(self) -> SecretStore:
        """The user's own, and what is lent to everyone."""
        return await self.services.agents.get_user_secrets(self.owner)

    async def run(self, task: Task, person: Person) -> AsyncGenerator[EventRecord]:
        """Follow a run of the server's to its end, and put what it asks to the person. It is cancelled where nobody follows it any more.

        What only its owner can approve is not put to a client with a token, whose answer may be that of a program: such a run is left
        waiting, and followed again from its first event when the session brings the same task.
        """
        run = await self._find_waiting(task) or await self._begun(task)
        services, user, ended, waits = self.services, self.caller.user, False, False
        try:
            async with closing(self._events(run)) as records:
                async for record in records:
                    ended = isinstance(record.event, RunFinished)
                    yield record
                    if isinstance(record.event, InputNeeded) and await self._is_open(run, record.event):
                        if waits := record.event.asks != "question" and not self.caller.may_approve:
                            raise self._leave_waiting(task, run, record.event)
                        await self._put(run, record.event, person)
            if not ended:
                raise self._why_not()
        finally:
            if not (ended or waits or services.broker.closed):
                await services.storage.runs.cancel(run, user.id)
                services.worker.wake()

    async def _find_waiting(self, task: Task) -> str | None:
        """Return the run that was left waiting with this task, unless it was removed meanwhile."""
        run = self.session.waiting.pop(task.digest, "")
        return run if run and await self.services.storage.runs.get(run, self.owner) is not None else None

    async def _is_open(self, run: str, asked: InputNeeded) -> bool:
        """Return whether a question is still unanswered. A run that is followed again tells of those before, too."""
        question = await self.services.storage.run_questions.get(run, asked.input)
        return question is not None and question.answered_at is None

    def _leave_waiting(self, task: Task, run: str, asked: InputNeeded) -> OwnerApprovalNeeded:
        waiting = self.session.waiting
        waiting[task.digest] = run
        while len(waiting) > _WAITING:
            del waiting[next(iter(waiting))]
        address = self.services.settings.public_address.rstrip("/")
        link = f" ({address}/?conversation={self.session.conversation})" if address else ""
        return OwnerApprovalNeeded(run, f"{asked.reason} {asked.summary}".strip(), f"Footpath's page{link}")

    async def _begun(self, task: Task) -> str:
        """The id of a new run. Each stands alone: a client keeps its conversation itself."""
        policy = "llm" if await models_of(self.services) else "offline"
        settings: JsonObject = {} if task.plan is None else build_plan_settings(task.plan)
        settings |= {ALONE: True, REMEMBER_REQUEST: task.worded}
        choices = RunChoices(planner=choose_default_planner(policy), policy=policy, settings=settings)
        await self._write_down(task)
        try:
            await self._have_conversation()
            run = await begun(self.caller, self.session.conversation, task.request, choices, self.services)
        except NotFoundError:  # its user has removed it meanwhile
            self.session.conversation = ""
            await self._have_conversation()
            run = await begun(self.caller, self.session.conversation, task.request, choices, self.services)
        return run.id

    async def _write_down(self, task: Task) -> None:
        """What a program with a token begins is in the audit log: not what was asked, but who had it done."""
        user = self.caller.user
        if self.caller.program is None:
            return
        deed = AuditedAction(
            user_id=user.id, name=user.name, role=user.role, via="token", label=self.caller.program, operation="mcp_run",
            about="Begin a run over MCP", path="POST /mcp", said={"client": clean_text(self.client, 100), "plan": task.plan is not None},
        )  # fmt: skip
        await self.services.storage.audit_log.begin(deed, 202)

    async def _have_conversation(self) -> None:
        if not self.session.conversation:
            title = clean_text(f"MCP: {self.client}" if self.client else "MCP", 100)
            made = await self.services.storage.conversations.add(self.caller.user.id, title)
            self.session.conversation = made.id

    async def _events(self, run: str) -> AsyncGenerator[EventRecord]:
        services, caller = self.services, self.caller
        allowed = services.followed.track(caller.session_id, caller.user.role)
        async with closing(stream_events(services.storage, services.broker, run, allowed=allowed)) as events:
            async for event in events:
                for record in await parse_events([event] if event else []):
                    yield record

    def _why_not(self) -> UnavailableError | UnauthenticatedError:
        if self.services.broker.closed:
            return UnavailableError(
                "the server stops; the run goes on when it is back, and its answer is on Footpath's page"
            )
        return UnauthenticatedError("this session was ended, and the run with it; log in again")

    async def _put(self, run: str, asked: InputNeeded, person: Person) -> None:
        """Ask, and answer the run as its user does."""
        decision = await self._decision(asked, person)
        try:
            await answer_run(run, asked.input, decision, self.caller, self.services)
        except ConflictError:
            _log.info("a question of run %s was answered elsewhere", run)

    async def _decision(self, asked: InputNeeded, person: Person) -> DecisionBody:
        if asked.asks != "question" and not person.there:
            person.notes.append(_HOW_ELSE.format(what=clean_text(asked.summary or asked.tool or "it", 200)))
            return _decided("leave" if asked.asks == "unknown_outcome" else "deny")
        match asked.asks:
            case "question":
                said = await person.answers(asked.reason, asked.choices)
                return _decided("answer", answer=said) if said else _decided("deny")
            case "unknown_outcome":
                said = await person.answers(_told(asked), [*_HAPPENED]) or ""
                return _decided(_HAPPENED.get(said, "leave"))
            case _:
                allowed = await person.allows(_told(asked))
                return _decided("allow" if allowed else "deny")


def _decided(decision: str, **more: str) -> DecisionBody:
    return DecisionBody.model_validate({"decision": decision, **more})


def _told(asked: InputNeeded) -> str:
    """What a call does, where it goes, and with which values, all of them with where they come from."""
    alone = AskedCall(
        tool=asked.tool, arguments=asked.arguments, identity="", origins=asked.origins, summary=asked.summary
    )
    calls: Sequence[AskedCall] = asked.calls or (alone,)
    lines = [asked.reason, f"It goes to {clean_text(asked.host, 200)}." if asked.host else "", asked.undo]
    for call in calls:
        words = {one.parameter: describe_origin(one) for one in call.origins}
        lines.append(call.summary)
        lines += [value_told(name, value, words.get(name, "")) for name, value in call.arguments.items()]
    return "\n".join(line for line in lines if line)
