"""Approval by a run's user: of calls that change something, and of calls that send data from host to host.

A change needs no question where the tool is on the user's list, for this address and for values of these origins, or
where the call is part of a plan that the user approved. These always ask, whatever the list says: words out of a
response's prose, values that nobody said or that a program computed, changes of a program that was written after
foreign data was shown to its author, every change of another user's template, and every change of a planner that takes
tools without a choice. Changes of one tool that a program waits for together are asked about in one question.
"""

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from typing import Any, cast

from agent.execution.approval import TAINTED, IntendedCall, what_asks, why_asked
from agent.execution.approvers import DONE_BEFORE, refused
from agent.execution.identity import corrected_as
from agent.execution.wording import summary_of, title_of
from agent.text import clean
from domain.errors import NotAllowedError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.origin import COVERABLE, AskedCall, Crossing, ValueKind, ValueOrigin, in_full
from domain.tool import ToolDoc
from server.runs.approved_plans import approved_plans
from server.runs.corrections import CallAnswer, kept_of, place_of, said_of
from server.runs.ledger import call_key
from server.runs.questions import Questions
from server.storage.database import run_to_completion
from server.storage.permissions import get_call_target
from server.storage.run_events import RunQuestion

_log = logging.getLogger(__name__)
READS_ONLY = "reads_only"
"""Key in a run's settings: it was requested with an API token that may not change anything."""
_CHOSEN_BY_NOBODY = " The planner of this run takes the tools that are nearest to the request, whatever it asks for."
_NOT_NOW = "You did not allow it this time; the next run asks again."
_NEVER = "You said never to ask about these two hosts: take that back under Permissions, at /?view=leave of the page."
_CHOSEN_BY_ANOTHER = " The call was chosen by the author of the template, who is not you."


