"""Answer calls from recordings: by what was recorded for the same arguments, and by nothing else."""

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
"""Recorded calls that are held for one tool."""


class NotRecordedError(CallFailedError):
    """Nothing was recorded for a call."""


@dataclass(slots=True)
class Recorded:
    """An executor over the recordings of one tool set; failed recorded calls answer nothing."""

    recordings: Recordings
    name: str = "recorded"
    _held: dict[ToolId, dict[bytes, RecordedCall]] = field(default_factory=dict[ToolId, dict[bytes, RecordedCall]])

    async def arguments(self, tool: ToolId) -> list[JsonObject]:
        """List the arguments of the recorded calls of a tool that were answered, in the order of recording."""
        return [recorded_arguments(call.arguments) for call in (await self._of(tool)).values()]

    async def all_answer(self, tools: Iterable[ToolId]) -> bool:
        """Return whether each of these tools has a recorded answer."""
        for tool in tools:
            if not await self._of(tool):
                return False
        return True

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is answered
        """Return the recorded response.

        Raises:
            NotRecordedError: nothing was recorded for these arguments.
        """
        call = (await self._of(tool.id)).get(_key(arguments))
        if call is None:
            raise NotRecordedError(f"{tool.api}: there is no recorded call with these arguments")
        return CallResult("ok", call.response)

    async def close(self) -> None:
        """Do nothing: the recordings belong to the caller."""

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
