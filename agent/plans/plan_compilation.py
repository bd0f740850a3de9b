"""Compile a plan's steps into a program, and turn a program into steps.

The latter is possible only for a program that makes its calls one after the other. Values are written as Python
expressions that people can read and change.
"""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic.types import JsonValue

from agent.programs.analysis.constants import NotConstantError
from agent.programs.analysis.linear_program import AnswerPlace, LinearProgram, find_other_effects
from agent.programs.analysis.program_flow import Site
from agent.programs.function_names import PROGRAM_NAMES, RESERVED_NAMES, assign_names, to_identifier
from agent.programs.signatures import PREAMBLE, ToolSignature, build_signatures
from domain.errors import NotLinearError
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep, Take
from domain.program import Program, ProgramPlan
from domain.source_text import SourceExpression
from domain.tool import Parameter, ToolDoc, ToolId, split_tool_id

# Limits of a value that is written as a Python literal: levels and parts. Larger values are written as JSON in a string
# literal, which Python's parser cannot find too deeply nested.
_MAX_LITERAL_DEPTH = 24
_MAX_LITERAL_PARTS = 400
LOADS_FUNCTION = "json.loads"
"""Function that reads such a string in the program."""


def to_expression(value: JsonValue) -> str:
    """Return a JSON value as an expression: a literal, or ``json.loads`` of a text if it is large."""
    return f"{LOADS_FUNCTION}({quote_literal(json.dumps(value))})" if _is_large(value) else _to_literal(value)


def quote_literal(text: str) -> str:
    """Return a text as a string literal, with double quotes where possible.

    Texts with double quotes or invisible characters are written as ``repr`` does.
    """
    if not text.isprintable() or '"' in text:
        return repr(text)
    return '"' + text.replace("\\", "\\\\") + '"'


def _to_literal(value: JsonValue) -> str:
    match value:
        case str():
            return quote_literal(value)
        case float() if not math.isfinite(value):
            return f'float("{value}")'
        case list():
            return f"[{', '.join(map(_to_literal, value))}]"
        case dict():
            return f"{{{', '.join(f'{quote_literal(name)}: {_to_literal(item)}' for name, item in value.items())}}}"
        case _:
            return repr(value)


def _is_large(value: JsonValue) -> bool:
    """Return True if a value has too many levels or parts for a literal."""
    values, count = [value], 0
    for _ in range(_MAX_LITERAL_DEPTH):
        count += len(values)
        values = [part for item in values for part in _list_parts(item)]
        if not values or count > _MAX_LITERAL_PARTS:
            break
    return bool(values)


def _list_parts(value: JsonValue) -> list[JsonValue]:
    match value:
        case list():
            return value
        case dict():
            return list(value.values())
        case _:
            return []


PARAMETER_KEYWORD = "x-parameter"
"""Keyword in an input's schema for its name in the plan, where that cannot be a name in the program."""
_MAX_LINE_LENGTH = 100
"""Maximum characters of a call that is written on one line."""
_PATH_PART = re.compile(r"\[(\d*)\]|([^.\[\]]+)")
"""Matches one part of a path such as ``items[].lat``: an index, which may be open, or a field name."""


def compile_plan(
    document: PlanDocument, docs: Mapping[ToolId, ToolDoc], earlier_tools: Sequence[ToolId] = ()
) -> ProgramPlan:
    """Compile the steps of a plan into the program that makes its calls.

    ``earlier_tools``: tools of the earlier steps, whose results the text finds as ``earlier``. A tool without a
    document becomes a function with the parameters that the steps name. Required parameters that steps leave open
    become ``fill()``. The program has no answer of its own.
    """
    tools = _collect_documents(document, docs)
    functions = {signature.tool: signature for signature in build_signatures(list(tools.values()))}
    inputs = choose_input_names(document, [signature.name for signature in functions.values()])
    used_names = {*RESERVED_NAMES, *(signature.name for signature in functions.values()), *inputs.values()}
    named_steps = assign_names(document.steps, lambda step: (f"{functions[step.tool].name}_answer",), used_names)
    result_expressions = [f"earlier[{number}]" for number in range(len(earlier_tools))] + [
        name for name, _ in named_steps
    ]
    writer = _CallWriter(result_expressions, inputs)
    lines = [
        f"{name} = await {writer.write_call(step, tools[step.tool], functions[step.tool])}"
        for name, step in named_steps
    ]
    text = "\n".join(([f"import {LOADS_FUNCTION.partition('.')[0]}"] if writer.uses_loads else []) + lines)
    program = Program(
        text=text,
        tools={signature.name: signature.tool for signature in functions.values()},
        arguments={signature.name: dict(signature.arguments) for signature in functions.values()},
        stubs="\n".join((PREAMBLE, *(signature.stub for signature in functions.values()))),
    )
    return ProgramPlan(program=program, inputs=dict(_build_inputs(document, inputs)))


