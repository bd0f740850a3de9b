"""Approval by a run's user: of calls that change something, and of calls that send data from host to host.

A change needs no question where the tool is on the user's list, for this address and for values of these origins, or
where the call is part of a plan that the user approved. These always ask, whatever the list says: words out of a
response's prose, values that nobody said or that a program computed, changes of a program that was written after
foreign data was shown to its author, every change of another user's template, and every change of a planner that takes
tools without a choice. Changes of one tool that a program waits for together are asked about in one question.
"""

import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, cast

from agent.execution.approval import (
    POSSIBLE_REPEAT_NOTE,
    TAINTED_NOTE,
    IntendedCall,
    describe_approval_scope,
    describe_refused_crossing,
    describe_side_effect,
)
from agent.execution.call_identity import build_corrected_identity
from agent.execution.call_wording import build_tool_title, summarize_call
from agent.text import clean_text
from domain.errors import NotAllowedError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.provenance import COVERABLE, AskedCall, HostCrossing, ValueKind, ValueOrigin, describe_origin
from domain.tool import ToolDoc
from server.runs.call_corrections import CallAnswer, dump_parameters, find_call_index, get_call_answer
from server.runs.call_layers import build_ledger_key
from server.runs.questions import DurableQuestions
from server.storage.database import run_to_completion
from server.storage.permissions import get_call_target
from server.storage.run_records import RunQuestion
from server.storage.storage import Storage

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ApprovedPlan:
    """A plan as its user approved it."""

    program: ProgramPlan
    reach: Mapping[str, Mapping[str, str]]
    """Call target of each tool when the plan was approved."""

    def covers(self, call: IntendedCall) -> bool:
        """Return whether the approved plan makes this call.

        It does if the call is in its text, goes to the same target, and has values that the user saw in it.
        """
        if self.reach.get(call.tool.id) != get_call_target(call.tool).model_dump():
            return False
        has_same_text = bool(call.program_text) and call.program_text == self.program.program.text
        return (
            has_same_text
            and not call.open_arguments
            and all(_is_known_to_user(origin) for origin in call.provenance.origins)
        )


def _is_known_to_user(origin: ValueOrigin) -> bool:
    """Return whether the user saw or said this value when they approved the text.

    The value is in the text, or is made of such values only. Users never saw the content of a response, and values that
    another author of a template fixed are not theirs.
    """
    match origin.kind:
        case "said" | "document":
            return True
        case "file" | "field" | "written" | "computed":  # a response may hold a value that is in the text too
            return origin.slice is not None and not origin.slice.is_foreign
        case "prose" | "others":
            return False


async def load_approved_plans(storage: Storage, run_id: str) -> list[ApprovedPlan]:
    """Load the plans of a run that its user approved."""
    questions = await run_to_completion(storage.run_questions.list_all(run_id))
    answers = [
        cast("dict[str, Any]", question.answer)
        for question in questions
        if question.kind == "plan" and question.answer is not None
    ]
    return [_parse_approval(answer) for answer in answers if answer.get("decision") == "allow"]


def _parse_approval(answer: dict[str, Any]) -> ApprovedPlan:
    return ApprovedPlan(ProgramPlan.model_validate(answer["program"]), answer["reach"])


READS_ONLY = "reads_only"
"""Key in a run's settings: it was requested with an API token that may not change anything."""
_PLANNER_NOTE = " The planner of this run takes the tools that are nearest to the request, whatever it asks for."
_REFUSED_ONCE_NOTE = "You did not allow it this time; the next run asks again."
_REFUSED_ALWAYS_NOTE = (
    "You said never to ask about these two hosts: take that back under Permissions, at /?view=leave of the page."
)
_TEMPLATE_AUTHOR_NOTE = " The call was chosen by the author of the template, who is not you."


