"""Compilation of a plan's steps into a program, and the inverse.

Only a program that makes its calls one after the other can be turned into steps.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic.types import JsonValue

from agent.plans.literals import LOADS, literal, quoted
from agent.programs.analysis.constants import NotConstantError
from agent.programs.analysis.flow import Site
from agent.programs.analysis.straight_text import Place, StraightText, other_doings
from agent.programs.names import FOUND, TAKEN, identifier, named
from agent.programs.signatures import PREAMBLE, Signature, signatures
from domain.errors import NotLinearError
from domain.model import JsonObject
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.program import Program, ProgramPlan
from domain.source_text import Expression
from domain.tool import Parameter, ToolDoc, ToolId, tool_id_parts

PARAMETER = "x-parameter"
"""Keyword in an input's schema: the parameter's name in the plan, where that cannot be a name in the program."""
_LINE = 100
"""Maximum characters of a call that is written on one line."""
_PART = re.compile(r"\[(\d*)\]|([^.\[\]]+)")


def compiled(document: PlanDocument, docs: Mapping[ToolId, ToolDoc], given: Sequence[ToolId] = ()) -> ProgramPlan:
    """Compile the steps of a plan into the program that makes its calls.

    ``given`` are the earlier steps, whose results are ``earlier`` in the text. A tool without a document becomes a
    function with the parameters that the steps name. Required parameters that steps leave open become ``fill()``.
    The program has no answer of its own.
    """
    tools = _documents(document, docs)
    functions = {one.tool: one for one in signatures(list(tools.values()))}
    inputs = input_names(document, [one.name for one in functions.values()])
    taken = {*TAKEN, *(one.name for one in functions.values()), *inputs.values()}
    results = named(document.steps, lambda step: (f"{functions[step.tool].name}_answer",), taken)
    names = [f"earlier[{number}]" for number in range(len(given))] + [name for name, _ in results]
    writing = _Writing(names, inputs)
    lines = [f"{name} = await {writing.call(step, tools[step.tool], functions[step.tool])}" for name, step in results]
    text = "\n".join(([f"import {LOADS.partition('.')[0]}"] if writing.loads else []) + lines)
    program = Program(
        text=text,
        tools={one.name: one.tool for one in functions.values()},
        arguments={one.name: dict(one.arguments) for one in functions.values()},
        stubs="\n".join((PREAMBLE, *(one.stub for one in functions.values()))),
    )
    return ProgramPlan(program=program, inputs=dict(_inputs(document, inputs)))


def input_names(document: PlanDocument, functions: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of each parameter in the program's text: its own, if that is a valid and free name there."""
    used = (name for step in document.steps for name in step.named.values())
    told = dict.fromkeys((*document.parameters, *used))
    taken = {*FOUND, *functions, "asyncio", "float", "json"}
    return {parameter: name for name, parameter in named(told, lambda name: (identifier(name, "value"),), taken)}


def _inputs(document: PlanDocument, names: Mapping[str, str]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the inputs of the program with their JSON Schemas, noting the parameter's name where it differs."""
    for parameter, schema in document.parameters.items():
        name = names[parameter]
        yield name, schema if name == parameter else {**schema, PARAMETER: parameter}


def _documents(document: PlanDocument, docs: Mapping[ToolId, ToolDoc]) -> dict[ToolId, ToolDoc]:
    """Return the document of each tool of a plan, with additional parameters that its steps name."""
    found: dict[ToolId, ToolDoc] = {}
    for step in document.steps:
        doc = found.get(step.tool) or docs.get(step.tool) or _unknown(step.tool)
        own = {one.name for one in doc.parameters}
        more = dict.fromkeys(name for name in (*step.arguments, *step.takes, *step.named) if name not in own)
        parameters = (*doc.parameters, *(Parameter(name=name, json_schema="{}") for name in more))
        found[step.tool] = doc.model_copy(update={"parameters": parameters})
    return found


def _unknown(tool: ToolId) -> ToolDoc:
    """Return a document for a tool that is not indexed."""
    category, toolset, api = tool_id_parts(tool)
    # POST, so that an unknown tool counts as one with side effects.
    return ToolDoc(id=tool, category=category, toolset=toolset, api=api, function=api, method="POST")


class _Writing:
    """Writer of the calls of one plan.

    ``results`` are expressions for the results of all steps, earlier ones first. ``loads`` tells whether a value is
    written as JSON text.
    """

    def __init__(self, results: Sequence[str], inputs: Mapping[str, str]) -> None:
        self._results = results
        self._inputs = inputs
        self.loads = False

    def call(self, step: PlannedStep, doc: ToolDoc, function: Signature) -> str:
        """Return the text of a call, on one line if it is short."""
        sources = {name: literal(value) for name, value in step.arguments.items()}
        sources |= {name: self._inputs[own] for name, own in step.named.items()}
        sources |= {name: self._taken(take) for name, take in step.takes.items()}
        self.loads = self.loads or any(source.startswith(LOADS) for source in sources.values())
        sources |= {one.name: "fill()" for one in doc.required if one.name not in sources}
        own = {parameter: name for name, parameter in function.arguments.items()}
        given = [f"{own[parameter]}={source}" for parameter, source in sources.items()]
        line = f"{function.name}({', '.join(given)})"
        return line if len(line) <= _LINE else "\n".join((f"{function.name}(", *(f"    {one}," for one in given), ")"))

    def _taken(self, take: Take) -> str:
        """Return the expression for a value out of an earlier result."""
        there = take.step <= len(self._results)
        found = self._results[take.step - 1] if there else f"earlier[{take.step - 1}]"
        for part in _PART.finditer(take.field):
            index, name = part[1], part[2]
            if index == "":
                found = f"named({found})"
            else:
                found += f"[{int(index)}]" if index is not None else f"[{quoted(name)}]"
        return found


def as_document(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], given: Sequence[ToolId] = ()) -> PlanDocument:
    """Return the steps of a program that makes each of its calls once, one after the other.

    Its arguments have to be fixed values, inputs and fields of earlier answers. The steps hold all calls and
    nothing else; an answer that the program composes at its end is lost (:func:`speaks`).

    Raises:
        NotLinearError: steps cannot express what it does; the message names the line and the reason.
    """
    try:
        reading = StraightText({_CELL: plan.program})
        _refuse_turns(reading)
        steps = _Steps(reading, plan, docs, len(given))
        made = tuple(steps.step(site) for site in reading.calls)
        _refuse(other_doings(plan.program))
        return PlanDocument(steps=made, parameters=dict(steps.parameters()))
    except NotLinearError:
        raise
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotLinearError("the program cannot be read", getattr(error, "lineno", None)) from error


