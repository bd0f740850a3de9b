"""Ledger of calls that change something: entered before they are made, so that a resumed run repeats none."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from hashlib import sha256
from typing import Any, cast

from agent.execution.call_cache import CUT_OFF_NOTE
from agent.execution.executor import CallResult, Executor, ExecutorLayer
from agent.text import clean
from domain.errors import FootpathError, NotAllowedError, TransientError
from domain.model import JsonObject
from domain.plan import Binding, CallOutcome
from domain.tool import ToolDoc, ToolId
from server.storage.database import run_to_completion
from server.storage.effects import Effect, Effects, NewEffect
from server.storage.permissions import get_call_target

_REACH = "reach"
"""Key in an entry's result: the target of the call, stored when it begins. Entries of earlier versions lack it."""


class LedgerExecutor(ExecutorLayer):
    """Executor of one run that enters calls in the ledger before they are made.

    Safe calls pass through, since they may be repeated. ``flush`` waits until every event emitted so far is stored.
    """

    def __init__(
        self, executor: Executor, effects: Effects, run_id: str, flush: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        super().__init__(executor)
        self._effects = effects
        self._run_id = run_id
        self._flush = flush

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; for one that was begun before, return what the ledger has, or that its outcome is unknown."""
        if tool.safe:
            return await self._executor.call(tool, arguments, identity)
        return await self.attempt(tool, arguments, identity=identity) or CallResult("unknown", "", note=CUT_OFF_NOTE)

    async def attempt(
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
        begun = NewEffect(
            run_id=self._run_id,
            call_key=key,
            tool=tool.id,
            method=tool.method,
            idempotent=tool.idempotent,
            arguments=arguments,
            result={_REACH: reach},
        )
        if number > 1:
            await self._check_same_target(tool, key, build_call_key(tool.id, arguments, identity))
        recorded = await run_to_completion(self._effects.begin(begun))
        if recorded is not None:
            return to_call_result(recorded)
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
                f"{clean(tool.api, 80)} was called, and it is not known whether it took effect. It was not called again: its address, "
                "method or source is not known to be the same as then. Look at what it was to change, then ask again."
            )

    async def _finish(self, key: str, result: CallResult, reach: JsonObject) -> None:
        stored: dict[str, Any] = asdict(result) | {"secrets": [binding.model_dump() for binding in result.secrets]}
        stored[_REACH] = reach
        await run_to_completion(self._effects.finish(self._run_id, key, result.outcome, stored))


def build_call_key(tool: ToolId, arguments: JsonObject, identity: str = "") -> str:
    """Return the key of a call in the ledger of its run: equal for equal tool, arguments and program identity."""
    parts = [tool, arguments, identity] if identity else [tool, arguments]
    return sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def build_attempt_key(tool: ToolId, arguments: JsonObject, number: int, identity: str = "") -> str:
    """Return the ledger key of an attempt of a call; the first attempt has the key of the call."""
    return build_call_key(tool, arguments, identity) + (f":{number}" if number > 1 else "")


def to_call_result(effect: Effect) -> CallResult | None:
    """Build the result of a ledger entry; None if the call was begun and its end is unknown."""
    if effect.finished_at is None or effect.result is None:
        return None
    fields = cast("dict[str, Any]", {name: value for name, value in effect.result.items() if name != _REACH})
    outcome = cast("CallOutcome", fields.pop("outcome"))
    bindings = tuple(Binding.model_validate(one) for one in fields.pop("secrets"))
    return CallResult(outcome, fields.pop("body"), secrets=bindings, **fields)
