"""Sample requests that a tool should serve, generated from its document if nobody gave any."""

import re

from pydantic.types import JsonValue

from agent.text import clean
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.identifiers import words
from synthesis.combinations import Combination
from synthesis.intents import Course, intents
from synthesis.mining import mined_set
from synthesis.questions import questions
from synthesis.sentences import written

MOST = 3
_LOOKED_AT = 40
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
"""A repeated word: nobody asks like that."""
_SENTENCE = re.compile(r"[^.!?。！？]+")


def made_requests(tool: ToolDoc, arguments: JsonObject | None = None, most: int = MOST) -> tuple[str, ...]:
    """Return different questions that a tool answers, worded from its document, at most ``most``.

    If they are too few, the description's first sentence and the name as words are added. ``arguments`` are those of the live call, as
    values that people would name; nobody asks for "the weather of city".
    """
    found: dict[str, None] = {}
    named = tuple(_with_example(one, (arguments or {}).get(one.name)) for one in tool.parameters)
    asked = tool.model_copy(update={"credentials": (), "parameters": named})
    for combination in mined_set("", [asked]).combinations[:_LOOKED_AT]:
        if len(combination.walk.tools) == 1 and combination.output is not None and not combination.walk.changes:
            for question in _questions(combination)[:1]:
                if not _DOUBLED.search(question):
                    found.setdefault(question)
        if len(found) >= most:
            break
    for sentence in _described(tool):
        if len(found) < most:
            found.setdefault(sentence)
    return tuple(found)[:most]


def _questions(combination: Combination) -> list[str]:
    intent = next(iter(intents(Course(combination))), None)
    if intent is None:
        return []
    made = written(intent)
    values = {one.name: _value(one.parameter) for one in made.inputs}
    asked = questions(intent, made.inputs)
    return [re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[1]), one) for one in asked]


def _with_example(one: Parameter, given: JsonValue) -> Parameter:
    """Return a parameter with a given value as its example; of a list, its first item."""
    value = given[0] if isinstance(given, list) and given else given
    plain = value is not None and not isinstance(value, dict | list)
    return one.model_copy(update={"example": value}) if plain else one


def _value(one: Parameter) -> str:
    for value in (one.example, one.default, *one.enum):
        if value not in (None, ""):
            return clean(str(value), 60)
    return " ".join(words(one.name)) or one.name


def _described(tool: ToolDoc) -> list[str]:
    """Return the first sentence of the description, and the name as words."""
    first = _SENTENCE.search(tool.description)
    sentence = clean(first[0].strip(), 200) if first else ""
    return [one for one in (sentence, " ".join(words(tool.api))) if one]
