"""The events of a run, folded into what it came to: the object that ``ask --json`` prints and evaluation reads."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from agent.frontier import Path
from domain.event import CallFinished, EventRecord, PathEnded, PlanReady, RunFinished, RunStarted
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolId


@dataclass(slots=True)
class Transcript:
    """``steps``: results by step of the last plan. ``failed``: results of steps that were gone around, in order.

    ``failed_after``: of those that followed another tool, that tool and theirs.
    """

    request: str = ""
    path: Path = ()
    steps: dict[int, StepResult] = field(default_factory=dict[int, StepResult])
    failed: list[StepResult] = field(default_factory=list[StepResult])
    failed_after: list[tuple[ToolId, ToolId]] = field(default_factory=list[tuple[ToolId, ToolId]])
    end: RunFinished | None = None

    @classmethod
    def of(cls, records: Iterable[EventRecord]) -> "Transcript":
        """Fold a whole run."""
        transcript = cls()
        for record in records:
            transcript.add(record)
        return transcript

    def add(self, record: EventRecord) -> None:
        """Take one more event into account."""
        match record.event:
            case RunStarted() as event:
                self.request = event.request
            case PlanReady() as event:
                self._plan(event.plan.path)
            case PathEnded() as event if not event.path:
                self._plan(())
            case CallFinished() as event:
                self.steps[event.step] = event.result
            case RunFinished() as event:
                self.end = event
            case _:
                return

    def _plan(self, path: Path) -> None:
        """A new plan: the results of what it shares with the last one stay, failures are set aside."""
        kept: dict[int, StepResult] = {}
        shared = True
        for step in sorted(self.steps):
            result = self.steps[step]
            shared = shared and step <= len(path) and path[step - 1] == result.tool and result.status == "ok"
            if shared:
                kept[step] = result
            else:
                self.failed.append(result)
                if step > 1 and result.status != "ok":
                    self.failed_after.append((self.path[step - 2], result.tool))
        self.path, self.steps = path, kept

    def to_json(self) -> JsonObject:
        """The keys of the command contract. The last plan's steps come first, in order; failed ones after them."""
        end = self.end or RunFinished.model_validate({"outcome": "failed", "answer": "", "usage": {}})
        usage = end.usage
        steps = [*(self.steps[step] for step in sorted(self.steps)), *self.failed]
        subtask: JsonObject = {"name": self.request, "path": list(self.path), "steps": [_step(step) for step in steps]}
        found: JsonObject = {
            "answer": end.answer,
            "outcome": end.outcome,
            "subtasks": [subtask],
            "considered": usage.considered,
            "backtracks": usage.backtracks,
            "model_calls": usage.model_calls,
            "tokens": {"prompt": usage.prompt_tokens, "completion": usage.completion_tokens},
            "seconds": {"plan": usage.plan_seconds, "execute": usage.execute_seconds, "total": usage.total_seconds},
        }
        return {**found, "error": end.error} if end.error else found


def _step(result: StepResult) -> JsonObject:
    return {
        "tool": result.tool,
        "arguments": result.arguments,
        "provenance": [binding.model_dump(mode="json") for binding in result.provenance],
        "status": result.status,
        "attempts": result.attempts,
        "response": result.response,
        "note": result.note,
    }
