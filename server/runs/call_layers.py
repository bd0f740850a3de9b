"""Executor layers around each call of a run on a server.

Before a call they check that the run may go on and that its user may use the tool, by the database as it is now. A call
that changes something is entered in the ledger first, so that a resumed run repeats none; where its outcome stays
unknown, the user is asked. Keys are chosen by the source of the tool.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Any, cast

from agent.execution.call_cache import CONFIRMED_BY_USER_NOTE, CUT_OFF_NOTE
from agent.execution.call_wording import summarize_call
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.text import clean_text
from domain.errors import FootpathError, NotAllowedError, TransientError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.plan import Binding, CallOutcome
from domain.tool import ToolDoc, ToolId
from domain.tool_source import KeyOwner, parse_source_id
from server.runs.questions import DurableQuestions
from server.storage.database import run_to_completion
from server.storage.permissions import get_call_target
from server.storage.run_records import Effect, EffectLedger, NewEffect

_HIDDEN_NOTE = (
    "this tool is not offered to you any more: its source was withdrawn, or is for others; choose another tool"
)


HiddenToolsLookup = Callable[[], Awaitable[frozenset[ToolId]]]
"""Returns the tools that a user may not call just now."""


def build_hidden_refusal() -> CallResult:
    """Build the result of a call that was not made because its tool is hidden from the user."""
    return CallResult("refused", "", note=_HIDDEN_NOTE, reached=False)


class VisibleExecutor(ExecutorLayer):
    """Executor of one run that refuses tools which are hidden from its user.

    This includes tools that were withdrawn or hidden while the run was under way. ``changes_only``: check only calls
    that change something; another layer has checked the rest.
    """

    def __init__(self, executor: Executor, find_hidden_tools: HiddenToolsLookup, *, changes_only: bool = False) -> None:
        super().__init__(executor)
        self._find_hidden_tools = find_hidden_tools
        self._changes_only = changes_only

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; return a refusal with its reason where the tool is hidden."""
        if not (tool.safe and self._changes_only) and tool.id in await self._find_hidden_tools():
            return build_hidden_refusal()
        return await self._executor.call(tool, arguments, identity)


async def _hide_nothing() -> frozenset[ToolId]:
    return frozenset()


class StopCheckExecutor(ExecutorLayer):
    """Executor of one run that checks before each call whether the run must stop.

    A worker polls for stops only once a second: without this check, a call could be made for an account that was just
    disabled.

    Whether to stop and which tools are hidden are queried together before a call that changes nothing. For a change,
    :class:`VisibleExecutor` checks hidden tools, as late as possible: once the call is in the ledger.
    """

    def __init__(
        self,
        executor: Executor,
        find_stop_reason: Callable[[], Coroutine[Any, Any, str | None]],
        stop: Callable[[str], None],
        find_hidden_tools: HiddenToolsLookup = _hide_nothing,
    ) -> None:
        super().__init__(executor)
        self._find_stop_reason = find_stop_reason
        self._stop = stop
        self._find_hidden_tools = find_hidden_tools

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call. If the run must stop, end it instead, and wait to be cancelled with it."""
        hidden_lookup = self._find_hidden_tools() if tool.safe else _hide_nothing()
        stop_reason, hidden = await asyncio.gather(run_to_completion(self._find_stop_reason()), hidden_lookup)
        if stop_reason is not None:
            self._stop(stop_reason)
            await asyncio.Event().wait()  # ends by the cancellation that ``stop`` causes
        if tool.id in hidden:
            return build_hidden_refusal()
        return await self._executor.call(tool, arguments, identity)


class SourceKeysExecutor:
    """Executor that sends the caller's keys or those of the tool's source, as the source demands.

    Keys are chosen by the source of a tool, never by their name alone: another source cannot obtain a key by using its
    name. ``user_executor`` sends the caller's keys; ``get_key_owner`` returns whose keys the calls of a source send;
    ``create_source_executor`` creates an executor with a source's keys.
    """

    def __init__(
        self,
        user_executor: Executor,
        get_key_owner: Callable[[str], Awaitable[KeyOwner | None]],
        create_source_executor: Callable[[str], Awaitable[Executor]],
    ) -> None:
        self.name = user_executor.name
        self._user_executor = user_executor
        self._get_key_owner = get_key_owner
        self._create_source_executor = create_source_executor
        self._source_executors: dict[str, Executor] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call with the keys that its source asks for."""
        source = parse_source_id(tool.source)
        if source is None or await self._get_key_owner(source) != "source":
            return await self._user_executor.call(tool, arguments, identity)
        if source not in self._source_executors:
            executor = await self._create_source_executor(source)
            if source in self._source_executors:  # another call has created it meanwhile
                await executor.close()
            else:
                self._source_executors[source] = executor
        return await self._source_executors[source].call(tool, arguments, identity)

    async def close(self) -> None:
        """Close all executors. Idempotent."""
        await self._user_executor.close()
        for executor in self._source_executors.values():
            await executor.close()


