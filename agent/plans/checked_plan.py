"""Check of a program that a person has edited.

The result is the plan that it becomes, or complaints, each with its place. No tool is called.
"""

import asyncio
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.files.given import GivenFiles
from agent.plans.input_schemas import fault_of_schema
from agent.plans.parameters import parameter_of, read_values
from agent.plans.plan_text import unseen_signs
from agent.programs.analysis.faults import Fault, faults_of_plan
from agent.programs.analysis.reading import LONGEST, Unreadable, read
from agent.programs.analysis.repairs import repair
from agent.programs.annotations import Definitions, annotation
from agent.programs.checking import Known, faults_of_text, faults_of_types
from agent.programs.earlier import EARLIER
from agent.programs.names import FOUND
from agent.programs.protocol import Sandbox
from agent.programs.signatures import PREAMBLE, signatures_of
from agent.programs.stops import FILL, NAMED
from agent.text import clean
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.python_source import Place, place_of
from domain.source_text import SourceText, parse_source
from domain.tool import ToolDoc, ToolId
from graph.shapes import shape_of_schema

_NO_FILES = GivenFiles()
LONGEST_PLAN = 5 * LONGEST
"""Maximum characters of a text; more than for a model's program, because a plan may hold long values."""
MOST_INPUTS = 50
MOST_COMPLAINTS = 50
_SECONDS = 10.0
"""Time limit of the type check; type errors are not reported if it takes longer."""
HOST = {
    EARLIER: f"{EARLIER}: list[Any]",
    FILL: f"def {FILL}() -> Any: ...",
    NAMED: f"def {NAMED}(items: list[Any]) -> Any: ...",
}
"""Declarations of the names that a plan's text may use besides its tools and the names of every program."""


@dataclass(frozen=True, slots=True)
class PlanComplaint:
    """A fault of a plan."""

    message: str
    """One sentence for people."""
    line: int = 0
    """Line of the text, from 1; 0 if the complaint is about the whole."""
    column: int = 0
    """Column in characters, from 1; 0 if the complaint is about the whole."""
    input: str = ""
    """Name of the input that it is about, if any."""


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """Result of a check."""

    plan: ProgramPlan
    """The plan that would run, repaired where that was safe; it may be carried out only if there are no complaints."""
    complaints: tuple[PlanComplaint, ...] = ()


async def checked(
    text: str,
    inputs: Mapping[str, JsonObject],
    tools: Mapping[str, ToolId],
    docs: Mapping[ToolId, ToolDoc],
    sandbox: Sandbox,
    given: Sequence[ToolId] = (),
    *,
    values: Mapping[str, JsonValue] | None = None,
    files: GivenFiles = _NO_FILES,
) -> CheckedPlan:
    """Check the text of a plan and return the plan with all complaints.

    ``tools`` are the functions that the text may call, ``given`` the steps whose results are ``earlier``,
    ``values`` the values of its inputs as far as they are known, and ``files`` the files that its run was given.
    """
    there = {name: docs[tool] for name, tool in tools.items() if tool in docs}
    told = dict(values or {})
    plan = ProgramPlan(program=Program(text=text, tools=dict(tools)), inputs=dict(inputs), values=told)
    readable = await asyncio.to_thread(read, text, LONGEST_PLAN)
    unseen = [PlanComplaint(said, line, column) for line, column, said in unseen_signs(text[:LONGEST_PLAN])]
    # The parser sees the text without its leading empty lines; line numbers for people count them.
    above = text[: len(text) - len(text.lstrip("\r\n"))].replace("\r\n", "\n").count("\n")
    if isinstance(readable, Unreadable):
        words = set(re.findall(r"\w+", text))
        there = {name: tool for name, tool in tools.items() if name in words}
        plan = plan.model_copy(update={"program": plan.program.model_copy(update={"tools": there})})
        line = readable.line + above if readable.line else 0
        complaint = PlanComplaint(
            readable.complaint.replace(f"Line {readable.line} ", "This ", 1), line, readable.column
        )
        return CheckedPlan(plan, (complaint, *unseen, *_of_inputs(inputs, told, frozenset(inputs), tools)))
    checking = _Checking(there, inputs, tools, files)
    known = checking.known
    text, whence = repair(readable, known.tools, known.there, answers=False)
    source = parse_source(text)
    faults = [*checking.faults(source, len(given)), *_gone(source, tools, there)]
    lines = {line for (line, _), _ in faults}
    # A line that already has a fault gets no second complaint about its types.
    faults += [one for one in await _of_types(source, checking.known, sandbox) if one[0][0] not in lines]
    names = source.uses
    functions = {name: one for name, one in checking.known.tools.items() if name in names}
    program = Program(
        text=text,
        tools={name: one.tool for name, one in functions.items()},
        arguments={name: dict(one.arguments) for name, one in functions.items()},
        stubs="\n".join((PREAMBLE, *(one.stub for one in functions.values()))),
    )
    complaints = unseen + [_complaint(readable, fault, whence, above) for fault in faults]
    complaints += _of_inputs(inputs, told, names, tools)
    complaints.sort(key=lambda one: (one.line, one.column))
    return CheckedPlan(plan.model_copy(update={"program": program}), tuple(complaints[:MOST_COMPLAINTS]))