def choose_input_names(document: PlanDocument, functions: Sequence[str] = ()) -> dict[str, str]:
    """Return a name for each of the plan's parameters in the program: its own, if that is valid and free there."""
    used_parameters = (name for step in document.steps for name in step.named.values())
    parameter_names = dict.fromkeys((*document.parameters, *used_parameters))
    used_names = {*PROGRAM_NAMES, *functions, "asyncio", "float", "json"}
    return {
        parameter: name
        for name, parameter in assign_names(parameter_names, lambda name: (to_identifier(name, "value"),), used_names)
    }


def _build_inputs(document: PlanDocument, names: Mapping[str, str]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the program's inputs with their JSON Schemas, in which ``PARAMETER_KEYWORD`` notes a name that differs."""
    for parameter, schema in document.parameters.items():
        name = names[parameter]
        yield name, schema if name == parameter else {**schema, PARAMETER_KEYWORD: parameter}


def _collect_documents(document: PlanDocument, docs: Mapping[ToolId, ToolDoc]) -> dict[ToolId, ToolDoc]:
    """Return the document of each tool of a plan, extended by undocumented parameters that its steps name."""
    documents: dict[ToolId, ToolDoc] = {}
    for step in document.steps:
        doc = documents.get(step.tool) or docs.get(step.tool) or _build_unknown_tool(step.tool)
        known_names = {parameter.name for parameter in doc.parameters}
        undocumented = dict.fromkeys(
            name for name in (*step.arguments, *step.takes, *step.named) if name not in known_names
        )
        parameters = (*doc.parameters, *(Parameter(name=name, json_schema="{}") for name in undocumented))
        documents[step.tool] = doc.model_copy(update={"parameters": parameters})
    return documents


def _build_unknown_tool(tool: ToolId) -> ToolDoc:
    """Return a document for a tool that is not indexed."""
    category, toolset, api = split_tool_id(tool)
    # POST, so that an unknown tool counts as one with side effects.
    return ToolDoc(id=tool, category=category, toolset=toolset, api=api, function=api, method="POST")


class _CallWriter:
    """Writes the calls of one plan as source text.

    Attributes:
        uses_loads: True if a value was written as JSON text, so that the program has to import ``json``.
    """

    def __init__(self, results: Sequence[str], inputs: Mapping[str, str]) -> None:
        """Prepare to write calls.

        ``results``: expressions for the results of all steps, earlier ones first. ``inputs``: names of the plan's
        parameters in the text.
        """
        self._results = results
        self._inputs = inputs
        self.uses_loads = False

    def write_call(self, step: PlannedStep, doc: ToolDoc, function: ToolSignature) -> str:
        """Return the text of a call, on one line if it is short."""
        sources = {name: to_expression(value) for name, value in step.arguments.items()}
        sources |= {name: self._inputs[plan_parameter] for name, plan_parameter in step.named.items()}
        sources |= {name: self._write_take(take) for name, take in step.takes.items()}
        self.uses_loads = self.uses_loads or any(source.startswith(LOADS_FUNCTION) for source in sources.values())
        sources |= {entry.name: "fill()" for entry in doc.required if entry.name not in sources}
        argument_names = {parameter: name for name, parameter in function.arguments.items()}
        arguments = [f"{argument_names[parameter]}={source}" for parameter, source in sources.items()]
        line = f"{function.name}({', '.join(arguments)})"
        return (
            line
            if len(line) <= _MAX_LINE_LENGTH
            else "\n".join((f"{function.name}(", *(f"    {entry}," for entry in arguments), ")"))
        )

    def _write_take(self, take: Take) -> str:
        """Return the expression for a value that is taken from an earlier result."""
        is_known = take.step <= len(self._results)
        expression = self._results[take.step - 1] if is_known else f"earlier[{take.step - 1}]"
        for part in _PATH_PART.finditer(take.field):
            index, name = part[1], part[2]
            if index == "":
                expression = f"named({expression})"
            else:
                expression += f"[{int(index)}]" if index is not None else f"[{quote_literal(name)}]"
        return expression


def to_plan_document(
    plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], earlier_tools: Sequence[ToolId] = ()
) -> PlanDocument:
    """Return a program as steps; it must make each of its calls once, one after the other.

    The arguments have to be constants, inputs and fields of earlier responses. An answer that the program composes at
    its end is lost (:func:`has_own_answer`).

    Raises:
        NotLinearError: Steps cannot express what the program does; the message names the line and the reason.
    """
    try:
        linear_program = LinearProgram({_ONLY_CELL: plan.program})
        _refuse_control_flow(linear_program)
        reader = _StepReader(linear_program, plan, docs, len(earlier_tools))
        planned_steps = tuple(reader.read_step(site) for site in linear_program.calls)
        _raise_first(find_other_effects(plan.program))
        return PlanDocument(steps=planned_steps, parameters=dict(reader.read_parameters()))
    except NotLinearError:
        raise
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotLinearError("the program cannot be read", getattr(error, "lineno", None)) from error


