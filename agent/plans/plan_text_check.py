"""Check the text of a plan that a person has written or edited; no tool is called.

The result is the plan, repaired where that is safe, and complaints with their places in the text.
"""

import asyncio
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]
from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.files.given_files import GivenFiles
from agent.plans.plan_inputs import check_values, to_tool_parameter
from agent.programs.analysis.faults import Fault, find_plan_faults
from agent.programs.analysis.repairs import MAX_LENGTH, UnreadableProgram, read_program_text, repair_program_text
from agent.programs.function_names import PROGRAM_NAMES
from agent.programs.program_checks import CheckScope, find_text_faults, find_type_faults
from agent.programs.program_request import EARLIER
from agent.programs.program_types import Sandbox
from agent.programs.sandbox_cell import FILL, NAMED
from agent.programs.signatures import PREAMBLE, build_named_signatures
from agent.programs.type_annotations import TypedDictDefinitions, render_annotation
from agent.text import clean_text
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.python_source import SourcePosition, get_position
from domain.source_text import SourceText, parse_source
from domain.tool import ToolDoc, ToolId
from graph.shapes import read_schema_shape

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
"""Matches control characters, characters without width, bidirectional marks and tags.

They can make a text look different from what it does. Joiners are allowed, because many scripts need them.
"""
_MAX_INVISIBLE_CHARACTERS = 20
"""Maximum number of such characters that are reported."""


