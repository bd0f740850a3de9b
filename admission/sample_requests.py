"""Sample requests that a tool should serve, generated from its document if nobody gave any."""

import re

from pydantic.types import JsonValue

from agent.text import clean_text
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc
from graph.identifiers import split_words
from synthesis.combinations import Combination, mine_toolset
from synthesis.intent_program import write_program
from synthesis.intents import QueryPath, enumerate_intents
from synthesis.questions import render_questions

MAX_REQUESTS = 3
_MAX_COMBINATIONS = 40
_DOUBLED = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
"""A repeated word: nobody asks like that."""
_SENTENCE = re.compile(r"[^.!?。！？]+")


def make_sample_requests(
    tool: ToolDoc, arguments: JsonObject | None = None, limit: int = MAX_REQUESTS
) -> tuple[str, ...]:
    """Return different questions that a tool answers, worded from its document, at most ``limit``.

    If they are too few, the description's first sentence and the name as words are added. ``arguments`` are those of the live call, as
    values that people would name; nobody asks for "the weather of city".
    """
    requests: dict[str, None] = {}
    parameters = tuple(_add_example(parameter, (arguments or {}).get(parameter.name)) for parameter in tool.parameters)
    example_tool = tool.model_copy(update={"credentials": (), "parameters": parameters})
    for combination in mine_toolset("", [example_tool]).combinations[:_MAX_COMBINATIONS]:
        if len(combination.walk.tools) == 1 and combination.output is not None and not combination.walk.changes:
            for question in _build_questions(combination)[:1]:
                if not _DOUBLED.search(question):
                    requests.setdefault(question)
        if len(requests) >= limit:
            break
    for sentence in _describe_tool(tool):
        if len(requests) < limit:
            requests.setdefault(sentence)
    return tuple(requests)[:limit]


def _build_questions(combination: Combination) -> list[str]:
    intent = next(iter(enumerate_intents(QueryPath(combination))), None)
    if intent is None:
        return []
    wording = write_program(intent)
    values = {one.name: _choose_value(one.parameter) for one in wording.inputs}
    templates = render_questions(intent, wording.inputs)
    return [re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[1]), one) for one in templates]


def _add_example(parameter: Parameter, given_value: JsonValue) -> Parameter:
    """Return a parameter with a given value as its example; of a list, its first item."""
    value = given_value[0] if isinstance(given_value, list) and given_value else given_value
    is_scalar = value is not None and not isinstance(value, dict | list)
    return parameter.model_copy(update={"example": value}) if is_scalar else parameter


def _choose_value(parameter: Parameter) -> str:
    for value in (parameter.example, parameter.default, *parameter.enum):
        if value not in (None, ""):
            return clean_text(str(value), 60)
    return " ".join(split_words(parameter.name)) or parameter.name


def _describe_tool(tool: ToolDoc) -> list[str]:
    """Return the first sentence of the description, and the name as words."""
    first = _SENTENCE.search(tool.description)
    sentence = clean_text(first[0].strip(), 200) if first else ""
    return [text for text in (sentence, " ".join(split_words(tool.api))) if text]