class _Checking:
    """Names that a text may use, and the faults that can be found without types."""

    def __init__(
        self,
        functions: Mapping[str, ToolDoc],
        inputs: Mapping[str, JsonObject],
        tools: Mapping[str, ToolId],
        files: GivenFiles,
    ) -> None:
        declared: list[str] = []
        names: list[str] = []
        for number, (name, schema) in enumerate(inputs.items()):
            # Inputs with unusable names are reported by :func:`_of_inputs`; declaring them would break the type
            # check.
            if name.isidentifier() and not keyword.iskeyword(name) and name not in {*FOUND, *tools}:
                writer = Definitions(f"input_{number}_in", optional=True)
                kind = annotation(shape_of_schema(value_schema(parameter_of(name, schema))), writer)
                declared += [*writer.lines, f"{name}: {kind}"]
                names.append(name)
        types, definitions = files.declared()
        given = {name: kind for name, kind in types.items() if name not in {*names, *tools}}
        self.known = Known(
            signatures_of(functions),
            functions,
            given,
            "\n" + "\n".join((*HOST.values(), *declared)),
            frozenset((*HOST, *names, *tools)),
            definitions,
        )

    def faults(self, source: SourceText, given: int) -> Iterator[Fault]:
        """Yield all faults that can be found without types; ``given`` is the number of earlier results."""
        yield from faults_of_text(source, self.known)
        yield from faults_of_plan(source, self.known.tools, given)


def _gone(source: SourceText, tools: Mapping[str, ToolId], there: Mapping[str, ToolDoc]) -> Iterator[Fault]:
    """Yield a fault for each call of a function whose tool is no longer indexed."""
    for call in source.calls:
        if call.name in tools and call.name not in there:
            gone = clean(tools[call.name], 120)
            yield (
                place_of(call.node),
                f"The tool of `{call.name}` is not there: take the call out, or index {gone}.",
            )


async def _of_types(source: SourceText, known: Known, sandbox: Sandbox) -> list[Fault]:
    """Return the type errors of a text; nothing if the check takes too long."""
    try:
        async with asyncio.timeout(_SECONDS):
            return await faults_of_types(source, known, sandbox)
    except TimeoutError:
        return []


def _complaint(text: str, fault: Fault, whence: Mapping[Place, Place], above: int) -> PlanComplaint:
    """Return a fault with its place in the text as it was edited.

    ``whence`` maps places of the repaired text to those of the edited one; ``above`` is the number of leading empty
    lines.
    """
    place, said = fault
    line, offset = whence.get(place, place)
    lines = text.split("\n")
    if not 0 < line <= len(lines):
        return PlanComplaint(said)
    # The parser counts columns in UTF-8 bytes, people count characters.
    column = len(lines[line - 1].encode()[:offset].decode(errors="ignore")) + 1
    return PlanComplaint(said, line + above, column)


def _of_inputs(
    inputs: Mapping[str, JsonObject], values: JsonObject, names: frozenset[str], tools: Mapping[str, ToolId]
) -> Iterator[PlanComplaint]:
    """Yield complaints about the inputs themselves: their names, JSON Schemas, defaults and values."""
    if len(inputs) > MOST_INPUTS:
        yield PlanComplaint(f"A plan has at most {MOST_INPUTS} inputs; this one has {len(inputs)}.")
        return
    for name in inputs:
        told = clean(name, 80)
        if not name.isidentifier() or keyword.iskeyword(name):
            yield PlanComplaint(f"{told} is no name that a text can have: letters, digits and _.", input=name)
        elif name in FOUND or name in tools:
            yield PlanComplaint(f"{told} is the name of something else: choose another one.", input=name)
        elif name not in names:
            yield PlanComplaint(f"The text does not use the input {told}: use it, or take it out.", input=name)
        if wrong := fault_of_schema(inputs[name]):
            yield PlanComplaint(f"The JSON Schema of {told} cannot be used: {wrong}", input=name)
    defaults = {name: schema["default"] for name, schema in inputs.items() if "default" in schema}
    for name in values.keys() - inputs.keys():
        yield PlanComplaint(f"There is no input {clean(name, 80)} for the value that is given for it.", input=name)
    for what, given in (("default", defaults), ("value", {**values})):
        known = {name: inputs[name] for name in given if name in inputs}
        for name, said in read_values(known, {name: given[name] for name in known})[1]:
            yield PlanComplaint(f"The {what} of {clean(name, 80)} does not fit: {said}", input=name)
