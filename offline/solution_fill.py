"""Fill a solution's inputs by English rules, if the request differs from its pattern only in values and filler."""

import re

from pydantic.types import JsonValue

from agent.parameters.needs import need_of
from agent.plans.parameters import parameter_of, read_values
from agent.solutions.alignment import SaidValue, aligned, inputs_of
from agent.solutions.plain_values import plain
from agent.solutions.protocol import Filled, FillQuestion
from domain.model import JsonObject
from offline.nlp.entities import spans
from offline.slots.candidates import today
from offline.slots.slot_values import value_for

_ASKING = re.compile(
    r"(?<![\w{'’-])(?:(?:[Ww]hat|[Ww]hich|[Hh]ow much|[Ii]s|[Aa]re|[Tt]he|[Aa]n?|of|me|[Tt]ell|[Gg]ive|[Ss]how|[Pp]lease|[Dd]oes|[Dd]o|have|has|there|'s|’s)(?![\w}'’-])[\s,]*)"
)
"""Filler words of questions. Words that say what is asked (how many, where, when, direction) are not among them."""
_QUOTES = re.compile(r"(\"[^\"]*\"|“[^”]*”|\{[^{}]*\})")
_DOES_NOT_FIT = Filled(fits=False, values={}, why="it does not ask the same in words that rules know")


def fill(question: FillQuestion) -> Filled:
    """Read the values of all inputs if the request asks what the pattern asks."""
    said = aligned(_bare(question.request), _bare(question.pattern))
    if said is None or set(said) != set(inputs_of(question.pattern)):
        return _DOES_NOT_FIT
    values: JsonObject = dict(question.known)
    for name, words in said.items():
        value = _value(words, question.inputs.get(name, {}), question.request)
        if value is None:
            return _DOES_NOT_FIT
        values.setdefault(name, value)
    _, wrong = read_values(question.inputs, values)
    return Filled(fits=True, values=values, why="it asks the same of other values") if not wrong else _DOES_NOT_FIT


def _bare(text: str) -> str:
    """Remove filler words, except within quotation marks and names of inputs."""
    # The pattern has one group: every second part is a quotation or the name of an input.
    parts = _QUOTES.split(text)
    return "".join(
        part if number % 2 else _ASKING.sub("", part.replace("'s ", " is ")) for number, part in enumerate(parts)
    ).strip()


def _value(said: SaidValue, schema: JsonObject, request: str) -> JsonValue:
    """Read an input's value from the words that stand for it; None if they do not fit the schema."""
    if said.text not in request:
        return None
    value = plain(said, schema)
    if value is not None:
        return value
    need = need_of(parameter_of("value", schema))
    if need.kind not in ("date", "year") and need.type not in ("number", "integer") and not need.enum:
        return None
    whole = [one for one in spans(said.text, today()) if (one.start, one.end) == (0, len(said.text))]
    return next((read for one in whole if (read := value_for(one, need)) is not None), None)
