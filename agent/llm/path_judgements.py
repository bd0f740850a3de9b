"""The model's judgement of whole paths: the adoption of a remembered one, and the worth of each step."""

import math

from pydantic import BaseModel

from agent.llm.prompts import Fence
from agent.llm.rendering import line, request_text, steps_text
from agent.policy.path_questions import Proposal, ScoreQuestion
from agent.text import clean

_ANSWER = 2_000
"""Characters of the run's answer that are shown."""


class AdoptionAnswer(BaseModel):
    """The model's answer (``agent/prompts/adopt.md``)."""

    reason: str
    adopted: bool


class ScoresAnswer(BaseModel):
    """The model's answer (``agent/prompts/score.md``)."""

    scores: list[float]


def adoption_text(proposal: Proposal, fence: Fence) -> tuple[str, ...]:
    """Render the request, the earlier request and its calls."""
    memory = proposal.recalled.memory
    calls = "\n".join(f"{number}. {line(tool)}" for number, tool in enumerate(proposal.path, start=1))
    return (
        request_text(proposal.request, fence),
        f"Similarity: {proposal.recalled.similarity:.2f}",
        fence.block("earlier request", clean(memory.request, 2_000)),
        fence.block("calls that served it", calls),
        "Are they taken?",
    )


def score_text(question: ScoreQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the request, the answer, and every step."""
    count = len(question.steps) + len(question.failed)
    first = len(question.steps) + 1
    given_up = f"From step {first} on they were given up on the way." if question.failed else ""
    return (
        request_text(question.request, fence),
        fence.block("answer", question.answer[:_ANSWER]) if question.answered else "The request was not answered.",
        fence.block("steps", steps_text((*question.steps, *question.failed))),
        given_up,
        f"The {count} scores?",
    )


def scores_complaint(answer: ScoresAnswer, question: ScoreQuestion) -> str:
    """Return the complaint about the scores; empty if there is none."""
    count = len(question.steps) + len(question.failed)
    if len(answer.scores) != count:
        return f"there are {count} steps, and {len(answer.scores)} scores were given."
    if not all(math.isfinite(score) and -1 <= score <= 1 for score in answer.scores):
        return "every score is a number from -1 to 1."
    return ""
