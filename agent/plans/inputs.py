"""Inputs of programs and parameters of plans: the names that users see, values checked against their JSON Schemas."""

from collections.abc import Mapping

from pydantic.types import JsonValue

from agent.plans.compilation import PARAMETER
from agent.plans.literals import LOADS, to_expression
from agent.plans.parameters import read_values
from agent.programs.names import PROGRAM_NAMES, assign_names, to_identifier
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.source_text import parse_source


def build_shown_schemas(plan: ProgramPlan) -> dict[str, JsonObject]:
    """Return the JSON Schema of each input by the name that users see, which need not be valid in a program."""
    return {
        shown: {key: value for key, value in plan.inputs[name].items() if key != PARAMETER}
        for shown, name in map_shown_names(plan).items()
    }


def set_input_values(
    plan: ProgramPlan, shown_values: Mapping[str, JsonValue]
) -> tuple[ProgramPlan, list[tuple[str, str]]]:
    """Return the plan with values for its inputs, given by the names that users see, and the faults of these values.

    A fault is the name of the input that it is about (empty for none in particular) and a sentence.
    """
    names = map_shown_names(plan)
    values, wrong = read_values(build_shown_schemas(plan), shown_values)
    named_values: JsonObject = {names[shown]: value for shown, value in values.items() if shown in names}
    return plan.model_copy(update={"values": named_values}), wrong


def select_inputs(plan: ProgramPlan, chosen: Mapping[str, str]) -> ProgramPlan:
    """Return the plan with the ``chosen`` inputs only; the others become constants in its text.

    ``chosen`` maps names of inputs in the text to new names that users see.
    """
    text, inputs, values = plan.program.text, dict[str, JsonObject](), dict[str, JsonValue]()
    used_names = {*PROGRAM_NAMES, *plan.program.tools, *(parse_source(text).names_bound - plan.inputs.keys())}
    names = {
        own: name for name, own in assign_names(chosen, lambda own: (to_identifier(chosen[own], "value"),), used_names)
    }
    lines_above: list[str] = []
    for own, schema in plan.inputs.items():
        if own in names:
            text, alias = _rename_input(text, own, names[own])
            lines_above += alias
            schema_without_alias: JsonObject = {key: value for key, value in schema.items() if key != PARAMETER}
            inputs[names[own]] = (
                schema_without_alias if names[own] == chosen[own] else {**schema_without_alias, PARAMETER: chosen[own]}
            )
            values |= {names[own]: plan.values[own]} if own in plan.values else {}
        else:
            lines_above.append(f"{own} = {to_expression(plan.values.get(own, schema.get('default')))}")
    if any(LOADS in line for line in lines_above):
        lines_above.insert(0, "import json")
    text = "\n".join((*lines_above, text))
    program = plan.program.model_copy(update={"text": text})
    return ProgramPlan(program=program, inputs=inputs, values=values)


def map_shown_names(plan: ProgramPlan) -> dict[str, str]:
    """Return the names of a plan's inputs in its text, by the names that users see."""
    aliases = {name: schema.get(PARAMETER) for name, schema in plan.inputs.items()}
    return {(shown if isinstance(shown, str) else name): name for name, shown in aliases.items()}


def _rename_input(text: str, own: str, name: str) -> tuple[str, list[str]]:
    """Return the text with an input renamed.

    If it cannot be renamed in place, return also a line that assigns the new name to the old one.
    """
    if own == name:
        return text, []
    source = parse_source(text)
    places = source.find_places(own)
    # The text assigns the name, or uses it in an f-string, where it cannot be replaced by its offset.
    if own in source.names_bound or any(quoted for _, quoted in places):
        return text, [f"{own} = {name}"]
    encoded = text.encode()
    # From the end, so that earlier byte offsets stay valid.
    for at in sorted((place for place, _ in places), reverse=True):
        encoded = encoded[:at] + name.encode() + encoded[at + len(own.encode()) :]
    return encoded.decode(), []
