"""Typed decisions of a model: ask, parse, check, return one complaint, and account for the cost."""

import json
import re
import time
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from agent.llm.client.chat import AnswerForm, ChatMessage, ChatModel, ModelReply, ModelTokenUsage, estimate_usage
from agent.policy.protocol import PolicyCost
from agent.text import clean_text
from domain.errors import BudgetExceededError, InvalidDecisionError, ModelUnavailableError
from domain.model import JsonObject, describe_errors

A = TypeVar("A", bound=BaseModel)
_MAX_ECHO_CHARS = 2_000
"""Characters of a rejected reply that are repeated to the model."""
_MAX_STARTS = 20
"""Braces of a reply at which JSON is tried, as each attempt may read to the end."""
_TIMEOUT_SLACK = 0.1
"""Seconds left of the run's time below which a timeout counts as the end of that time."""
_DROPPED_KEYWORDS = frozenset({"title", "default", "description", "discriminator"})
"""JSON Schema keywords that strict endpoints refuse or that only cost tokens."""
_REPLACED_KEYWORDS = {"oneOf": "anyOf"}
"""Keywords that strict endpoints know by another name."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ModelAllowance:
    """Limits for the model's use in one run, taken from the run's budget."""

    seconds: float = 120.0
    """Wall time since the run's first decision."""
    model_calls: int = 64
    tokens: int = 200_000
    """Prompt and completion tokens together."""


@dataclass(slots=True)
class ModelAccount:
    """Use of all models that one run asks."""

    cost: PolicyCost = field(default_factory=PolicyCost)
    started_at: float | None = None
    """Time of its first decision."""


TokenPrices = tuple[float, float]
"""Prices of a million prompt tokens and of a million completion tokens."""


