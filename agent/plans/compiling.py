"""A plan's steps as a program, and a program that calls one thing after the other as steps: each the other's inverse."""

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
"""In an input's schema: what the plan's parameter is called, where that is no name of Python, or another thing has it."""
_LINE = 100
"""Characters of a call that stands on one line."""
_PART = re.compile(r"\[(\d*)\]|([^.\[\]]+)")


def compiled(document: PlanDocument, docs: Mapping[ToolId, ToolDoc], given: Sequence[ToolId] = ()) -> ProgramPlan:
    """The program that makes a plan's calls. ``given``: the steps that come before its own, whose results are ``earlier``.

    A tool without a document is a function of what its steps name. What steps leave open is ``fill()``; it says nothing at its end.
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
    """The inputs of a plan's program by the names of its parameters: the same, where they can stand in a text."""
    used = (name for step in document.steps for name in step.named.values())
    told = dict.fromkeys((*document.parameters, *used))
    taken = {*FOUND, *functions, "asyncio", "float", "json"}
    return {parameter: name for name, parameter in named(told, lambda name: (identifier(name, "value"),), taken)}


def _inputs(document: PlanDocument, names: Mapping[str, str]) -> Iterator[tuple[str, JsonObject]]:
    for parameter, schema in document.parameters.items():
        name = names[parameter]
        yield name, schema if name == parameter else {**schema, PARAMETER: parameter}


def _documents(document: PlanDocument, docs: Mapping[ToolId, ToolDoc]) -> dict[ToolId, ToolDoc]:
    """Of each tool of a plan, with all the parameters that its steps name."""
    found: dict[ToolId, ToolDoc] = {}
    for step in document.steps:
        doc = found.get(step.tool) or docs.get(step.tool) or _unknown(step.tool)
        own = {one.name for one in doc.parameters}
        more = dict.fromkeys(name for name in (*step.arguments, *step.takes, *step.named) if name not in own)
        parameters = (*doc.parameters, *(Parameter(name=name, json_schema="{}") for name in more))
        found[step.tool] = doc.model_copy(update={"parameters": parameters})
    return found


def _unknown(tool: ToolId) -> ToolDoc:
    category, toolset, api = tool_id_parts(tool)
    return ToolDoc(id=tool, category=category, toolset=toolset, api=api, function=api, method="POST")


class _Writing:
    """The calls of one plan as text. ``results``: the expressions that hold the results of its steps, those before it first. ``loads``: values stand as JSON."""

    def __init__(self, results: Sequence[str], inputs: Mapping[str, str]) -> None:
        self._results = results
        self._inputs = inputs
        self.loads = False

    def call(self, step: PlannedStep, doc: ToolDoc, function: Signature) -> str:
        """One call, on one line where it is short."""
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
    """The steps of a program that makes its calls one after the other, each once, with fixed values, inputs and fields of earlier answers.

    All of its calls are in them, and nothing else: what it says at its end is lost (:func:`speaks`).

    Raises:
        NotLinearError: steps cannot say what it does; the message says in which line, and what.
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
    """Whether a program says something at its end, other than what its calls answer."""
    return StraightText({_CELL: program}).speaks


_CELL = 1


def _refuse_turns(reading: StraightText) -> None:
    """What steps cannot say of the course of a program."""
    turns = [
        (reading.line_of(site), f"calls {name} in a loop, a function, or only where something is so")
        for site, name in reading.others.items()
    ]
    _refuse([*turns, *reading.turns()])


def _refuse(found: Iterable[tuple[int, str]]) -> None:
    first = min(found, key=lambda one: one[0], default=None)
    if first is not None:
        raise _not_linear(*first)


def _not_linear(line: int, what: str) -> NotLinearError:
    return NotLinearError(f"line {line} of the program {what}, which steps cannot say; it is edited as a program", line)


class _Steps:
    """The calls of a text as steps. ``given``: how many steps come before its own."""

    def __init__(self, reading: StraightText, plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc], given: int) -> None:
        self._reading = reading
        self._plan = plan
        self._docs = docs
        self._given = given
        self._numbers = {site: number for number, site in enumerate(reading.calls, start=given + 1)}

    def parameters(self) -> Iterator[tuple[str, JsonObject]]:
        """The plan's own, by the names that they had as such."""
        for name, schema in self._plan.inputs.items():
            yield self._parameter(name), {keyword: one for keyword, one in schema.items() if keyword != PARAMETER}

    def _parameter(self, name: str) -> str:
        told = self._plan.inputs.get(name, {}).get(PARAMETER)
        return told if isinstance(told, str) else name

    def step(self, site: Site) -> PlannedStep:
        """One call."""
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
        origin, field = place
        number = origin if isinstance(origin, int) else self._numbers[origin]
        if not self._reading.stands(place):
            raise self._refused(site, f"takes {parameter} from an answer that the program changes")
        if isinstance(origin, int) and origin > self._given:
            raise self._refused(site, f"takes {parameter} from an earlier result that is not there")
        return Take(step=number, field=field)

    def _fixed(self, site: Site, parameter: str, value: Expression) -> JsonValue:
        try:
            return self._reading.fixed(value)
        except NotConstantError:
            raise self._refused(site, f"computes or chooses the value of {parameter}") from None

    def _check_open(self, site: Site, tool: ToolId, parameter: str) -> None:
        doc = self._docs.get(tool)
        if doc is None or all(one.name != parameter for one in doc.required):
            raise self._refused(site, f"leaves {parameter} open, which its tool does not need")

    def _refused(self, site: Site, what: str) -> NotLinearError:
        return _not_linear(self._reading.line_of(site), what)
