"""Use of the library's solutions by the model: the choice of one for a request, and the values of its inputs."""

import json
from collections.abc import Collection
from typing import Annotated

from pydantic import BaseModel, WithJsonSchema
from pydantic.types import JsonValue

from agent.llm.prompts import PromptFence
from agent.llm.rendering import render_keywords, render_request
from agent.plans.plan_inputs import check_values
from agent.solutions.patterns import resolve_alternatives
from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, NearSolution, SolutionQuestion
from agent.text import clean_text
from domain.model import JsonObject
from domain.tool import ToolId

_MAX_CHOICE_PATTERN_CHARS = 160
_MAX_FUNCTIONS = 24
_MAX_CHOICE_REASON_CHARS = 300
_MAX_PATH_FUNCTIONS = 8
"""Functions of a path."""


class SolutionAnswer(BaseModel):
    """The model's answer (``agent/prompts/choose_solution.md``)."""

    reason: str
    number: int | None
    """A solution, counted from 1; None if none of them fits."""
    path: list[str]
    """Functions to call if no solution fits."""


def render_solutions_prompt(question: SolutionQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the numbered solutions, the other functions that could be called, and the request."""
    numbered = enumerate(question.solutions, start=1)
    lines = "\n".join(_render_solution(number, solution, question.changing) for number, solution in numbered)
    return (
        fence.render_block("solutions", lines),
        fence.render_block("functions", ", ".join(question.functions[:_MAX_FUNCTIONS])) if question.functions else "",
        fence.render_block("earlier", question.earlier) if question.earlier else "",
        render_request(question.request, fence),
        "Your choice?",
    )


def check_solution_choice(answer: SolutionAnswer, question: SolutionQuestion) -> str:
    """Return the complaint about a choice; empty if there is none."""
    count = len(question.solutions)
    if answer.number is not None and not 1 <= answer.number <= count:
        return f"the solutions are numbered from 1 to {count}; null means that none of them fits."
    unknown = [clean_text(name, 60) for name in answer.path if name not in question.functions]
    if answer.number is None and unknown:
        return f"there is no function {', '.join(unknown[:3])}; name those that are listed under functions, or none."
    return ""


def to_chosen_solution(answer: SolutionAnswer | None) -> ChosenSolution:
    """Convert the answer to a choice; none without an answer."""
    if answer is None:
        return ChosenSolution(None, reason="the model made no choice that can be used")
    reason = clean_text(answer.reason, _MAX_CHOICE_REASON_CHARS) or "no reason given"
    if answer.number is not None:
        return ChosenSolution(answer.number - 1, reason=reason)
    return ChosenSolution(None, tuple(answer.path[:_MAX_PATH_FUNCTIONS]), reason)


def _render_solution(number: int, near: NearSolution, changing: Collection[ToolId]) -> str:
    solution = near.solution
    names = {tool: name for name, tool in solution.plan.program.tools.items()}
    path = [
        f"{names[tool]} (CHANGES)" if tool in changing else names[tool]
        for tool in dict.fromkeys(solution.path)
        if tool in names
    ]
    return f"{number}. {' -> '.join(path)}: {clean_text(resolve_alternatives(near.pattern), _MAX_CHOICE_PATTERN_CHARS)}"


_SCALAR_SCHEMAS: list[JsonObject] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_VALUE_SCHEMA = {"anyOf": [*_SCALAR_SCHEMAS, {"type": "array", "items": {"anyOf": _SCALAR_SCHEMAS}}]}
_SHOWN_KEYWORDS = frozenset({"type", "format", "enum", "items", "description", "minimum", "maximum"})
"""Keywords of an input's schema that are shown."""
_MAX_SCHEMA_CHARS = 200
_MAX_FILL_PATTERN_CHARS = 400
_MAX_FILL_REASON_CHARS = 200
MAX_WORDINGS = 5
"""Other wordings of a request that are kept."""


class GivenInput(BaseModel):
    """A value for one input."""

    input: str
    value: Annotated[JsonValue, WithJsonSchema(_VALUE_SCHEMA)]


class FillAnswer(BaseModel):
    """The model's answer (``agent/prompts/fill.md``)."""

    reason: str
    fits: bool
    inputs: list[GivenInput]
    wordings: list[str]
    """Templates of other ways to ask for the same."""


def render_fill_prompt(question: FillQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the pattern with its inputs, the values that are already known, and the request."""
    inputs = "\n".join(
        f"{name}: {render_keywords(schema, _SHOWN_KEYWORDS, _MAX_SCHEMA_CHARS)}"
        for name, schema in question.inputs.items()
    )
    known_note = f"These are plain already: {json.dumps(question.known, ensure_ascii=False)}" if question.known else ""
    return (
        fence.render_block("pattern", clean_text(question.pattern, _MAX_FILL_PATTERN_CHARS)),
        fence.render_block("inputs", inputs) if inputs else "It has no inputs.",
        known_note,
        f"today = {question.today!r}",
        render_request(question.request, fence),
        "Does it fit?",
    )


def check_fill(answer: FillAnswer, question: FillQuestion) -> str:
    """Return the complaint about an answer; empty if there is none."""
    if not answer.fits:
        return ""
    unknown = [
        clean_text(given_input.input, 60) for given_input in answer.inputs if given_input.input not in question.inputs
    ]
    if unknown:
        return f"there is no input {', '.join(unknown[:3])}; the inputs are: {', '.join(question.inputs) or 'none'}."
    values = {given_input.input: given_input.value for given_input in answer.inputs}
    _, complaints = check_values({name: schema for name, schema in question.inputs.items() if name in values}, values)
    return " ".join(clean_text(complaint, 200) for _, complaint in complaints[:3])


def to_filled(answer: FillAnswer | None, question: FillQuestion) -> FilledSolution:
    """Convert the answer to a decision; the solution does not fit if no answer can be used."""
    if answer is None:
        return FilledSolution(fits=False, values={}, reason="the model gave no word on it that can be used")
    why = clean_text(answer.reason, _MAX_FILL_REASON_CHARS) or "no reason given"
    if not answer.fits:
        return FilledSolution(fits=False, values={}, reason=why)
    values = {**{given_input.input: given_input.value for given_input in answer.inputs}, **question.known}
    return FilledSolution(fits=True, values=values, reason=why, wordings=tuple(answer.wordings[:MAX_WORDINGS]))
