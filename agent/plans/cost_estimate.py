"""Estimate the model calls, tokens and cost of carrying out a plan from its dry run."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.compression.response_compression import COMPRESSION_LIMIT
from agent.plans.dry_run import DryRunResult
from domain.tool import ToolDoc, ToolId

_CHARACTERS_PER_TOKEN = 4
"""Characters of English or JSON per token, roughly."""
_INSTRUCTION_TOKENS = 500
"""Tokens of the instructions that go with each question."""
_ANSWER_TOKENS = {"arguments": 120, "answer": 250}
"""Tokens of a model's answer, by the purpose of the question."""


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Prices of a model per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """Estimated use of a model by one run of a plan."""

    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None = None
    """Estimated price; None if no price is known."""

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


def estimate_cost(
    dry_run: DryRunResult, docs: Mapping[ToolId, ToolDoc], *, has_model: bool, rephrases: bool, price: ModelPrice | None
) -> CostEstimate:
    """Estimate the cost of a plan from its dry run.

    A model is asked for the arguments of each call that leaves some open, and for the answer if the program has none of
    its own.

    Arguments:
        dry_run: The dry run.
        docs: Documents of the tools that it called.
        has_model: A model is used; without one, nothing is asked.
        rephrases: The model also rephrases an answer that the program composes.
        price: Prices of the model; None if they are not known.
    """
    questions: list[tuple[str, int]] = []
    shown_characters = 0
    for call in dry_run.calls:
        if call.found or call.missing:
            questions.append(
                ("arguments", shown_characters + len(docs[call.tool].model_dump_json(exclude_defaults=True)))
            )
        shown_characters += min(len(call.response), COMPRESSION_LIMIT)
    if not dry_run.speaks:
        questions.append(("answer", shown_characters))
    elif rephrases and dry_run.says is not None and dry_run.says.answered != "no":
        questions.append(("answer", len(dry_run.says.answer)))
    if not has_model:
        return CostEstimate(0, 0, 0, None if price is None else 0.0)
    prompt = sum(_INSTRUCTION_TOKENS + characters // _CHARACTERS_PER_TOKEN for _, characters in questions)
    completion = sum(_ANSWER_TOKENS[purpose] for purpose, _ in questions)
    cost = None if price is None else (prompt * price.prompt + completion * price.completion) / 1_000_000
    return CostEstimate(len(questions), prompt, completion, cost)
