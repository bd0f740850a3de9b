"""The model's judgements of whole paths: adoption of a remembered one, reflection on a plan, scores of its steps."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel

from agent.llm.prompts import PromptFence
from agent.llm.rendering import render_moves, render_request, render_steps, render_tool
from agent.policy.protocol import AdoptionQuestion, Reflection, ReflectionQuestion, ScoreQuestion
from agent.text import clean_text
from domain.tool import ToolDoc

_MAX_ANSWER_CHARS = 2_000
"""Characters of the run's answer that are shown."""


class AdoptionAnswer(BaseModel):
    """The model's answer (``agent/prompts/adopt.md``)."""

    reason: str
    adopted: bool


class ScoresAnswer(BaseModel):
    """The model's answer (``agent/prompts/score.md``)."""

    scores: list[float]


def render_adoption_prompt(proposal: AdoptionQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the request, the earlier request and its calls."""
    memory = proposal.recalled.memory
    calls = "\n".join(f"{number}. {render_tool(tool)}" for number, tool in enumerate(proposal.path, start=1))
    return (
        render_request(proposal.request, fence),
        f"Similarity: {proposal.recalled.similarity:.2f}",
        fence.render_block("earlier request", clean_text(memory.request, 2_000)),
        fence.render_block("calls that served it", calls),
        "Are they taken?",
    )


def render_score_prompt(question: ScoreQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the request, the answer, and every step."""
    count = len(question.steps) + len(question.failed)
    first_failed = len(question.steps) + 1
    given_up = f"From step {first_failed} on they were given up on the way." if question.failed else ""
    return (
        render_request(question.request, fence),
        fence.render_block("answer", question.answer[:_MAX_ANSWER_CHARS])
        if question.answered
        else "The request was not answered.",
        fence.render_block("steps", render_steps((*question.steps, *question.failed))),
        given_up,
        f"The {count} scores?",
    )


def check_scores(answer: ScoresAnswer, question: ScoreQuestion) -> str:
    """Return the complaint about the scores; empty if there is none."""
    count = len(question.steps) + len(question.failed)
    if len(answer.scores) != count:
        return f"there are {count} steps, and {len(answer.scores)} scores were given."
    if not all(math.isfinite(score) and -1 <= score <= 1 for score in answer.scores):
        return "every score is a number from -1 to 1."
    return ""


_ENDINGS = {
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


def render_reflection_prompt(question: ReflectionQuestion, fence: PromptFence) -> tuple[str, ...]:
    """Render the request, the start tools, the moves, the path, and how it ended."""
    path = _number_tools(question.path)
    starts = _number_tools([candidate.tool for candidate in question.starts])
    earlier_calls = "\n".join(f"- {render_tool(tool)}" for tool in question.earlier_tools)
    moves = render_moves(question.memory)
    return (
        render_request(question.request, fence),
        fence.render_block("start tools", starts) if starts else "There was no tool to start with.",
        fence.render_block("moves so far", moves) if moves else "",
        fence.render_block("calls made before this path", earlier_calls) if earlier_calls else "",
        fence.render_block("path", path) if path else "There is no path.",
        f"{_ENDINGS[question.ending]} {clean_text(question.reason, 300)}",
        "Your judgement?",
    )


def check_reflection(answer: ReflectionAnswer, question: ReflectionQuestion) -> str:
    """Return the complaint about a judgement for the model to correct; empty if it is right."""
    steps, starts = len(question.path), len(question.starts)
    if answer.verdict == "partial" and not 1 <= (answer.first_wrong or 0) <= steps + 1:
        return f"a partial failure needs the number of a step: from 1 to {steps}, or {steps + 1} where something is left to do."
    if answer.verdict == "partial" and not steps:
        return "there is no path that could be partly right."
    if answer.verdict == "success" and (not steps or question.ending == "gave_up"):
        return "planning gave up, so there is no path to go on with: it is a partial or a total failure."
    if answer.verdict == "total" and any(not 1 <= number <= starts for number in answer.noisy):
        return f"the start tools are numbered from 1 to {starts}."
    return ""


def to_reflection(answer: ReflectionAnswer | None, question: ReflectionQuestion) -> Reflection:
    """Convert the answer to a judgement; without a valid one, the outcome of the planning is accepted as it is."""
    if answer is None:
        accepted = question.path and question.ending != "gave_up"
        return Reflection("success" if accepted else "total", "the model gave no valid judgement")
    reason = clean_text(answer.reason, 300) or "no reason given"
    if answer.verdict == "partial":
        return Reflection("partial", reason, first_wrong=answer.first_wrong)
    noisy = dict.fromkeys(answer.noisy) if answer.verdict == "total" else ()
    return Reflection(answer.verdict, reason, noisy=tuple(question.starts[number - 1].tool.id for number in noisy))


def _number_tools(tools: Sequence[ToolDoc]) -> str:
    return "\n".join(f"{number}. {render_tool(tool)}" for number, tool in enumerate(tools, start=1))