class UserApprover:
    """Approver that asks the user of one run.

    Changes are made one after the other, so that none is under way when the run is released to wait for its user.
    """

    def __init__(
        self,
        questions: DurableQuestions,
        *,
        ask_transfers: bool = True,
        by_another: bool = False,
        unchosen: bool = False,
        reads_only: bool = False,
    ) -> None:
        """Create the approver.

        ``ask_transfers``: ask before values go from host to host. ``by_another``: the run's calls were chosen by
        another user. ``unchosen``: the run's planner takes the nearest tools, so that a question could end in a
        deletion. ``reads_only``: no change is made or asked about, whatever is on the user's list.
        """
        self._questions = questions
        self._reads_only = reads_only
        self._ask_transfers = ask_transfers
        self._by_another = by_another
        self._unchosen = unchosen

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """Hold the approval while the call is made; yield corrected arguments, if any.

        Raises ``NotAllowedError`` where the user refuses the call.
        """
        crossings = call.provenance.crossings if self._ask_transfers else ()
        if call.tool.safe:
            if crossings:
                async with self._questions.turn_lock:
                    await self._questions.flush_events()
                    await self._check_transfers(call, crossings)
            yield
            return
        if self._reads_only:
            raise NotAllowedError(
                f"{clean_text(call.tool.api, 80)} was not called: it changes something, and the token that asked for this run lacks the scope run_changes. "
                "Ask with a token that has it, or on the page."
            )
        async with self._questions.turn_lock:
            await self._questions.flush_events()
            key = build_ledger_key(call.tool.id, call.arguments, call.identity)
            question = await self._find_question(call, key)
            answer = _find_call_answer(question, call)
            if not await self._is_begun(call, answer):
                await self._check_transfers(call, crossings)
                answer = await self._get_approval(call, key, question)
            corrected = answer.corrected if answer else None
            call_identity = (
                call.identity
                if corrected is None
                else build_corrected_identity(call.tool.id, call.arguments, call.identity)
            )
            self._questions.summaries[call.tool.id, call_identity] = _summarize_call(call, corrected)
            yield corrected  # a call that was begun was approved before; its outcome is another question

    async def _is_begun(self, call: IntendedCall, answer: CallAnswer | None) -> bool:
        tool, arguments, identity = call.tool.id, call.arguments, call.identity
        if answer is not None and answer.corrected is not None:
            arguments, identity = answer.corrected, build_corrected_identity(tool, call.arguments, identity)
        key = build_ledger_key(tool, arguments, identity)
        return await run_to_completion(self._questions.storage.effects.get(self._questions.run.id, key)) is not None

    async def _check_transfers(self, call: IntendedCall, crossings: tuple[HostCrossing, ...]) -> None:
        """Ask about each pair of hosts once a run, unless the user has decided for all runs."""
        storage, run = self._questions.storage, self._questions.run
        for transfer in {(crossing.source, crossing.target): crossing for crossing in crossings}.values():
            decided = await run_to_completion(storage.host_transfers.get(run.user_id, transfer.source, transfer.target))
            allowed = decided.allowed if decided else await self._ask_about_transfer(call, transfer)
            _log.info(
                "%s of an answer of %s to %s: %s",
                transfer.parameter or "the making of a call that depends",
                transfer.source,
                transfer.target,
                "sent" if allowed else "not sent",
            )
            if not allowed:
                raise NotAllowedError(
                    f"{describe_refused_crossing(transfer)} {_REFUSED_ALWAYS_NOTE if decided else _REFUSED_ONCE_NOTE}"
                )

    async def _ask_about_transfer(self, call: IntendedCall, crossing: HostCrossing) -> bool:
        tool = call.tool
        pair = sha256(f"{crossing.source}\n{crossing.target}".encode()).hexdigest()
        question = InputNeeded(
            input=f"flow-{pair}",
            asks="flow",
            tool=tool.id,
            arguments=call.arguments,
            host=tool.host,
            origins=call.provenance.origins,
            summary=call.summary or summarize_call(tool, call.arguments, call.provenance.origins),
            undo=call.undo,
            reason=f"May what {crossing.source} answers go to {crossing.target}? {_describe_transfer(tool, crossing)}",
        )
        hosts = {"source": crossing.source, "target": crossing.target}
        return (await self._questions.ask(question, {"flow": hosts}))["decision"] == "allow"

    async def _get_approval(self, call: IntendedCall, key: str, question: RunQuestion | None) -> CallAnswer | None:
        """Return the user's answer about a change; None where no question is needed."""
        tool = call.tool
        if question is None and await self._is_preapproved(call):
            return None
        if question is not None and _has_moved(question, tool):
            raise NotAllowedError(
                f"{clean_text(tool.api, 80)} was not called: its address, method or source has changed since you were asked."
            )
        answer = _find_call_answer(question, call) or await self._ask_about_calls(
            call, key if question is None else question.key
        )
        answer.raise_refusal()
        return answer

    async def _find_question(self, call: IntendedCall, key: str) -> RunQuestion | None:
        """Find the question that was asked about this very call, alone or together with others."""
        storage, run = self._questions.storage, self._questions.run
        question = await run_to_completion(storage.run_questions.get(run.id, key))
        if question is not None or not call.identity:
            return question
        questions = await run_to_completion(storage.run_questions.list_all(run.id))
        return next((candidate for candidate in questions if find_call_index(candidate, call) is not None), None)

    async def _ask_about_calls(self, call: IntendedCall, key: str) -> CallAnswer:
        """Ask the user about a call, together with the waiting calls that are not approved yet."""
        unapproved = [batch_call for batch_call in call.batch if not await self._is_preapproved(batch_call)]
        several = len(unapproved) > 1
        question = InputNeeded(
            input=_build_batch_key(unapproved) if several else key,
            asks="call",
            tool=call.tool.id,
            arguments=call.arguments,
            host=call.tool.host,
            origins=_describe_origins(call),
            summary=_summarize_batch(call, unapproved) if several else call.summary,
            undo=call.undo,
            calls=tuple(_to_asked_call(batch_call) for batch_call in unapproved) if several else (),
            reason=_build_reason(call, unapproved if several else [call])
            + (_TEMPLATE_AUTHOR_NOTE if self._by_another else "")
            + (_PLANNER_NOTE if self._unchosen else ""),
        )
        stored_context = {"reach": get_call_target(call.tool).model_dump(), **dump_parameters(call.tool)}
        answer = await self._questions.ask(question, stored_context)
        own_indices = (
            [at for at, batch_call in enumerate(unapproved) if batch_call.identity == call.identity] if several else []
        )
        return get_call_answer(answer, own_indices[0] if own_indices else 0)

    async def _is_preapproved(self, call: IntendedCall) -> bool:
        """Return whether the user's list, or a plan that they approved, allows the call.

        It holds for the first time only, and never for words out of a response's prose, which the user did not see as
        such.
        """
        if call.always_needs_approval:
            return False
        kinds: set[ValueKind] = {origin.kind for origin in call.provenance.origins}
        if not self._by_another and not self._unchosen and await self._is_listed(call, kinds):
            return True
        if kinds & {"prose", "others"}:
            return False
        return any(
            plan.covers(call) for plan in await load_approved_plans(self._questions.storage, self._questions.run.id)
        )

    async def _is_listed(self, call: IntendedCall, kinds: set[ValueKind]) -> bool:
        listed = await run_to_completion(
            self._questions.storage.allowed_tools.get(self._questions.run.user_id, call.tool.id)
        )
        return listed is not None and listed.covers(get_call_target(call.tool), kinds)


