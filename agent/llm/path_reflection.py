"""The model's judgement of an ended walk; it names steps and start tools by the numbers that it was shown."""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from agent.llm.prompts import Fence
from agent.llm.rendering import line, moves_text, request_text
from agent.policy.path_questions import Reflection, ReflectionQuestion
from agent.text import clean
from domain.tool import ToolDoc

_ENDED = {
    "finished": "The planning finished this path.",
    "gave_up": "The planning gave up; the path shown is the best that it had seen.",
    "budget": "The planning ran out of moves; the path shown is the best that it had seen.",
}


class ReflectionAnswer(BaseModel):
    """The model's answer (``agent/prompts/reflect.md``)."""

    reason: str
    verdict: Literal["success", "partial", "total"]
    first_wrong: int | None = None
    noisy: list[int] = []


def reflection_text(question: ReflectionQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the request, the start tools, the moves, the path, and how it ended."""
    path = _numbered(question.path)
    starts = _numbered([candidate.tool for candidate in question.starts])
    given = "\n".join(f"- {line(tool)}" for tool in question.given)
    moves = moves_text(question.memory)
    return (
        request_text(question.request, fence),
        fence.block("start tools", starts) if starts else "There was no tool to start with.",
        fence.block("moves so far", moves) if moves else "",
        fence.block("calls made before this path", given) if given else "",
        fence.block("path", path) if path else "There is no path.",
        f"{_ENDED[question.how]} {clean(question.reason, 300)}",
        "Your judgement?",
    )


def complaint_of(answer: ReflectionAnswer, question: ReflectionQuestion) -> str:
    """Return the complaint about a judgement for the model to correct; empty if it is right."""
    steps, starts = len(question.path), len(question.starts)
    if answer.verdict == "partial" and not 1 <= (answer.first_wrong or 0) <= steps + 1:
        return f"a partial failure needs the number of a step: from 1 to {steps}, or {steps + 1} where something is left to do."
    if answer.verdict == "partial" and not steps:
        return "there is no path that could be partly right."
    if answer.verdict == "success" and (not steps or question.how == "gave_up"):
        return "planning gave up, so there is no path to go on with: it is a partial or a total failure."
    if answer.verdict == "total" and any(not 1 <= number <= starts for number in answer.noisy):
        return f"the start tools are numbered from 1 to {starts}."
    return ""


def reflection_of(answer: ReflectionAnswer | None, question: ReflectionQuestion) -> Reflection:
    """Convert the answer to a judgement; without a valid one, the outcome of the planning is accepted as it is."""
    if answer is None:
        accepted = question.path and question.how != "gave_up"
        return Reflection("success" if accepted else "total", "the model gave no valid judgement")
    reason = clean(answer.reason, 300) or "no reason given"
    if answer.verdict == "partial":
        return Reflection("partial", reason, first_wrong=answer.first_wrong)
    noisy = dict.fromkeys(answer.noisy) if answer.verdict == "total" else ()
    return Reflection(answer.verdict, reason, noisy=tuple(question.starts[number - 1].tool.id for number in noisy))


def _numbered(tools: Sequence[ToolDoc]) -> str:
    return "\n".join(f"{number}. {line(tool)}" for number, tool in enumerate(tools, start=1))
