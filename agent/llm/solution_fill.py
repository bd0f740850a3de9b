"""What a model is asked where a solution may serve a request: whether it does, with which values, and how else people ask the same."""

import json
from typing import Annotated

from pydantic import BaseModel, WithJsonSchema
from pydantic.types import JsonValue

from agent.llm.prompts import Fence
from agent.llm.rendering import request_text
from agent.plans.parameters import read_values
from agent.solutions.protocol import Filled, FillQuestion
from agent.text import clean
from domain.model import JsonObject

_SCALARS: list[JsonObject] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_VALUE = {"anyOf": [*_SCALARS, {"type": "array", "items": {"anyOf": _SCALARS}}]}
_TOLD = frozenset({"type", "format", "enum", "items", "description", "minimum", "maximum"})
_SCHEMA = 200
_PATTERN = 400
_REASON = 200
MOST_WORDINGS = 5


class GivenInput(BaseModel):
    """A value for one input."""

    input: str
    value: Annotated[JsonValue, WithJsonSchema(_VALUE)]


class FillAnswer(BaseModel):
    """``agent/prompts/fill.md``."""

    reason: str
    fits: bool
    inputs: list[GivenInput]
    wordings: list[str]


def fill_text(question: FillQuestion, fence: Fence) -> tuple[str, ...]:
    """The pattern with its inputs, what is plain already, and the request."""
    inputs = "\n".join(f"{name}: {_schema(schema)}" for name, schema in question.inputs.items())
    known = f"These are plain already: {json.dumps(question.known, ensure_ascii=False)}" if question.known else ""
    return (
        fence.block("pattern", clean(question.pattern, _PATTERN)),
        fence.block("inputs", inputs) if inputs else "It has no inputs.",
        known,
        f"today = {question.today!r}",
        request_text(question.request, fence),
        "Does it fit?",
    )


def fill_complaint(answer: FillAnswer, question: FillQuestion) -> str:
    """What is wrong with an answer; empty where nothing is."""
    if not answer.fits:
        return ""
    unknown = [clean(one.input, 60) for one in answer.inputs if one.input not in question.inputs]
    if unknown:
        return f"there is no input {', '.join(unknown[:3])}; the inputs are: {', '.join(question.inputs) or 'none'}."
    values = {one.input: one.value for one in answer.inputs}
    _, wrong = read_values({name: schema for name, schema in question.inputs.items() if name in values}, values)
    return " ".join(clean(said, 200) for _, said in wrong[:3])


def filled_of(answer: FillAnswer | None, question: FillQuestion) -> Filled:
    """What an answer comes to; without one that can be used, it does not fit."""
    if answer is None:
        return Filled(fits=False, values={}, why="the model gave no word on it that can be used")
    why = clean(answer.reason, _REASON) or "no reason given"
    if not answer.fits:
        return Filled(fits=False, values={}, why=why)
    values = {**{one.input: one.value for one in answer.inputs}, **question.known}
    return Filled(fits=True, values=values, why=why, wordings=tuple(answer.wordings[:MOST_WORDINGS]))


def _schema(schema: JsonObject) -> str:
    kept = {name: value for name, value in schema.items() if name in _TOLD}
    return clean(json.dumps(kept, ensure_ascii=False), _SCHEMA)