def speaks(program: Program) -> bool:
    """Return True if a program ends in an answer of its own rather than in what its calls answer."""
    return StraightText({_CELL: program}).speaks


_CELL = 1


def _refuse_turns(reading: StraightText) -> None:
    """Raise ``NotLinearError`` for control flow that steps cannot express."""
    turns = [
        (reading.line_of(site), f"calls {name} in a loop, a function, or only where something is so")
        for site, name in reading.others.items()
    ]
    _refuse([*turns, *reading.turns()])


def _refuse(found: Iterable[tuple[int, str]]) -> None:
    """Raise ``NotLinearError`` for the first of these lines, if there is any."""
    first = min(found, key=lambda one: one[0], default=None)
    if first is not None:
        raise _not_linear(*first)


def _not_linear(line: int, what: str) -> NotLinearError:
    return NotLinearError(f"line {line} of the program {what}, which steps cannot say; it is edited as a program", line)


class _Steps:
    """Reader of a program's calls as steps; ``given`` is the number of earlier steps."""

    def __init__(self, reading: StraightText, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], given: int) -> None:
        self._reading = reading
        self._plan = plan
        self._docs = docs
        self._given = given
        self._numbers = {site: number for number, site in enumerate(reading.calls, start=given + 1)}

    def parameters(self) -> Iterator[tuple[str, JsonObject]]:
        """Yield the parameters of the plan with their JSON Schemas, by their original names."""
        for name, schema in self._plan.inputs.items():
            yield self._parameter(name), {keyword: one for keyword, one in schema.items() if keyword != PARAMETER}

    def _parameter(self, name: str) -> str:
        """Return the original name of an input."""
        told = self._plan.inputs.get(name, {}).get(PARAMETER)
        return told if isinstance(told, str) else name

    def step(self, site: Site) -> PlannedStep:
        """Return the call at a site as a step."""
        tool = self._plan.program.tools[self._reading.function(site)]
        arguments: JsonObject = {}
        takes: dict[str, Take] = {}
        own: dict[str, str] = {}
        for parameter, value in self._reading.arguments(site):
            if self._reading.is_open(value):
                self._check_open(site, tool, parameter)
            elif place := self._reading.place_of(value):
                takes[parameter] = self._take(site, parameter, place)
            elif (name := self._reading.given(value)) in self._plan.inputs:
                own[parameter] = self._parameter(name)
            else:
                arguments[parameter] = self._fixed(site, parameter, value)
        return PlannedStep(tool=tool, arguments=arguments, takes=takes, named=own)

    def _take(self, site: Site, parameter: str, place: Place) -> Take:
        """Return the place of an earlier answer that a parameter is taken from."""
        origin, field = place
        number = origin if isinstance(origin, int) else self._numbers[origin]
        # If the program changes the answer in between, the step would take the unchanged value.
        if not self._reading.stands(place):
            raise self._refused(site, f"takes {parameter} from an answer that the program changes")
        if isinstance(origin, int) and origin > self._given:
            raise self._refused(site, f"takes {parameter} from an earlier result that is not there")
        return Take(step=number, field=field)

    def _fixed(self, site: Site, parameter: str, value: Expression) -> JsonValue:
        """Return a constant of the program."""
        try:
            return self._reading.fixed(value)
        except NotConstantError:
            raise self._refused(site, f"computes or chooses the value of {parameter}") from None

    def _check_open(self, site: Site, tool: ToolId, parameter: str) -> None:
        """Refuse an open parameter that its tool does not require: a step would leave it out."""
        doc = self._docs.get(tool)
        if doc is None or all(one.name != parameter for one in doc.required):
            raise self._refused(site, f"leaves {parameter} open, which its tool does not need")

    def _refused(self, site: Site, what: str) -> NotLinearError:
        return _not_linear(self._reading.line_of(site), what)
