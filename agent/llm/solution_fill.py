"""The model's decision whether a solution serves a request, with its values and other wordings of the request."""

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
"""Keywords of an input's schema that are shown."""
_SCHEMA = 200
_PATTERN = 400
_REASON = 200
MOST_WORDINGS = 5
"""Other wordings of a request that are kept."""


class GivenInput(BaseModel):
    """A value for one input."""

    input: str
    value: Annotated[JsonValue, WithJsonSchema(_VALUE)]


class FillAnswer(BaseModel):
    """The model's answer (``agent/prompts/fill.md``)."""

    reason: str
    fits: bool
    inputs: list[GivenInput]
    wordings: list[str]
    """Templates of other ways to ask for the same."""


def fill_text(question: FillQuestion, fence: Fence) -> tuple[str, ...]:
    """Render the pattern with its inputs, the values that are already known, and the request."""
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
    """Return the complaint about an answer; empty if there is none."""
    if not answer.fits:
        return ""
    unknown = [clean(one.input, 60) for one in answer.inputs if one.input not in question.inputs]
    if unknown:
        return f"there is no input {', '.join(unknown[:3])}; the inputs are: {', '.join(question.inputs) or 'none'}."
    values = {one.input: one.value for one in answer.inputs}
    _, wrong = read_values({name: schema for name, schema in question.inputs.items() if name in values}, values)
    return " ".join(clean(said, 200) for _, said in wrong[:3])


def filled_of(answer: FillAnswer | None, question: FillQuestion) -> Filled:
    """Convert the answer to a decision; the solution does not fit if no answer can be used."""
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
