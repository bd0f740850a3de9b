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

from agent.llm.client.chat import AnswerForm, ChatModel, Message, Reply, TokenUsage, estimated
from agent.policy.protocol import Cost
from agent.text import clean
from domain.errors import BudgetExceededError, InvalidDecisionError, ModelUnavailableError
from domain.model import JsonObject, what_is_wrong

A = TypeVar("A", bound=BaseModel)
_SHOWN_BACK = 2_000
"""Characters of a rejected reply that are repeated to the model."""
_MOST_STARTS = 20
_HARDLY_ANY = 0.1
"""Seconds left of the run's time below which a timeout counts as the end of that time."""
_LEFT_OUT = frozenset({"title", "default", "description", "discriminator"})
_SAID = {"oneOf": "anyOf"}
"""Keywords that strict endpoints know by another name."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Allowance:
    """Limits for the model's use in one run, taken from the run's budget."""

    seconds: float = 120.0
    """Wall time since the run's first decision."""
    model_calls: int = 64
    tokens: int = 200_000
    """Prompt and completion tokens together."""


@dataclass(slots=True)
class Account:
    """Use of all models that one run asks."""

    cost: Cost = field(default_factory=Cost)
    began: float | None = None
    """Time of its first decision."""


Prices = tuple[float, float]
"""Prices of a million prompt tokens and of a million completion tokens."""


class Asker:
    """Asks a model for one run and accounts for it in ``cost``.

    ``account`` is given if the run asks other models as well.
    """

    def __init__(
        self,
        model: ChatModel,
        allowance: Allowance,
        clock: Callable[[], float] = time.monotonic,
        *,
        account: Account | None = None,
        prices: Prices | None = None,
    ) -> None:
        self._account = account or Account()
        self.cost = self._account.cost
        self._model = model
        self._allowance = allowance
        self._clock = clock
        self._prices = prices

    async def decide(
        self, purpose: str, messages: Sequence[Message], answer: type[A], check: Callable[[A], str]
    ) -> tuple[A | None, A | None]:
        """Return the answer that passes ``check`` or None, and the last answer that could be parsed.

        ``check`` returns the complaint about an answer, empty if there is none. A complaint is returned to the model once.

        Raises:
            ModelUnavailableError: the model gave no answer.
            BudgetExceededError: the model may not be asked any more.
        """
        form, conversation = form_of(purpose, answer), list(messages)
        last: A | None = None
        for _ in range(2):
            reply = await self.say(purpose, conversation, form)
            read = _read(reply, answer)
            complaint = read if isinstance(read, str) else check(read)
            last = last if isinstance(read, str) else read
            if not isinstance(read, str) and not complaint:
                return read, read
            told = f"That cannot be used: {complaint} Answer again, with one JSON object of the form asked for and nothing else."
            conversation += [Message("assistant", reply.text[:_SHOWN_BACK] or "…"), Message("user", told)]
        return None, last

    async def stream(self, purpose: str, messages: Sequence[Message]) -> AsyncIterator[str | Reply]:
        """Stream an answer; the last item is the whole reply.

        Raises:
            InvalidDecisionError: the answer is empty.
            ModelUnavailableError: as for ``decide``.
            BudgetExceededError: as for ``decide``.
        """
        seconds = self._begin(purpose)
        heard, counted = "", False
        try:
            with self._in_time():
                async with aclosing(cast("Any", self._model.stream(messages, seconds=seconds))) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Reply):
                            self._count(purpose, piece.usage)
                            counted = True
                            if not piece.text.strip():
                                raise InvalidDecisionError("the model's answer is empty")
                        else:
                            heard += piece
                        yield piece
        finally:
            if heard and not counted:  # the usage comes with the last piece, which never arrived
                self._count(purpose, estimated(messages, heard))

    async def say(self, purpose: str, messages: Sequence[Message], form: AnswerForm | None = None) -> Reply:
        """Return the whole reply, unchecked. Raises as ``decide``."""
        seconds = self._begin(purpose)
        with self._in_time():
            reply = await self._model.complete(messages, form, seconds=seconds)
        self._count(purpose, reply.usage)
        return reply

    @contextmanager
    def _in_time(self) -> Generator[None]:
        """Turn a timeout at the end of the run's time into a spent budget: the model has not failed."""
        try:
            yield
        except ModelUnavailableError as error:
            if error.kind == "timeout" and self._seconds_left() <= _HARDLY_ANY:
                raise self._used_up(f"{self._allowance.seconds:g} seconds") from error
            raise

    def _seconds_left(self) -> float:
        now, account = self._clock(), self._account
        # The clock starts with the first decision, not when the run was made.
        account.began = now if account.began is None else account.began
        return self._allowance.seconds - (now - account.began)

    def _begin(self, purpose: str) -> float:
        """Account for a call that is about to be made, and return the seconds that it may take."""
        allowed, cost = self._allowance, self.cost
        left = self._seconds_left()
        used = {
            f"{allowed.seconds:g} seconds": left <= 0,
            f"{allowed.model_calls} model calls": cost.model_calls >= allowed.model_calls,
            f"{allowed.tokens} tokens": cost.prompt_tokens + cost.completion_tokens >= allowed.tokens,
        }
        for bound, reached in used.items():
            if reached:
                raise self._used_up(bound)
        cost.model_calls += 1
        cost.by_purpose[purpose] = cost.by_purpose.get(purpose, 0) + 1
        return left

    @staticmethod
    def _used_up(bound: str) -> BudgetExceededError:
        return BudgetExceededError(f"the budget of {bound} is used up, so the model is not asked any more")

    def _count(self, purpose: str, usage: TokenUsage) -> None:
        spent = self.cost.tokens_by_purpose
        spent[purpose] = spent.get(purpose, 0) + usage.prompt + usage.completion
        self.cost.prompt_tokens += usage.prompt
        self.cost.completion_tokens += usage.completion
        if self._prices is not None:
            prompt, completion = self._prices
            paid = (usage.prompt * prompt + usage.completion * completion) / 1_000_000
            self.cost.money = (self.cost.money or 0.0) + paid


def form_of(name: str, answer: type[BaseModel]) -> AnswerForm:
    """Build the JSON Schema of an answer in the strict subset that endpoints accept.

    Every field is required, no others are allowed, and there are no defaults. A union is ``anyOf``, without a
    discriminator.
    """
    return AnswerForm(name, cast(JsonObject, _strict(answer.model_json_schema())))


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    held = cast("dict[str, Any]", node)
    kept = {_SAID.get(key, key): _strict(value) for key, value in held.items() if key not in _LEFT_OUT}
    if "properties" in held:
        # Fields may be called "title" or "default": their names are no keywords.
        kept["properties"] = {name: _strict(inner) for name, inner in held["properties"].items()}
        kept |= {"required": list(held["properties"]), "additionalProperties": False}
    return kept


def _read(reply: Reply, answer: type[A]) -> A | str:
    """Return the answer in a reply, or the complaint about it.

    Prose, thoughts and code fences around the object are skipped.
    """
    if reply.cut:
        return "it is too long and was cut off."
    text = _THOUGHTS.sub("", reply.text)
    for start in islice((at for at, char in enumerate(text) if char == "{"), _MOST_STARTS):
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start)
            return answer.model_validate(found)
        except ValidationError as error:
            return f"{clean(what_is_wrong(error, 5), 800)}."
        except ValueError:
            continue
        except RecursionError:
            break
    return "it holds no JSON object that can be read."
