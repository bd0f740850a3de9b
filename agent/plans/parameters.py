"""Check values of a plan's parameters against their JSON Schemas, and fill them in."""

import json
from collections.abc import Mapping

from pydantic.types import JsonValue

from agent.execution.validation import check_arguments
from domain.errors import InvalidArgumentsError, UsageError
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep
from domain.program import ProgramPlan
from domain.tool import Parameter, ToolDoc, tool_id


def fill_parameters(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> PlanDocument:
    """Return the document with these values in its steps, and without parameters.

    A parameter whose schema has a ``default`` needs no value.

    Raises:
        InvalidArgumentsError: A value does not fit; the message contains all faults of :func:`find_misfits`.
    """
    values, wrong = _read_parameters(document, parameters)
    if wrong:
        raise InvalidArgumentsError(" ".join(said for _, said in wrong))
    return PlanDocument(steps=tuple(_fill_step(step, values) for step in document.steps))


def find_misfits(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Return the faults of values for a document's parameters: missing, unknown, or against the JSON Schema.

    A fault is the name of the parameter that it is about (empty for none in particular) and a sentence.
    """
    return _read_parameters(document, parameters)[1]


def resolve_input_values(plan: ProgramPlan) -> JsonObject:
    """Return the values of a plan's inputs, with the defaults of their JSON Schemas.

    Raises:
        UsageError: an input has no value, or one that does not fit its schema.
    """
    defaults = {name: schema["default"] for name, schema in plan.inputs.items() if "default" in schema}
    lacking = [name for name in plan.inputs if name not in plan.values and name not in defaults]
    if lacking:
        raise UsageError(f"the plan has no value for {', '.join(f'`{name}`' for name in lacking)}: give one for each")
    values, wrong = check_arguments(_build_tool(plan.inputs), {**defaults, **plan.values})
    if wrong:
        raise UsageError(f"the values of the plan do not fit: {' '.join(said for _, said in wrong)}")
    return values


def find_undeclared_names(document: PlanDocument) -> list[str]:
    """Return the parameters that steps of a document name but the document does not declare, in order."""
    used_names = [name for step in document.steps for name in step.named.values()]
    return [name for name in dict.fromkeys(used_names) if name not in document.parameters]


def read_values(
    schemas: Mapping[str, JsonObject], values: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Check values against JSON Schemas.

    Return them with defaults, and their faults as in :func:`find_misfits`.
    """
    defaults = {name: schema["default"] for name, schema in schemas.items() if "default" in schema}
    return check_arguments(_build_tool(schemas), {**defaults, **values})


def _fill_step(step: PlannedStep, values: JsonObject) -> PlannedStep:
    """Return a step with values in place of the plan's parameters."""
    named_values = {parameter: values[name] for parameter, name in step.named.items() if name in values}
    return step.model_copy(update={"arguments": {**step.arguments, **named_values}, "named": {}})


def _read_parameters(
    document: PlanDocument, parameters: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    values, wrong = read_values(document.parameters, parameters)
    undeclared = [
        (name, f"A step names the parameter {name}, which the plan does not have.")
        for name in find_undeclared_names(document)
    ]
    return values, [*wrong, *undeclared]


def build_parameter(name: str, schema: JsonObject) -> Parameter:
    """Return a plan's parameter as a tool's parameter; it is optional if it has a default."""
    return Parameter(
        name=name,
        description=str(schema.get("description", "")),
        required="default" not in schema,
        json_schema=json.dumps(schema),
    )


def _build_tool(parameters: Mapping[str, JsonObject]) -> ToolDoc:
    """Return a tool with these parameters, so that their values can be checked like the arguments of a call."""
    tool_parameters = tuple(build_parameter(name, schema) for name, schema in parameters.items())
    plan = tool_id("plan", "plan", "plan")
    return ToolDoc(id=plan, category="plan", toolset="plan", api="plan", function="plan", parameters=tool_parameters)
