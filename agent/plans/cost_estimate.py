"""What carrying out a plan will take of a language model, as far as that can be told before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent.compression.compress import LIMIT
from agent.plans.dry_run import TriedCall
from domain.plan_document import PlanDocument
from domain.tool import ToolDoc, ToolId

_CHARACTERS = 4
"""A token is about so many characters of English or JSON."""
_INSTRUCTIONS = 500
_SAID = {"arguments": 120, "answer": 250, "score": 80}
"""Tokens of what is told with each question, and of what comes back, by what it is for."""


@dataclass(frozen=True, slots=True)
class Price:
    """Per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Expected:
    """``cost`` None: no price is known."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.prompt_tokens + self.completion_tokens


def expected(
    document: PlanDocument,
    docs: Mapping[ToolId, ToolDoc],
    calls: Sequence[TriedCall],
    *,
    model: bool,
    learns: bool,
    price: Price | None,
) -> Expected:
    """A model is asked for the values of each step that leaves a required one open, for the answer, and where runs are learnt from, for
    what the steps were worth. Without a ``model`` nothing is asked.
    """
    questions: list[tuple[str, int]] = []
    shown = 0
    for step, call in zip(document.steps, calls, strict=True):
        told = {*step.arguments, *step.takes, *step.named}
        doc = docs[step.tool]
        if any(parameter.name not in told for parameter in doc.required):
            questions.append(("arguments", shown + len(doc.model_dump_json(exclude_defaults=True))))
        shown += min(len(call.response), LIMIT)
    questions += [("answer", shown), *([("score", shown)] if learns else [])]
    if not model:
        return Expected(0, 0, 0, None if price is None else 0.0)
    prompt = sum(_INSTRUCTIONS + characters // _CHARACTERS for _, characters in questions)
    completion = sum(_SAID[purpose] for purpose, _ in questions)
    cost = None if price is None else (prompt * price.prompt + completion * price.completion) / 1_000_000
    return Expected(len(questions), prompt, completion, cost)