def _build_reason(call: IntendedCall, calls: Sequence[IntendedCall]) -> str:
    """Build the text of the question, with whatever makes it be asked despite the list."""
    origins = {(one.parameter, one.words): one for batch_call in calls for one in batch_call.provenance.origins}
    warned_origins = [one for one in origins.values() if one.kind not in COVERABLE]
    value_notes = "".join(
        f" Its {clean_text(one.parameter, 80)}: {clean_text(one.words, 400)}." for one in warned_origins[:8]
    )
    notes = (
        describe_approval_scope(replace(call, batch=tuple(calls) if len(calls) > 1 else ())),
        POSSIBLE_REPEAT_NOTE if any(one.possible_repeat for one in calls) else "",
        TAINTED_NOTE if any(one.tainted for one in calls) else "",
    )
    appended_notes = "".join(f" {one}" for one in notes if one)
    return (
        f"May {clean_text(call.tool.api, 80)} be called? {describe_side_effect(call.tool)}{appended_notes}{value_notes}"
    )


def _describe_transfer(tool: ToolDoc, crossing: HostCrossing) -> str:
    """Describe how data of a response would reach another host."""
    name = clean_text(tool.api, 80)
    if not crossing.parameter:
        return f"Whether and how often {name} is called depends on what {crossing.source} answers, so its calls would tell it."
    return f"{name} would send its {clean_text(crossing.parameter, 80)} there."


def _describe_origins(call: IntendedCall) -> tuple[ValueOrigin, ...]:
    """Return the origins of a call's values, with their full wording."""
    return tuple(origin.model_copy(update={"words": describe_origin(origin)}) for origin in call.provenance.origins)


def _to_asked_call(call: IntendedCall) -> AskedCall:
    return AskedCall(
        tool=call.tool.id,
        arguments=call.arguments,
        identity=call.identity,
        origins=_describe_origins(call),
        summary=call.summary,
        undo=call.undo,
    )


def _summarize_call(call: IntendedCall, corrected: JsonObject | None) -> str:
    """Summarize a call with the values that its user put in place of others."""
    if corrected is None:
        return call.summary
    unchanged_origins = [
        origin
        for origin in call.provenance.origins
        if corrected.get(origin.parameter) == call.arguments.get(origin.parameter)
    ]
    return summarize_call(call.tool, corrected, unchanged_origins)


def _summarize_batch(call: IntendedCall, calls: Sequence[IntendedCall]) -> str:
    return f"{build_tool_title(call.tool)}, {len(calls)} times"


def _find_call_answer(question: RunQuestion | None, call: IntendedCall) -> CallAnswer | None:
    """Return the answer about a call; None where there is none yet."""
    if question is None or question.answer is None:
        return None
    return get_call_answer(cast("dict[str, Any]", question.answer), find_call_index(question, call) or 0)


def _build_batch_key(calls: Sequence[IntendedCall]) -> str:
    keys = [build_ledger_key(call.tool.id, call.arguments, call.identity) for call in calls]
    return sha256("\n".join(keys).encode()).hexdigest()


def _has_moved(question: RunQuestion, tool: ToolDoc) -> bool:
    """Return whether the tool's target has changed since the question.

    False for older questions, which did not record the target.
    """
    asked_target = cast("dict[str, Any]", question.question).get("reach")
    return asked_target is not None and asked_target != get_call_target(tool).model_dump()
