"""No call is made twice in a run: an identical one is answered from the first."""

import json
from dataclasses import replace

from agent.executor import CallResult, Executor
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId


class ReusingExecutor:
    """An executor for one run. Writes are not repeated either: after a change of plan that would do the thing twice."""

    def __init__(self, executor: Executor) -> None:
        self.name = executor.name
        self._executor = executor
        self._made: dict[tuple[ToolId, str], CallResult] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The result of the call, made now or earlier in this run; ``attempts`` is 0 for the latter."""
        key = (tool.id, json.dumps(arguments, sort_keys=True))
        if key in self._made:
            made = self._made[key]
            note = " ".join(
                part for part in (made.note, "Answered from the same call, made before in this run.") if part
            )
            return replace(made, attempts=0, seconds=0.0, note=note)
        self._made[key] = await self._executor.call(tool, arguments)
        return self._made[key]

    async def close(self) -> None:
        """Close the executor that makes the calls."""
        await self._executor.close()
