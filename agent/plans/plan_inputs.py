"""Inputs of programs and parameters of plans: the names that users see, values checked against their JSON Schemas."""

import json
from collections.abc import Mapping

from pydantic.types import JsonValue

from agent.execution.validation import check_arguments
from agent.plans.plan_compilation import LOADS_FUNCTION, PARAMETER_KEYWORD, to_expression
from agent.programs.function_names import PROGRAM_NAMES, assign_names, to_identifier
from domain.errors import InvalidArgumentsError, UsageError
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep
from domain.program import ProgramPlan
from domain.source_text import parse_source
from domain.tool import Parameter, ToolDoc, make_tool_id


def fill_parameters(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> PlanDocument:
    """Return the document with these values in its steps, and without parameters.

    A parameter whose schema has a ``default`` needs no value.

    Raises:
        InvalidArgumentsError: A value does not fit; the message contains all faults of :func:`find_value_faults`.
    """
    values, faults = _check_parameter_values(document, parameters)
    if faults:
        raise InvalidArgumentsError(" ".join(message for _, message in faults))
    return PlanDocument(steps=tuple(_fill_step(step, values) for step in document.steps))


def find_value_faults(document: PlanDocument, parameters: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Return the faults of values for a document's parameters: missing, unknown, or against the JSON Schema.

    A fault is the name of the parameter that it is about (empty for none in particular) and a sentence.
    """
    return _check_parameter_values(document, parameters)[1]


def resolve_input_values(plan: ProgramPlan) -> JsonObject:
    """Return the values of a plan's inputs, with the defaults of their JSON Schemas.

    Raises:
        UsageError: an input has no value, or one that does not fit its schema.
    """
    defaults = {name: schema["default"] for name, schema in plan.inputs.items() if "default" in schema}
    missing_names = [name for name in plan.inputs if name not in plan.values and name not in defaults]
    if missing_names:
        raise UsageError(
            f"the plan has no value for {', '.join(f'`{name}`' for name in missing_names)}: give one for each"
        )
    values, faults = check_arguments(_build_parameter_tool(plan.inputs), {**defaults, **plan.values})
    if faults:
        raise UsageError(f"the values of the plan do not fit: {' '.join(message for _, message in faults)}")
    return values


def find_undeclared_names(document: PlanDocument) -> list[str]:
    """Return the parameters that steps of a document name but the document does not declare, in order."""
    used_names = [name for step in document.steps for name in step.named.values()]
    return [name for name in dict.fromkeys(used_names) if name not in document.parameters]


def check_values(
    schemas: Mapping[str, JsonObject], values: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    """Check values against JSON Schemas.

    Return them with defaults, and their faults as in :func:`find_value_faults`.
    """
    defaults = {name: schema["default"] for name, schema in schemas.items() if "default" in schema}
    return check_arguments(_build_parameter_tool(schemas), {**defaults, **values})


def _fill_step(step: PlannedStep, values: JsonObject) -> PlannedStep:
    """Return a step with values in place of the plan's parameters."""
    named_values = {parameter: values[name] for parameter, name in step.named.items() if name in values}
    return step.model_copy(update={"arguments": {**step.arguments, **named_values}, "named": {}})


def _check_parameter_values(
    document: PlanDocument, parameters: Mapping[str, JsonValue]
) -> tuple[JsonObject, list[tuple[str, str]]]:
    values, faults = check_values(document.parameters, parameters)
    undeclared = [
        (name, f"A step names the parameter {name}, which the plan does not have.")
        for name in find_undeclared_names(document)
    ]
    return values, [*faults, *undeclared]


def to_tool_parameter(name: str, schema: JsonObject) -> Parameter:
    """Return a plan's parameter as a tool's parameter; it is optional if it has a default."""
    return Parameter(
        name=name,
        description=str(schema.get("description", "")),
        required="default" not in schema,
        json_schema=json.dumps(schema),
    )


def _build_parameter_tool(parameters: Mapping[str, JsonObject]) -> ToolDoc:
    """Return a tool with these parameters, so that their values can be checked like the arguments of a call."""
    tool_parameters = tuple(to_tool_parameter(name, schema) for name, schema in parameters.items())
    plan = make_tool_id("plan", "plan", "plan")
    return ToolDoc(id=plan, category="plan", toolset="plan", api="plan", function="plan", parameters=tool_parameters)


def build_shown_schemas(plan: ProgramPlan) -> dict[str, JsonObject]:
    """Return the JSON Schema of each input by the name that users see, which need not be valid in a program."""
    return {
        shown_name: {key: value for key, value in plan.inputs[name].items() if key != PARAMETER_KEYWORD}
        for shown_name, name in map_shown_names(plan).items()
    }


def set_input_values(
    plan: ProgramPlan, shown_values: Mapping[str, JsonValue]
) -> tuple[ProgramPlan, list[tuple[str, str]]]:
    """Return the plan with values for its inputs, given by the names that users see, and the faults of these values.

    A fault is the name of the input that it is about (empty for none in particular) and a sentence.
    """
    names = map_shown_names(plan)
    values, faults = check_values(build_shown_schemas(plan), shown_values)
    named_values: JsonObject = {names[shown_name]: value for shown_name, value in values.items() if shown_name in names}
    return plan.model_copy(update={"values": named_values}), faults


def select_inputs(plan: ProgramPlan, chosen: Mapping[str, str]) -> ProgramPlan:
    """Return the plan with the ``chosen`` inputs only; the others become constants in its text.

    ``chosen`` maps names of inputs in the text to new names that users see.
    """
    text, inputs, values = plan.program.text, dict[str, JsonObject](), dict[str, JsonValue]()
    used_names = {*PROGRAM_NAMES, *plan.program.tools, *(parse_source(text).bound_names - plan.inputs.keys())}
    names = {
        input_name: name
        for name, input_name in assign_names(chosen, lambda own: (to_identifier(chosen[own], "value"),), used_names)
    }
    lines_above: list[str] = []
    for input_name, schema in plan.inputs.items():
        if input_name in names:
            text, alias = _rename_input(text, input_name, names[input_name])
            lines_above += alias
            schema_without_alias: JsonObject = {key: value for key, value in schema.items() if key != PARAMETER_KEYWORD}
            inputs[names[input_name]] = (
                schema_without_alias
                if names[input_name] == chosen[input_name]
                else {**schema_without_alias, PARAMETER_KEYWORD: chosen[input_name]}
            )
            values |= {names[input_name]: plan.values[input_name]} if input_name in plan.values else {}
        else:
            lines_above.append(f"{input_name} = {to_expression(plan.values.get(input_name, schema.get('default')))}")
    if any(LOADS_FUNCTION in line for line in lines_above):
        lines_above.insert(0, "import json")
    text = "\n".join((*lines_above, text))
    program = plan.program.model_copy(update={"text": text})
    return ProgramPlan(program=program, inputs=inputs, values=values)


def map_shown_names(plan: ProgramPlan) -> dict[str, str]:
    """Return the names of a plan's inputs in its text, by the names that users see."""
    aliases = {name: schema.get(PARAMETER_KEYWORD) for name, schema in plan.inputs.items()}
    return {(shown_name if isinstance(shown_name, str) else name): name for name, shown_name in aliases.items()}


def _rename_input(text: str, old_name: str, new_name: str) -> tuple[str, list[str]]:
    """Return the text with an input renamed.

    If it cannot be renamed in place, return also a line that assigns the new name to the old one.
    """
    if old_name == new_name:
        return text, []
    source = parse_source(text)
    places = source.find_occurrences(old_name)
    # The text assigns the name, or uses it in an f-string, where it cannot be replaced by its offset.
    if old_name in source.bound_names or any(quoted for _, quoted in places):
        return text, [f"{old_name} = {new_name}"]
    encoded = text.encode()
    # From the end, so that earlier byte offsets stay valid.
    for at in sorted((place for place, _ in places), reverse=True):
        encoded = encoded[:at] + new_name.encode() + encoded[at + len(old_name.encode()) :]
    return encoded.decode(), []