class UserApprover:
    """Approver that asks the user of one run.

    Changes are made one after the other, so that none is under way when the run is released to wait for its user.
    """

    def __init__(
        self,
        questions: Questions,
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
    async def approval(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        """Hold the approval while the call is made; yield corrected arguments, if any.

        Raises ``NotAllowedError`` where the user refuses the call.
        """
        crossings = call.judged.crossings if self._ask_transfers else ()
        if call.tool.safe:
            if crossings:
                async with self._questions.in_turn:
                    await self._questions.told()
                    await self._may_go(call, crossings)
            yield
            return
        if self._reads_only:
            raise NotAllowedError(
                f"{clean(call.tool.api, 80)} was not called: it changes something, and the token that asked for this run lacks the scope run_changes. "
                "Ask with a token that has it, or on the page."
            )
        async with self._questions.in_turn:
            await self._questions.told()
            key = call_key(call.tool.id, call.arguments, call.identity)
            asked = await self._asked(call, key)
            said = _said(asked, call)
            if not await self._is_begun(call, said):
                await self._may_go(call, crossings)
                said = await self._may_change(call, key, asked)
            made = said.corrected if said else None
            named = call.identity if made is None else corrected_as(call.tool.id, call.arguments, call.identity)
            self._questions.summaries[call.tool.id, named] = _as_made(call, made)
            yield made  # a call that was begun was approved before; its outcome is another question

    async def _is_begun(self, call: IntendedCall, said: CallAnswer | None) -> bool:
        tool, made, identity = call.tool.id, call.arguments, call.identity
        if said is not None and said.corrected is not None:
            made, identity = said.corrected, corrected_as(tool, call.arguments, identity)
        key = call_key(tool, made, identity)
        return await run_to_completion(self._questions.storage.effects.get(self._questions.run.id, key)) is not None

    async def _may_go(self, call: IntendedCall, crossings: tuple[Crossing, ...]) -> None:
        """Ask about each pair of hosts once a run, unless the user has decided for all runs."""
        storage, run = self._questions.storage, self._questions.run
        for one in {(crossing.source, crossing.target): crossing for crossing in crossings}.values():
            decided = await run_to_completion(storage.host_transfers.get(run.user_id, one.source, one.target))
            allowed = decided.allowed if decided else await self._asked_to_go(call, one)
            _log.info(
                "%s of an answer of %s to %s: %s",
                one.parameter or "the making of a call that depends",
                one.source,
                one.target,
                "sent" if allowed else "not sent",
            )
            if not allowed:
                raise NotAllowedError(f"{refused(one)} {_NEVER if decided else _NOT_NOW}")

    async def _asked_to_go(self, call: IntendedCall, crossing: Crossing) -> bool:
        tool = call.tool
        pair = sha256(f"{crossing.source}\n{crossing.target}".encode()).hexdigest()
        question = InputNeeded(
            input=f"flow-{pair}",
            asks="flow",
            tool=tool.id,
            arguments=call.arguments,
            host=tool.host,
            origins=call.judged.origins,
            summary=call.summary or summary_of(tool, call.arguments, call.judged.origins),
            undo=call.undo,
            reason=f"May what {crossing.source} answers go to {crossing.target}? {_how_it_goes(tool, crossing)}",
        )
        hosts = {"source": crossing.source, "target": crossing.target}
        return (await self._questions.answered(question, {"flow": hosts}))["decision"] == "allow"

    async def _may_change(self, call: IntendedCall, key: str, asked: RunQuestion | None) -> CallAnswer | None:
        """Return the user's answer about a change; None where no question is needed."""
        tool = call.tool
        if asked is None and await self._has_leave(call):
            return None
        if asked is not None and _moved(asked, tool):
            raise NotAllowedError(
                f"{clean(tool.api, 80)} was not called: its address, method or source has changed since you were asked."
            )
        said = _said(asked, call) or await self._answer(call, key if asked is None else asked.key)
        said.refuse()
        return said

    async def _asked(self, call: IntendedCall, key: str) -> RunQuestion | None:
        """Find the question that was asked about this very call, alone or together with others."""
        storage, run = self._questions.storage, self._questions.run
        alone = await run_to_completion(storage.run_questions.get(run.id, key))
        if alone is not None or not call.identity:
            return alone
        every = await run_to_completion(storage.run_questions.list_all(run.id))
        return next((one for one in every if place_of(one, call) is not None), None)

    async def _answer(self, call: IntendedCall, key: str) -> CallAnswer:
        """Ask the user about a call, together with the waiting calls that are not approved yet."""
        together = [one for one in call.batch if not await self._has_leave(one)]
        several = len(together) > 1
        question = InputNeeded(
            input=_batch_key(together) if several else key,
            asks="call",
            tool=call.tool.id,
            arguments=call.arguments,
            host=call.tool.host,
            origins=_told(call),
            summary=_together(call, together) if several else call.summary,
            undo=call.undo,
            calls=tuple(_as_asked(one) for one in together) if several else (),
            reason=_reason(call, together if several else [call])
            + (_CHOSEN_BY_ANOTHER if self._by_another else "")
            + (_CHOSEN_BY_NOBODY if self._unchosen else ""),
        )
        besides = {"reach": get_call_target(call.tool).model_dump(), **kept_of(call.tool)}
        answer = await self._questions.answered(question, besides)
        own = [at for at, one in enumerate(together) if one.identity == call.identity] if several else []
        return said_of(answer, own[0] if own else 0)

    async def _has_leave(self, call: IntendedCall) -> bool:
        """Return whether the user's list, or a plan that they approved, allows the call.

        It holds for the first time only, and never for words out of a response's prose, which the user did not see as
        such.
        """
        if call.asks_always:
            return False
        kinds: set[ValueKind] = {origin.kind for origin in call.judged.origins}
        if not self._by_another and not self._unchosen and await self._is_listed(call, kinds):
            return True
        if kinds & {"prose", "others"}:
            return False
        return any(one.covers(call) for one in await approved_plans(self._questions.storage, self._questions.run.id))

    async def _is_listed(self, call: IntendedCall, kinds: set[ValueKind]) -> bool:
        listed = await run_to_completion(
            self._questions.storage.allowed_tools.get(self._questions.run.user_id, call.tool.id)
        )
        return listed is not None and listed.covers(get_call_target(call.tool), kinds)


def _reason(call: IntendedCall, together: Sequence[IntendedCall]) -> str:
    """Build the text of the question, with whatever makes it be asked despite the list."""
    origins = {(one.parameter, one.words): one for each in together for one in each.judged.origins}
    told = [one for one in origins.values() if one.kind not in COVERABLE]
    looks = "".join(f" Its {clean(one.parameter, 80)}: {clean(one.words, 400)}." for one in told[:8])
    besides = (
        what_asks(replace(call, batch=tuple(together) if len(together) > 1 else ())),
        DONE_BEFORE if any(one.again for one in together) else "",
        TAINTED if any(one.tainted for one in together) else "",
    )
    more = "".join(f" {one}" for one in besides if one)
    return f"May {clean(call.tool.api, 80)} be called? {why_asked(call.tool)}{more}{looks}"


def _how_it_goes(tool: ToolDoc, crossing: Crossing) -> str:
    """Describe how data of a response would reach another host."""
    name = clean(tool.api, 80)
    if not crossing.parameter:
        return f"Whether and how often {name} is called depends on what {crossing.source} answers, so its calls would tell it."
    return f"{name} would send its {clean(crossing.parameter, 80)} there."


def _told(call: IntendedCall) -> tuple[ValueOrigin, ...]:
    """Return the origins of a call's values, with their full wording."""
    return tuple(one.model_copy(update={"words": in_full(one)}) for one in call.judged.origins)


def _as_asked(call: IntendedCall) -> AskedCall:
    return AskedCall(
        tool=call.tool.id,
        arguments=call.arguments,
        identity=call.identity,
        origins=_told(call),
        summary=call.summary,
        undo=call.undo,
    )


def _as_made(call: IntendedCall, corrected: JsonObject | None) -> str:
    """Summarize a call with the values that its user put in place of others."""
    if corrected is None:
        return call.summary
    same = [one for one in call.judged.origins if corrected.get(one.parameter) == call.arguments.get(one.parameter)]
    return summary_of(call.tool, corrected, same)


def _together(call: IntendedCall, together: Sequence[IntendedCall]) -> str:
    return f"{title_of(call.tool)}, {len(together)} times"


def _said(asked: RunQuestion | None, call: IntendedCall) -> CallAnswer | None:
    """Return the answer about a call; None where there is none yet."""
    if asked is None or asked.answer is None:
        return None
    return said_of(cast("dict[str, Any]", asked.answer), place_of(asked, call) or 0)


def _batch_key(together: Sequence[IntendedCall]) -> str:
    keys = [call_key(one.tool.id, one.arguments, one.identity) for one in together]
    return sha256("\n".join(keys).encode()).hexdigest()


def _moved(asked: RunQuestion, tool: ToolDoc) -> bool:
    """Return whether the tool's target has changed since the question.

    False for older questions, which did not record the target.
    """
    told = cast("dict[str, Any]", asked.question).get("reach")
    return told is not None and told != get_call_target(tool).model_dump()
