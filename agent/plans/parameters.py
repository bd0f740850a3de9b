"""A plan with parameters of its own, and their values put in their places: pure, checked against their JSON Schemas."""

import json
from collections.abc import Mapping

from pydantic.types import JsonValue

from agent.execution.validation import checked
from domain.errors import InvalidArgumentsError, UsageError
from domain.model import JsonObject
from domain.plan_document import PlanDocument, PlannedStep
from domain.program import ProgramPlan
from domain.tool import Parameter, ToolDoc, tool_id


def filled(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> PlanDocument:
    """The document with these values where its steps name them, and no parameters of its own any more.

    A parameter whose schema has a ``default`` may be left out. ``InvalidArgumentsError`` with all that :func:`misfits` finds.
    """
    values, wrong = _read(document, parameters)
    if wrong:
        raise InvalidArgumentsError(" ".join(said for _, said in wrong))
    return PlanDocument(steps=tuple(_filled(step, values) for step in document.steps))


def misfits(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """What is wrong with the values for a document's parameters: missing, unknown, or not as the schema has it.

    Each with the parameter's name (empty: of none in particular) and a sentence.
    """
    return _read(document, parameters)[1]


def input_values(plan: ProgramPlan) -> JsonObject:
    """What the names of a plan's inputs hold. ``UsageError`` where one has no value, or one that is not as its schema has it."""
    defaults = {name: schema["default"] for name, schema in plan.inputs.items() if "default" in schema}
    lacking = [name for name in plan.inputs if name not in plan.values and name not in defaults]
    if lacking:
        raise UsageError(f"the plan has no value for {', '.join(f'`{name}`' for name in lacking)}: give one for each")
    values, wrong = checked(_as_tool(plan.inputs), {**defaults, **plan.values})
    if wrong:
        raise UsageError(f"the values of the plan do not fit: {' '.join(said for _, said in wrong)}")
    return values


def unnamed(document: PlanDocument) -> list[str]:
    """The names in a document's steps that are none of its parameters, in order."""
    named = [name for step in document.steps for name in step.named.values()]
    return [name for name in dict.fromkeys(named) if name not in document.parameters]


def read_values(
    schemas: Mapping[str, JsonObject], values: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Values for names with these JSON Schemas, with the defaults of those that have none, and what is wrong with them, as :func:`misfits`."""
    defaults = {name: schema["default"] for name, schema in schemas.items() if "default" in schema}
    return checked(_as_tool(schemas), {**defaults, **values})


def _filled(step: PlannedStep, values: JsonObject) -> PlannedStep:
    named = {parameter: values[name] for parameter, name in step.named.items() if name in values}
    return step.model_copy(update={"arguments": {**step.arguments, **named}, "named": {}})


def _read(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> tuple[JsonObject, list[tuple[str, str]]]:
    values, wrong = read_values(document.parameters, parameters)
    lost = [(name, f"A step names the parameter {name}, which the plan does not have.") for name in unnamed(document)]
    return values, [*wrong, *lost]


def parameter_of(name: str, schema: JsonObject) -> Parameter:
    """A plan's parameter as one of a tool; one with a default may be left out."""
    return Parameter(
        name=name,
        description=str(schema.get("description", "")),
        required="default" not in schema,
        json_schema=json.dumps(schema),
    )


def _as_tool(parameters: Mapping[str, JsonObject]) -> ToolDoc:
    """Something that is called with the plan's parameters, so that they are read as a call's are."""
    own = tuple(parameter_of(name, schema) for name, schema in parameters.items())
    plan = tool_id("plan", "plan", "plan")
    return ToolDoc(id=plan, category="plan", toolset="plan", api="plan", function="plan", parameters=own)