_REACH = "reach"
"""Key in an entry's result: the target of the call, stored when it begins. Entries of earlier versions lack it."""


class LedgerExecutor(ExecutorLayer):
    """Executor of one run that enters calls in the ledger before they are made.

    Safe calls pass through, since they may be repeated. ``flush`` waits until every event emitted so far is stored.
    """

    def __init__(
        self, executor: Executor, effects: EffectLedger, run_id: str, flush: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__(executor)
        self._effects = effects
        self._run_id = run_id
        self._flush = flush

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; for one that was begun before, return what the ledger has, or that its outcome is unknown."""
        if tool.safe:
            return await self._executor.call(tool, arguments, identity)
        return await self.make_attempt(tool, arguments, identity=identity) or CallResult(
            "unknown", "", note=CUT_OFF_NOTE
        )

    async def make_attempt(
        self, tool: ToolDoc, arguments: JsonObject, number: int = 1, identity: str = ""
    ) -> CallResult | None:
        """Make attempt ``number`` of the call, once, and return its result; each attempt has an entry of its own.

        Return None if the attempt was begun before and its outcome is unknown.

        Raises:
            NotAllowedError: the attempt would go to another target than the first.
        """
        if self._flush is not None:
            await self._flush()
        key, reach = build_attempt_key(tool.id, arguments, number, identity), get_call_target(tool).model_dump()
        new_effect = NewEffect(
            run_id=self._run_id,
            call_key=key,
            tool=tool.id,
            method=tool.method,
            idempotent=tool.idempotent,
            arguments=arguments,
            result={_REACH: reach},
        )
        if number > 1:
            await self._check_same_target(tool, key, build_ledger_key(tool.id, arguments, identity))
        existing = await run_to_completion(self._effects.begin(new_effect))
        if existing is not None:
            return to_call_result(existing)
        try:
            result = await self._executor.call(tool, arguments, identity)
        except TransientError:  # nothing was sent: the run is interrupted, and makes the call when it is resumed
            await run_to_completion(self._effects.remove_open(self._run_id, key))
            raise
        except FootpathError as error:  # nothing was sent
            await self._finish(key, CallResult("caller_fault", "", attempts=0, note=error.public_message), reach)
            raise
        await self._finish(key, result, reach)
        return result

    async def _check_same_target(self, tool: ToolDoc, key: str, first_key: str) -> None:
        """Raise ``NotAllowedError`` if a new attempt would not go to the target of the first one, or that is unknown.

        An attempt that was begun before passes, since it is not made again.
        """
        if await run_to_completion(self._effects.get(self._run_id, key)) is not None:
            return
        first = await run_to_completion(self._effects.get(self._run_id, first_key))
        if first is None or (first.result or {}).get(_REACH) != get_call_target(tool).model_dump():
            raise NotAllowedError(
                f"{clean_text(tool.api, 80)} was called, and it is not known whether it took effect. It was not called again: its address, "
                "method or source is not known to be the same as then. Look at what it was to change, then ask again."
            )

    async def _finish(self, key: str, result: CallResult, reach: JsonObject) -> None:
        stored: dict[str, Any] = asdict(result) | {"secrets": [binding.model_dump() for binding in result.secrets]}
        stored[_REACH] = reach
        await run_to_completion(self._effects.finish(self._run_id, key, result.outcome, stored))


def build_ledger_key(tool: ToolId, arguments: JsonObject, identity: str = "") -> str:
    """Return the key of a call in the ledger of its run: equal for equal tool, arguments and program identity."""
    parts = [tool, arguments, identity] if identity else [tool, arguments]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def build_attempt_key(tool: ToolId, arguments: JsonObject, number: int, identity: str = "") -> str:
    """Return the ledger key of an attempt of a call; the first attempt has the key of the call."""
    return build_ledger_key(tool, arguments, identity) + (f":{number}" if number > 1 else "")


def to_call_result(effect: Effect) -> CallResult | None:
    """Build the result of a ledger entry; None if the call was begun and its end is unknown."""
    if effect.finished_at is None or effect.result is None:
        return None
    fields = cast("dict[str, Any]", {name: value for name, value in effect.result.items() if name != _REACH})
    outcome = cast("CallOutcome", fields.pop("outcome"))
    bindings = tuple(Binding.model_validate(binding) for binding in fields.pop("secrets"))
    return CallResult(outcome, fields.pop("body"), secrets=bindings, **fields)


_EARLIER_ATTEMPT_NOTE = "An earlier attempt was cut off, so it is not known whether it took effect."


@dataclass(frozen=True, slots=True)
class _LedgerCall:
    """A call with all that identifies it in the ledger."""

    tool: ToolDoc
    arguments: JsonObject
    identity: str


class UnknownOutcomeExecutor(ExecutorLayer):
    """Executor of one run that asks its user about calls whose outcome is unknown, and repeats them if the user agrees.

    Each attempt has its own entry in the ledger and its own question, so that a resumed run takes the same decisions:
    an attempt that was cut off is asked about, and never repeated unasked. An attempt at another target than the first
    raises ``NotAllowedError``. The caller holds ``DurableQuestions.turn_lock``.
    """

    def __init__(self, ledger: LedgerExecutor, questions: DurableQuestions) -> None:
        super().__init__(ledger)
        self._ledger = ledger
        self._questions = questions

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; the outcome stays unknown where the user leaves it so."""
        if tool.safe:
            return await self._ledger.call(tool, arguments, identity)
        call = _LedgerCall(tool, arguments, identity)
        number, result = await self._call_until_answered(call, 1)
        while result.outcome == "unknown":
            match await self._ask_user(call, number, result):
                case "happened":
                    return CallResult("ok", "", note=CONFIRMED_BY_USER_NOTE)
                case "did_not_happen":
                    number, result = await self._call_until_answered(call, number + 1)
                case _:
                    break
        return result

    async def _call_until_answered(self, call: _LedgerCall, first: int) -> tuple[int, CallResult]:
        """Make the attempt of this number and return it with its result.

        Where it was cut off and the call is harmless to repeat, further attempts follow until one gets an answer.
        """
        number = first
        while (result := await self._make_attempt(call, number, first)) is None and call.tool.is_effectively_idempotent:
            number += 1
        if result is None:
            return number, CallResult("unknown", "", note=CUT_OFF_NOTE)
        if number == first or result.outcome == "ok":
            return number, result
        return number, replace(result, outcome="unknown", note=f"{result.note} {_EARLIER_ATTEMPT_NOTE}".strip())

    async def _make_attempt(self, call: _LedgerCall, number: int, first: int) -> CallResult | None:
        """Make one attempt; the error of a repetition becomes its result, as an earlier one may have had an effect."""
        try:
            return await self._ledger.make_attempt(call.tool, call.arguments, number, call.identity)
        except FootpathError as error:
            if number == first or isinstance(error, NotAllowedError | TransientError):
                raise
            return CallResult("caller_fault", "", attempts=0, note=error.public_message)

    async def _ask_user(self, call: _LedgerCall, number: int, result: CallResult) -> str:
        """Ask the user whether the call took effect; return the decision."""
        question = InputNeeded(
            input=f"outcome-{number}:{build_ledger_key(call.tool.id, call.arguments, call.identity)}",
            asks="unknown_outcome",
            tool=call.tool.id,
            arguments=call.arguments,
            summary=self._questions.summaries.get((call.tool.id, call.identity))
            or summarize_call(call.tool, call.arguments),
            host=call.tool.host,
            reason=f"Did {clean_text(call.tool.api, 80)} take effect? {clean_text(result.note, 300)}",
        )
        return (await self._questions.ask(question))["decision"]