def find_invisible_characters(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield line and column, from 1, of the first invisible characters, each with a complaint."""
    lines = re.split("\r\n|\r|\n", text)
    hits = ((number, hit) for number, line in enumerate(lines, start=1) for hit in _INVISIBLE.finditer(line))
    for _, (line, hit) in zip(range(_MAX_INVISIBLE_CHARACTERS), hits, strict=False):
        code = ord(hit[0])
        escape = f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
        yield (
            line,
            hit.start() + 1,
            f"A sign that is not seen, or that turns what is read (U+{code:04X}): write it as {escape} in a text, or take it out.",
        )


_VALUE_KEYWORDS = frozenset({"const", "default", "enum", "examples"})
"""Keywords of JSON Schema whose values are data, not schemas."""
_REFERENCE_KEYWORDS = frozenset({"$dynamicRef", "$ref"})
"""Keywords of JSON Schema that refer to another schema."""


def find_schema_fault(schema: JsonObject) -> str:
    """Return the most relevant fault of a JSON Schema as a sentence.

    The result is empty if it is valid and has no references.
    """
    try:
        validator = cast("Any", Draft202012Validator)(Draft202012Validator.META_SCHEMA)
        fault = cast("Any", best_match(validator.iter_errors(schema)))
        reference = next(_find_references(schema), "")
    except RecursionError:
        return "it is nested too deeply: write it more simply."
    if fault is not None:
        place = ".".join(str(part) for part in fault.absolute_path)
        return (
            f"{clean_text(place, 80)}: {clean_text(fault.message, 200)}."
            if place
            else f"{clean_text(fault.message, 200)}."
        )
    return (
        f"references are not followed ({clean_text(reference, 80)}): write what it refers to in its place."
        if reference
        else ""
    )


def _find_references(schema: JsonValue) -> Iterator[str]:
    """Yield the targets of all references within a schema, except within values such as an ``enum``."""
    match schema:
        case dict():
            yield from (
                value for name, value in schema.items() if name in _REFERENCE_KEYWORDS and isinstance(value, str)
            )
            for name, value in schema.items():
                if name not in _VALUE_KEYWORDS:
                    yield from _find_references(value)
        case list():
            for value in schema:
                yield from _find_references(value)
        case _:
            return


_NO_FILES = GivenFiles()
MAX_PLAN_LENGTH = 5 * MAX_LENGTH
"""Maximum number of characters of a text; more than for a model's program, because a plan may hold long values."""
MAX_INPUTS = 50
MAX_PLAN_COMPLAINTS = 50
_TYPE_CHECK_SECONDS = 10.0
"""Time limit of the type check; type errors are not reported if it takes longer."""
HOST_DECLARATIONS = {
    EARLIER: f"{EARLIER}: list[Any]",
    FILL: f"def {FILL}() -> Any: ...",
    NAMED: f"def {NAMED}(items: list[Any]) -> Any: ...",
}
"""Declarations of the names that only a plan's text may use, besides those of every program."""


@dataclass(frozen=True, slots=True)
class PlanComplaint:
    """A fault of a plan, with its place."""

    message: str
    """One sentence for the person who edits the plan."""
    line: int = 0
    """Line of the text, from 1; 0 if the complaint is about the whole."""
    column: int = 0
    """Column in characters, from 1; 0 if the complaint is about the whole."""
    input: str = ""
    """Name of the input that the complaint is about; empty if it is about none."""


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """Result of a check."""

    plan: ProgramPlan
    """The plan, repaired where that was safe; it may be carried out only if there are no complaints."""
    complaints: tuple[PlanComplaint, ...] = ()


async def check_plan(
    text: str,
    inputs: Mapping[str, JsonObject],
    tools: Mapping[str, ToolId],
    docs: Mapping[ToolId, ToolDoc],
    sandbox: Sandbox,
    earlier_tools: Sequence[ToolId] = (),
    *,
    values: Mapping[str, JsonValue] | None = None,
    files: GivenFiles = _NO_FILES,
) -> CheckedPlan:
    """Check the text of a plan and return the plan with all complaints.

    Arguments:
        text: The program.
        inputs: JSON Schemas of the plan's inputs by name.
        tools: The functions that the text may call.
        docs: Documents of these tools, as far as they are indexed.
        sandbox: Runs the type check.
        earlier_tools: Tools of the steps whose results the text finds as ``earlier``.
        values: Values of the inputs, as far as they are known.
        files: The files that its run was given.
    """
    available = {name: docs[tool] for name, tool in tools.items() if tool in docs}
    input_values = dict(values or {})
    plan = ProgramPlan(program=Program(text=text, tools=dict(tools)), inputs=dict(inputs), values=input_values)
    readable = await asyncio.to_thread(read_program_text, text, MAX_PLAN_LENGTH)
    invisible = [
        PlanComplaint(message, line, column)
        for line, column, message in find_invisible_characters(text[:MAX_PLAN_LENGTH])
    ]
    # The parser sees the text without its leading empty lines; line numbers for people count them.
    lines_above = text[: len(text) - len(text.lstrip("\r\n"))].replace("\r\n", "\n").count("\n")
    if isinstance(readable, UnreadableProgram):
        words = set(re.findall(r"\w+", text))
        available = {name: tool for name, tool in tools.items() if name in words}
        plan = plan.model_copy(update={"program": plan.program.model_copy(update={"tools": available})})
        line = readable.line + lines_above if readable.line else 0
        complaint = PlanComplaint(
            readable.complaint.replace(f"Line {readable.line} ", "This ", 1), line, readable.column
        )
        return CheckedPlan(
            plan, (complaint, *invisible, *_check_inputs(inputs, input_values, frozenset(inputs), tools))
        )
    checker = _PlanChecker(available, inputs, tools, files)
    scope = checker.scope
    text, original_places = repair_program_text(readable, scope.tools, scope.available_names, ends_in_answer=False)
    source = parse_source(text)
    faults = [*checker.find_faults(source, len(earlier_tools)), *_find_missing_tools(source, tools, available)]
    lines = {line for (line, _), _ in faults}
    # A line that already has a fault gets no second complaint about its types.
    faults += [
        entry for entry in await _find_type_faults_in_time(source, checker.scope, sandbox) if entry[0][0] not in lines
    ]
    names = source.read_names
    functions = {name: entry for name, entry in checker.scope.tools.items() if name in names}
    program = Program(
        text=text,
        tools={name: entry.tool for name, entry in functions.items()},
        arguments={name: dict(entry.arguments) for name, entry in functions.items()},
        stubs="\n".join((PREAMBLE, *(entry.stub for entry in functions.values()))),
    )
    complaints = invisible + [_build_complaint(readable, fault, original_places, lines_above) for fault in faults]
    complaints += _check_inputs(inputs, input_values, names, tools)
    complaints.sort(key=lambda one: (one.line, one.column))
    return CheckedPlan(plan.model_copy(update={"program": program}), tuple(complaints[:MAX_PLAN_COMPLAINTS]))


class _PlanChecker:
    """Finds the faults of a plan's text that need no type check.

    ``scope`` holds the names that it may use.
    """

    def __init__(
        self,
        functions: Mapping[str, ToolDoc],
        inputs: Mapping[str, JsonObject],
        tools: Mapping[str, ToolId],
        files: GivenFiles,
    ) -> None:
        declarations: list[str] = []
        names: list[str] = []
        for number, (name, schema) in enumerate(inputs.items()):
            # Declaring an input with an invalid name would break the type check; `_check_inputs` reports it.
            if name.isidentifier() and not keyword.iskeyword(name) and name not in {*PROGRAM_NAMES, *tools}:
                writer = TypedDictDefinitions(f"input_{number}_in", optional=True)
                annotation = render_annotation(
                    read_schema_shape(build_value_schema(to_tool_parameter(name, schema))), writer
                )
                declarations += [*writer.lines, f"{name}: {annotation}"]
                names.append(name)
        types, definitions = files.declare_types()
        file_types = {name: annotation for name, annotation in types.items() if name not in {*names, *tools}}
        self.scope = CheckScope(
            build_named_signatures(functions),
            functions,
            file_types,
            "\n" + "\n".join((*HOST_DECLARATIONS.values(), *declarations)),
            frozenset((*HOST_DECLARATIONS, *names, *tools)),
            definitions,
        )

    def find_faults(self, source: SourceText, earlier_results: int) -> Iterator[Fault]:
        """Yield all faults that can be found without a type check.

        ``earlier_results``: number of earlier results.
        """
        yield from find_text_faults(source, self.scope)
        yield from find_plan_faults(source, self.scope.tools, earlier_results)


def _find_missing_tools(
    source: SourceText, tools: Mapping[str, ToolId], available: Mapping[str, ToolDoc]
) -> Iterator[Fault]:
    """Yield a fault for each call of a function whose tool is no longer indexed."""
    for call in source.calls:
        if call.name in tools and call.name not in available:
            missing_tool = clean_text(tools[call.name], 120)
            yield (
                get_position(call.node),
                f"The tool of `{call.name}` is not there: take the call out, or index {missing_tool}.",
            )


async def _find_type_faults_in_time(source: SourceText, scope: CheckScope, sandbox: Sandbox) -> list[Fault]:
    """Return the type errors of a text; nothing if the check takes too long."""
    try:
        async with asyncio.timeout(_TYPE_CHECK_SECONDS):
            return await find_type_faults(source, scope, sandbox)
    except TimeoutError:
        return []


def _build_complaint(
    text: str, fault: Fault, original_places: Mapping[SourcePosition, SourcePosition], lines_above: int
) -> PlanComplaint:
    """Return a fault of the repaired text as a complaint, with its place in the text as it was edited.

    Arguments:
        text: The edited text without leading empty lines.
        fault: The fault, with its place in the repaired text.
        original_places: Places of the edited text by those of the repaired one, where they differ.
        lines_above: Number of leading empty lines.
    """
    place, message = fault
    line, offset = original_places.get(place, place)
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return PlanComplaint(message)
    # The parser counts columns in UTF-8 bytes, people count characters.
    column = len(lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1
    return PlanComplaint(message, line + lines_above, column)


def _check_inputs(
    inputs: Mapping[str, JsonObject], values: JsonObject, names: frozenset[str], tools: Mapping[str, ToolId]
) -> Iterator[PlanComplaint]:
    """Yield complaints about the inputs themselves: their names, JSON Schemas, defaults and values."""
    if len(inputs) > MAX_INPUTS:
        yield PlanComplaint(f"A plan has at most {MAX_INPUTS} inputs; this one has {len(inputs)}.")
        return
    for name in inputs:
        shown_name = clean_text(name, 80)
        if not name.isidentifier() or keyword.iskeyword(name):
            yield PlanComplaint(f"{shown_name} is no name that a text can have: letters, digits and _.", input=name)
        elif name in PROGRAM_NAMES or name in tools:
            yield PlanComplaint(f"{shown_name} is the name of something else: choose another one.", input=name)
        elif name not in names:
            yield PlanComplaint(f"The text does not use the input {shown_name}: use it, or take it out.", input=name)
        if fault := find_schema_fault(inputs[name]):
            yield PlanComplaint(f"The JSON Schema of {shown_name} cannot be used: {fault}", input=name)
    defaults = {name: schema["default"] for name, schema in inputs.items() if "default" in schema}
    for name in values.keys() - inputs.keys():
        yield PlanComplaint(f"There is no input {clean_text(name, 80)} for the value that is given for it.", input=name)
    for kind, kind_values in (("default", defaults), ("value", {**values})):
        schemas = {name: inputs[name] for name in kind_values if name in inputs}
        for name, message in check_values(schemas, {name: kind_values[name] for name in schemas})[1]:
            yield PlanComplaint(f"The {kind} of {clean_text(name, 80)} does not fit: {message}", input=name)