def has_own_answer(program: Program) -> bool:
    """Return True if a program composes an answer of its own at its end, rather than ending with a call."""
    return LinearProgram({_ONLY_CELL: program}).has_own_answer


_ONLY_CELL = 1


def _refuse_control_flow(linear_program: LinearProgram) -> None:
    """Raise ``NotLinearError`` for calls in loops, functions or branches, and for interruptions of the sequence."""
    branches = [
        (linear_program.find_line(site), f"calls {name} in a loop, a function, or only where something is so")
        for site, name in linear_program.other_calls.items()
    ]
    _raise_first([*branches, *linear_program.find_interruptions()])


def _raise_first(refusals: Iterable[tuple[int, str]]) -> None:
    """Raise ``NotLinearError`` for the first of these lines, if there is any; each comes with a reason."""
    first = min(refusals, key=lambda one: one[0], default=None)
    if first is not None:
        raise _build_not_linear_error(*first)


def _build_not_linear_error(line: int, reason: str) -> NotLinearError:
    return NotLinearError(
        f"line {line} of the program {reason}, which steps cannot say; it is edited as a program", line
    )


class _StepReader:
    """Reads the calls of a program as steps.

    ``earlier_steps`` is the number of steps that come before them.
    """

    def __init__(
        self, linear_program: LinearProgram, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], earlier_steps: int
    ) -> None:
        self._linear_program = linear_program
        self._plan = plan
        self._docs = docs
        self._earlier_steps = earlier_steps
        self._numbers = {site: number for number, site in enumerate(linear_program.calls, start=earlier_steps + 1)}

    def read_parameters(self) -> Iterator[tuple[str, JsonObject]]:
        """Yield the parameters of the plan, by their original names, with their JSON Schemas."""
        for name, schema in self._plan.inputs.items():
            yield (
                self._get_parameter_name(name),
                {keyword: value for keyword, value in schema.items() if keyword != PARAMETER_KEYWORD},
            )

    def _get_parameter_name(self, name: str) -> str:
        """Return the name that an input has in the plan."""
        parameter = self._plan.inputs.get(name, {}).get(PARAMETER_KEYWORD)
        return parameter if isinstance(parameter, str) else name

    def read_step(self, site: Site) -> PlannedStep:
        """Return the call at a site as a step."""
        tool = self._plan.program.tools[self._linear_program.find_function_name(site)]
        arguments: JsonObject = {}
        takes: dict[str, Take] = {}
        named_parameters: dict[str, str] = {}
        for parameter, value in self._linear_program.list_arguments(site):
            if self._linear_program.is_left_open(value):
                self._check_open(site, tool, parameter)
            elif place := self._linear_program.find_answer_place(value):
                takes[parameter] = self._read_take(site, parameter, place)
            elif (name := self._linear_program.find_external_name(value)) in self._plan.inputs:
                named_parameters[parameter] = self._get_parameter_name(name)
            else:
                arguments[parameter] = self._read_constant(site, parameter, value)
        return PlannedStep(tool=tool, arguments=arguments, takes=takes, named=named_parameters)

    def _read_take(self, site: Site, parameter: str, place: AnswerPlace) -> Take:
        """Return the step and field that a parameter is taken from.

        Refuse a response that the program changes.
        """
        origin, field = place
        number = origin if isinstance(origin, int) else self._numbers[origin]
        # If the program changes the response in between, the step would take the unchanged value.
        if not self._linear_program.is_unchanged(place):
            raise self._build_refusal(site, f"takes {parameter} from an answer that the program changes")
        if isinstance(origin, int) and origin > self._earlier_steps:
            raise self._build_refusal(site, f"takes {parameter} from an earlier result that is not there")
        return Take(step=number, field=field)

    def _read_constant(self, site: Site, parameter: str, value: SourceExpression) -> JsonValue:
        """Return the value of a constant expression; refuse any other expression."""
        try:
            return self._linear_program.read_constant(value)
        except NotConstantError:
            raise self._build_refusal(site, f"computes or chooses the value of {parameter}") from None

    def _check_open(self, site: Site, tool: ToolId, parameter: str) -> None:
        """Refuse an open parameter that its tool does not require: a step would leave it out."""
        doc = self._docs.get(tool)
        if doc is None or all(required.name != parameter for required in doc.required):
            raise self._build_refusal(site, f"leaves {parameter} open, which its tool does not need")

    def _build_refusal(self, site: Site, reason: str) -> NotLinearError:
        return _build_not_linear_error(self._linear_program.find_line(site), reason)
