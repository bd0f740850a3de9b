"""Write programs by rules from stored solutions, with this request's values as inputs."""

import re

from pydantic.types import JsonValue

from agent.parameter_needs import derive_need
from agent.plans.plan_inputs import check_values, select_inputs, to_tool_parameter
from agent.programs.program_types import ProgramQuestion
from agent.solutions.patterns import RequestValue, align_request, list_inputs
from agent.solutions.plain_values import read_plain_value
from agent.solutions.protocol import FilledSolution, FillQuestion
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from offline.nlp.entities import find_spans
from offline.slots.slot_values import convert_span
from offline.slots.span_readings import get_today

_FILLER_WORDS = re.compile(
    r"(?<![\w{'’-])(?:(?:[Ww]hat|[Ww]hich|[Hh]ow much|[Ii]s|[Aa]re|[Tt]he|[Aa]n?|of|me|[Tt]ell|[Gg]ive|[Ss]how|[Pp]lease|[Dd]oes|[Dd]o|have|has|there|'s|’s)(?![\w}'’-])[\s,]*)"
)
"""Filler words of questions; words that say what is asked (how many, where, when) are not among them."""
_QUOTES = re.compile(r"(\"[^\"]*\"|“[^”]*”|\{[^{}]*\})")
"""Quotations, and names of inputs in braces."""
_DOES_NOT_FIT = FilledSolution(fits=False, values={}, reason="it does not ask the same in words that rules know")


def fill_inputs(question: FillQuestion) -> FilledSolution:
    """Read the values of all inputs from a request that asks what the pattern asks in the same words."""
    aligned_values = align_request(_strip_filler(question.request), _strip_filler(question.pattern))
    if aligned_values is None or set(aligned_values) != set(list_inputs(question.pattern)):
        return _DOES_NOT_FIT
    values: JsonObject = dict(question.known)
    for name, words in aligned_values.items():
        value = _read_value(words, question.inputs.get(name, {}), question.request)
        if value is None:
            return _DOES_NOT_FIT
        values.setdefault(name, value)
    _, wrong = check_values(question.inputs, values)
    return (
        FilledSolution(fits=True, values=values, reason="it asks the same of other values")
        if not wrong
        else _DOES_NOT_FIT
    )


def _strip_filler(text: str) -> str:
    """Remove filler words, except within quotations and names of inputs."""
    # The pattern has one group: every second part is a quotation or the name of an input.
    parts = _QUOTES.split(text)
    return "".join(
        part if number % 2 else _FILLER_WORDS.sub("", part.replace("'s ", " is ")) for number, part in enumerate(parts)
    ).strip()


def _read_value(stated: RequestValue, schema: JsonObject, request: str) -> JsonValue:
    """Read an input's value from the words that stand for it; None if they do not fit the input's schema."""
    if stated.text not in request:
        return None
    value = read_plain_value(stated, schema)
    if value is not None:
        return value
    need = derive_need(to_tool_parameter("value", schema))
    if need.kind not in ("date", "year") and need.type not in ("number", "integer") and not need.enum:
        return None
    full_spans = [one for one in find_spans(stated.text, get_today()) if (one.start, one.end) == (0, len(stated.text))]
    return next((read for one in full_spans if (read := convert_span(one, need)) is not None), None)


def adapt_solution(question: ProgramQuestion) -> str:
    """Return the chosen solution's program with the values that the request states.

    Empty if no solution was chosen, if its inputs cannot be read from the request, or after a first attempt.
    """
    if not question.known_programs.is_chosen or question.attempts:
        return ""
    (solution,) = question.known_programs.programs
    filled = fill_inputs(FillQuestion(question.request, solution.request_template, solution.inputs, question.today, {}))
    if not filled.fits:
        return ""
    plan = ProgramPlan(
        program=Program(text=solution.text, tools={}), inputs=dict(solution.inputs), values=filled.values
    )
    return select_inputs(plan, {}).program.text
