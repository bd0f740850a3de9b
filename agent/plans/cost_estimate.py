"""What carrying out a plan will take of a language model, as far as that can be told before."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.compression.compress import LIMIT
from agent.plans.dry_run import Tried
from domain.tool import ToolDoc, ToolId

_CHARACTERS = 4
"""A token is about so many characters of English or JSON."""
_INSTRUCTIONS = 500
_SAID = {"arguments": 120, "answer": 250}
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
    tried: Tried, docs: Mapping[ToolId, ToolDoc], *, model: bool, phrases: bool, price: Price | None
) -> Expected:
    """A model is asked for the values of each call that leaves some open, and for the answer, where the program makes none itself or what it says
    is said anew (``phrases``). Without a ``model`` nothing is asked.
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
