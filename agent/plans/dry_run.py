"""A plan gone through without calling anything: what would be asked of each tool, and what came back when it was asked like that before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.execution.executor import Executor
from agent.execution.validation import checked
from agent.plans.arguments import CarryingOut
from agent.policy.protocol import ArgumentsQuestion, Policy
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.plan import StepResult
from domain.plan_document import PlanDocument
from domain.tool import ToolDoc, ToolId

SHOWN = 2_000
"""Characters of a response that are shown."""
EXAMPLE = "the example in the tool's document; no such call is recorded"
"""The note of an answer that nobody has recorded."""
TryStatus = Literal["answered", "unknown", "missing"]
"""``unknown``: nothing is recorded of such a call, nor is there an example. ``missing``: a value that it needs would not be found."""


@dataclass(frozen=True, slots=True)
class TriedCall:
    """``step`` in the plan, from 1. ``response``: recorded, or the tool document's ``example``, cut; ``note``: which, and what would be complained of."""

    step: int
    tool: ToolId
    arguments: JsonObject
    missing: tuple[str, ...]
    changes: bool
    status: TryStatus
    response: str = ""
    note: str = ""
    example: bool = False


async def tried(
    document: PlanDocument,
    request: str,
    docs: Mapping[ToolId, ToolDoc],
    given: Sequence[tuple[ToolId, StepResult | None]],
    policy: Policy,
    recorded: Executor,
) -> tuple[TriedCall, ...]:
    """The plan's calls in order, to its end. Every tool that it names is in ``docs``.

    ``policy``: finds what the plan leaves open. ``recorded``: answers from recordings, and reaches nothing else. ``given``: the steps of
    other subtasks that it builds on, with their results; where there is none, their documents' examples stand in.
    """
    path = [docs[step.tool] for step in document.steps]
    earlier = [
        (docs[tool], result or _result(docs[tool], {}, docs[tool].example_response or "")) for tool, result in given
    ]
    values = CarryingOut(policy, document, len(given))
    calls: list[TriedCall] = []
    for number, tool in enumerate(path, start=1):
        question = ArgumentsQuestion(request, tool, tuple(earlier), later=tuple(path[number:]))
        answer = await values.arguments(question)
        arguments, wrong = checked(tool, answer.values)
        if answer.missing:
            body, status, note = tool.example_response or "", "missing", answer.why
        elif wrong:
            body, status, note = tool.example_response or "", "missing", " ".join(said for _, said in wrong)
        else:
            body, status, note = await _answer(tool, arguments, recorded)
        example = bool(body) and (status != "answered" or note == EXAMPLE)
        earlier.append((tool, _result(tool, arguments, body)))
        calls.append(
            TriedCall(number, tool.id, arguments, answer.missing, not tool.safe, status, body[:SHOWN], note, example)
        )
    return tuple(calls)


async def _answer(tool: ToolDoc, arguments: JsonObject, recorded: Executor) -> tuple[str, TryStatus, str]:
    """A body, whether there is one, and where it is from."""
    try:
        result = await recorded.call(tool, arguments)
    except FootpathError as error:
        said = str(error)
    else:
        if result.outcome == "ok":
            return result.body, "answered", result.note
        said = result.note
    if tool.example_response:
        return tool.example_response, "answered", EXAMPLE
    return "", "unknown", said


def _result(tool: ToolDoc, arguments: JsonObject, body: str) -> StepResult:
    return StepResult(tool=tool.id, arguments=arguments, status="ok", response=body)
