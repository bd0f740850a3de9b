"""Executor that answers calls from recordings."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson

from agent.execution.call_similarity import has_usable_answer, normalize_arguments, parse_recorded_arguments
from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall
from graph.recordings import RecordingStore
from synthesis.program_trial import MiningCallError

MAX_RECORDED = 600
"""Maximum of recorded calls in memory for one tool."""


class NotRecordedError(MiningCallError):
    """Nothing was recorded for a call."""


@dataclass(slots=True)
class RecordedExecutor:
    """Answers calls with the recorded response to the same arguments; recordings of failed calls are ignored."""

    recordings: RecordingStore
    name: str = "recorded"
    _calls_by_tool: dict[ToolId, dict[bytes, RecordedCall]] = field(
        default_factory=dict[ToolId, dict[bytes, RecordedCall]]
    )

    async def list_arguments(self, tool: ToolId) -> list[JsonObject]:
        """List the arguments of the recorded calls of a tool that were answered, in the order of recording."""
        return [parse_recorded_arguments(call.arguments) for call in (await self._load_calls(tool)).values()]

    async def can_answer_all(self, tools: Iterable[ToolId]) -> bool:
        """Return whether each of these tools has a recorded answer."""
        for tool in tools:
            if not await self._load_calls(tool):
                return False
        return True

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is answered
        """Return the recorded response.

        Raises:
            NotRecordedError: nothing was recorded for these arguments.
        """
        call = (await self._load_calls(tool.id)).get(_build_key(arguments))
        if call is None:
            raise NotRecordedError(f"{tool.api}: there is no recorded call with these arguments")
        return CallResult("ok", call.response)

    async def close(self) -> None:
        """Do nothing: the recordings belong to the caller."""

    async def _load_calls(self, tool: ToolId) -> dict[bytes, RecordedCall]:
        if tool not in self._calls_by_tool:
            calls = [
                call for call in (await self.recordings.list_calls(tool))[:MAX_RECORDED] if has_usable_answer(call)
            ]
            calls_by_key: dict[bytes, RecordedCall] = {}
            for call in calls:
                calls_by_key.setdefault(_build_key(parse_recorded_arguments(call.arguments)), call)
            self._calls_by_tool[tool] = calls_by_key
        return self._calls_by_tool[tool]


def _build_key(arguments: JsonObject) -> bytes:
    return orjson.dumps(normalize_arguments(arguments), option=orjson.OPT_SORT_KEYS)
