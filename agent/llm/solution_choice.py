"""The model's choice among the library's solutions near a request, shown by their calls and patterns."""

from collections.abc import Collection

from pydantic import BaseModel

from agent.llm.prompts import Fence
from agent.llm.rendering import request_text
from agent.solutions.alignment import as_read
from agent.solutions.protocol import ChosenSolution, NearSolution, SolutionQuestion
from agent.text import clean
from domain.tool import ToolId

_PATTERN = 160
_FUNCTIONS = 24
_REASON = 300
_NAMED = 8
"""Functions of a path."""


class SolutionAnswer(BaseModel):
    """The model's answer (``agent/prompts/choose_solution.md``)."""

    reason: str
    number: int | None
    """A solution, counted from 1; None if none of them fits."""
    path: list[str]
    """Functions to call if no solution fits."""


def solutions_text(question: SolutionQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the numbered solutions, the other functions that could be called, and the request."""
    shown = enumerate(question.solutions, start=1)
    lines = "\n".join(_line(number, one, question.changing) for number, one in shown)
    return (
        fence.block("solutions", lines),
        fence.block("functions", ", ".join(question.functions[:_FUNCTIONS])) if question.functions else "",
        fence.block("earlier", question.earlier) if question.earlier else "",
        request_text(question.request, fence),
        "Your choice?",
    )


def solution_complaint(answer: SolutionAnswer, question: SolutionQuestion) -> str:
    """Return the complaint about a choice; empty if there is none."""
    count = len(question.solutions)
    if answer.number is not None and not 1 <= answer.number <= count:
        return f"the solutions are numbered from 1 to {count}; null means that none of them fits."
    unknown = [clean(name, 60) for name in answer.path if name not in question.functions]
    if answer.number is None and unknown:
        return f"there is no function {', '.join(unknown[:3])}; name those that are listed under functions, or none."
    return ""


def chosen_of(answer: SolutionAnswer | None) -> ChosenSolution:
    """Convert the answer to a choice; none without an answer."""
    if answer is None:
        return ChosenSolution(None, reason="the model made no choice that can be used")
    reason = clean(answer.reason, _REASON) or "no reason given"
    if answer.number is not None:
        return ChosenSolution(answer.number - 1, reason=reason)
    return ChosenSolution(None, tuple(answer.path[:_NAMED]), reason)


def _line(number: int, near: NearSolution, changing: Collection[ToolId]) -> str:
    solution = near.solution
    names = {tool: name for name, tool in solution.plan.program.tools.items()}
    path = [
        f"{names[tool]} (CHANGES)" if tool in changing else names[tool]
        for tool in dict.fromkeys(solution.path)
        if tool in names
    ]
    return f"{number}. {' -> '.join(path)}: {clean(as_read(near.pattern), _PATTERN)}"