class ModelPrompter:
    """Asks a model for one run and accounts for it in ``cost``.

    ``account`` is given if the run asks other models as well.
    """

    def __init__(
        self,
        model: ChatModel,
        allowance: ModelAllowance,
        clock: Callable[[], float] = time.monotonic,
        *,
        account: ModelAccount | None = None,
        prices: TokenPrices | None = None,
    ) -> None:
        self._account = account or ModelAccount()
        self.cost = self._account.cost
        self._model = model
        self._allowance = allowance
        self._clock = clock
        self._prices = prices

    async def decide(
        self, purpose: str, messages: Sequence[ChatMessage], answer_type: type[A], check: Callable[[A], str]
    ) -> tuple[A | None, A | None]:
        """Return the answer that passes ``check`` or None, and the last answer that could be parsed.

        ``check`` returns the complaint about an answer, empty if there is none; the model is told a complaint once.

        Raises:
            ModelUnavailableError: the model gave no answer.
            BudgetExceededError: the model may not be asked any more.
        """
        form, conversation = build_answer_form(purpose, answer_type), list(messages)
        last_readable: A | None = None
        for _ in range(2):
            reply = await self.complete(purpose, conversation, form)
            parsed = _parse_answer(reply, answer_type)
            complaint = parsed if isinstance(parsed, str) else check(parsed)
            last_readable = last_readable if isinstance(parsed, str) else parsed
            if not isinstance(parsed, str) and not complaint:
                return parsed, parsed
            correction = f"That cannot be used: {complaint} Answer again, with one JSON object of the form asked for and nothing else."
            conversation += [
                ChatMessage("assistant", reply.text[:_MAX_ECHO_CHARS] or "…"),
                ChatMessage("user", correction),
            ]
        return None, last_readable

    async def stream(self, purpose: str, messages: Sequence[ChatMessage]) -> AsyncIterator[str | ModelReply]:
        """Stream an answer; the last item is the whole reply.

        Raises:
            InvalidDecisionError: the answer is empty.
            ModelUnavailableError: as for ``decide``.
            BudgetExceededError: as for ``decide``.
        """
        seconds = self._charge_call(purpose)
        received, is_counted = "", False
        try:
            with self._translate_timeout():
                async with aclosing(cast("Any", self._model.stream(messages, seconds=seconds))) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, ModelReply):
                            self._count_tokens(purpose, piece.usage)
                            is_counted = True
                            if not piece.text.strip():
                                raise InvalidDecisionError("the model's answer is empty")
                        else:
                            received += piece
                        yield piece
        finally:
            if received and not is_counted:  # the usage comes with the last piece, which never arrived
                self._count_tokens(purpose, estimate_usage(messages, received))

    async def complete(
        self, purpose: str, messages: Sequence[ChatMessage], form: AnswerForm | None = None
    ) -> ModelReply:
        """Return the whole reply, unchecked. Raises as ``decide``."""
        seconds = self._charge_call(purpose)
        with self._translate_timeout():
            reply = await self._model.complete(messages, form, seconds=seconds)
        self._count_tokens(purpose, reply.usage)
        return reply

    @contextmanager
    def _translate_timeout(self) -> Generator[None]:
        """Turn a timeout at the end of the run's time into a spent budget: the model has not failed."""
        try:
            yield
        except ModelUnavailableError as error:
            if error.kind == "timeout" and self._get_remaining_seconds() <= _TIMEOUT_SLACK:
                raise self._build_budget_error(f"{self._allowance.seconds:g} seconds") from error
            raise

    def _get_remaining_seconds(self) -> float:
        now, account = self._clock(), self._account
        # The clock starts with the first decision, not when the run was made.
        account.started_at = now if account.started_at is None else account.started_at
        return self._allowance.seconds - (now - account.started_at)

    def _charge_call(self, purpose: str) -> float:
        """Account for a call that is about to be made, and return the seconds that it may take."""
        allowed, cost = self._allowance, self.cost
        remaining = self._get_remaining_seconds()
        used_up = {
            f"{allowed.seconds:g} seconds": remaining <= 0,
            f"{allowed.model_calls} model calls": cost.model_calls >= allowed.model_calls,
            f"{allowed.tokens} tokens": cost.prompt_tokens + cost.completion_tokens >= allowed.tokens,
        }
        for bound, reached in used_up.items():
            if reached:
                raise self._build_budget_error(bound)
        cost.model_calls += 1
        cost.by_purpose[purpose] = cost.by_purpose.get(purpose, 0) + 1
        return remaining

    @staticmethod
    def _build_budget_error(bound: str) -> BudgetExceededError:
        return BudgetExceededError(f"the budget of {bound} is used up, so the model is not asked any more")

    def _count_tokens(self, purpose: str, usage: ModelTokenUsage) -> None:
        tokens = self.cost.tokens_by_purpose
        tokens[purpose] = tokens.get(purpose, 0) + usage.prompt + usage.completion
        self.cost.prompt_tokens += usage.prompt
        self.cost.completion_tokens += usage.completion
        if self._prices is not None:
            prompt, completion = self._prices
            price = (usage.prompt * prompt + usage.completion * completion) / 1_000_000
            self.cost.money = (self.cost.money or 0.0) + price


def build_answer_form(name: str, answer_type: type[BaseModel]) -> AnswerForm:
    """Build the JSON Schema of an answer in the strict subset that endpoints accept.

    Every field is required, no others are allowed, and there are no defaults. A union is ``anyOf``, without a
    discriminator.
    """
    return AnswerForm(name, cast(JsonObject, _to_strict_schema(answer_type.model_json_schema())))


def _to_strict_schema(node: Any) -> Any:
    if isinstance(node, list):
        return [_to_strict_schema(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("dict[str, Any]", node)
    strict = {
        _REPLACED_KEYWORDS.get(key, key): _to_strict_schema(value)
        for key, value in schema.items()
        if key not in _DROPPED_KEYWORDS
    }
    if "properties" in schema:
        # Fields may be called "title" or "default": their names are no keywords.
        strict["properties"] = {name: _to_strict_schema(inner) for name, inner in schema["properties"].items()}
        strict |= {"required": list(schema["properties"]), "additionalProperties": False}
    return strict


def _parse_answer(reply: ModelReply, answer_type: type[A]) -> A | str:
    """Return the answer in a reply, or the complaint about it.

    Prose, thoughts and code fences around the object are skipped.
    """
    if reply.cut:
        return "it is too long and was cut off."
    text = _THOUGHTS.sub("", reply.text)
    for start in islice((position for position, char in enumerate(text) if char == "{"), _MAX_STARTS):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
            return answer_type.model_validate(value)
        except ValidationError as error:
            return f"{clean_text(describe_errors(error, 5), 800)}."
        except ValueError:
            continue
        except RecursionError:
            break
    return "it holds no JSON object that can be read."
