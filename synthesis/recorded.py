"""Recorded calls as a service: what was recorded of the same arguments answers, and nothing else does."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from agent.execution.executor import CallResult
from agent.execution.recorded_calls import answers, canonical, recorded_arguments
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall
from graph.recordings import Recordings
from synthesis.trying import CallFailedError

MOST_RECORDED = 600
"""Recorded calls of one tool that are held."""


class NotRecordedError(CallFailedError):
    """A call of which nothing was recorded."""


@dataclass(slots=True)
class Recorded:
    """An executor over the recordings of one set of tools, each read once. Calls that failed when they were recorded answer nothing."""

    recordings: Recordings
    name: str = "recorded"
    _held: dict[ToolId, dict[bytes, RecordedCall]] = field(default_factory=dict[ToolId, dict[bytes, RecordedCall]])

    async def arguments(self, tool: ToolId) -> list[JsonObject]:
        """What a tool was asked with when it answered, in the order in which that was recorded."""
        return [recorded_arguments(call.arguments) for call in (await self._of(tool)).values()]

    async def all_answer(self, tools: Iterable[ToolId]) -> bool:
        """Whether each of these tools has answered anything."""
        for tool in tools:
            if not await self._of(tool):
                return False
        return True

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is answered
        """What was recorded.

        Raises:
            NotRecordedError: nothing was.
        """
        call = (await self._of(tool.id)).get(_key(arguments))
        if call is None:
            raise NotRecordedError(f"{tool.api}: there is no recorded call with these arguments")
        return CallResult("ok", call.response)

    async def close(self) -> None:
        """Nothing to release: the recordings are the caller's."""

    async def _of(self, tool: ToolId) -> dict[bytes, RecordedCall]:
        if tool not in self._held:
            calls = [call for call in (await self.recordings.of_tool(tool))[:MOST_RECORDED] if answers(call)]
            held: dict[bytes, RecordedCall] = {}
            for call in calls:
                held.setdefault(_key(recorded_arguments(call.arguments)), call)
            self._held[tool] = held
        return self._held[tool]


def _key(arguments: JsonObject) -> bytes:
    return orjson.dumps(canonical(arguments), option=orjson.OPT_SORT_KEYS)
