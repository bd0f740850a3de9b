"""Arguments from a model: each with its origin, each checked; what is not grounded is refused and told back."""

from typing import Annotated, Literal

from pydantic import BaseModel, WithJsonSchema
from pydantic.types import JsonValue

from agent.execution.validation import coerce
from agent.llm.grounding import ground, step_place
from agent.policy.protocol import Arguments, ArgumentsQuestion
from agent.text import clean
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter

_SCALAR = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]}


class Bound(BaseModel):
    """One value and where it is said to come from. A list or an object is JSON text."""

    parameter: str
    value: Annotated[JsonValue, WithJsonSchema(_SCALAR)]
    origin: Literal["request", "step", "default"]
    reference: str = ""


class ArgumentsAnswer(BaseModel):
    """What the model answers: ``agent/prompts/arguments.md``."""

    bindings: list[Bound]
    missing: list[str] = []


def complaint_of(answer: ArgumentsAnswer, question: ArgumentsQuestion) -> str:
    """What is wrong with an answer, for the model to mend; empty where all is right."""
    known = {parameter.name: parameter for parameter in question.tool.parameters}
    told: list[str] = []
    names = [bound.parameter for bound in answer.bindings]
    for bound in answer.bindings:
        wrong = _wrong(bound, known, question)
        if wrong:
            told.append(f"{clean(bound.parameter, 80)}: {wrong}")
    told += [f"{clean(name, 80)} is bound twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    silent = [p.name for p in question.tool.required if p.name not in names and p.name not in answer.missing]
    if silent:
        told.append(f"required and neither bound nor missing: {', '.join(silent)}")
    return "; ".join(clean(part, 300) for part in told[:8]) + "." if told else ""


def arguments_of(answer: ArgumentsAnswer | None, question: ArgumentsQuestion) -> Arguments:
    """The grounded part of an answer; what is required and not in it is missing."""
    known = {parameter.name: parameter for parameter in question.tool.parameters}
    values: JsonObject = {}
    provenance: list[Binding] = []
    for bound in answer.bindings if answer else []:
        if bound.parameter not in values and not _wrong(bound, known, question):
            values[bound.parameter] = coerce(bound.value, known[bound.parameter])
            provenance.append(_binding(bound))
    missing = tuple(p.name for p in question.tool.required if p.name not in values)
    return Arguments(values, tuple(provenance), missing)


def _wrong(bound: Bound, known: dict[str, Parameter], question: ArgumentsQuestion) -> str:
    parameter = known.get(bound.parameter)
    if parameter is None:
        return f"the tool has no such parameter; it has {', '.join(known) or 'none'}"
    return ground(bound.value, bound.origin, bound.reference, parameter, question)


def _binding(bound: Bound) -> Binding:
    reference = bound.reference.strip()
    if bound.origin == "default":
        reference = "the document's default"
    elif bound.origin == "step" and (place := step_place(reference)):
        reference = f"{place[0]}.{place[1]}".rstrip(".")
    return Binding(parameter=bound.parameter, origin=bound.origin, reference=reference[:400])
