"""Estimate of the model calls and tokens that carrying out a plan will take."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.compression.compress import LIMIT
from agent.plans.dry_run import Tried
from domain.tool import ToolDoc, ToolId

_CHARACTERS = 4
"""Characters of English or JSON per token, roughly."""
_INSTRUCTIONS = 500
"""Tokens of the instructions that go with each question."""
_SAID = {"arguments": 120, "answer": 250}
"""Tokens of a model's answer, by the purpose of the question."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Expected:
    """Estimated use of a model."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    """Estimated price; None if no price is known."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


def expected(
    tried: Tried, docs: Mapping[ToolId, ToolDoc], *, model: bool, phrases: bool, price: Price | None
) -> Expected:
    """Estimate the cost of a plan from its dry run.

    A model is asked for arguments by each call that leaves some open, and for the answer if the program has none of
    its own or if its answer is rephrased (``phrases``). Without a ``model`` nothing is asked.
    """
    questions: list[tuple[str, int]] = []
    shown = 0
    for call in tried.calls:
        if call.found or call.missing:
            questions.append(("arguments", shown + len(docs[call.tool].model_dump_json(exclude_defaults=True))))
        shown += min(len(call.response), LIMIT)
    if not tried.speaks:
        questions.append(("answer", shown))
    elif phrases and tried.says is not None and tried.says.answered != "no":
        questions.append(("answer", len(tried.says.answer)))
    if not model:
        return Expected(0, 0, 0, None if price is None else 0.0)
    prompt = sum(_INSTRUCTIONS + characters // _CHARACTERS for _, characters in questions)
    completion = sum(_SAID[purpose] for purpose, _ in questions)
    cost = None if price is None else (prompt * price.prompt + completion * price.completion) / 1_000_000
    return Expected(len(questions), prompt, completion, cost)
