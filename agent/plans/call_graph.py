"""The calls of a program and what feeds them, for whoever draws or shows them: read off its text, before or after it ran."""

from collections.abc import Collection, Mapping

from agent.programs.analysis.flow import Flow, Site
from agent.programs.earlier import EARLIER
from agent.programs.stops import FILL
from agent.text import clean
from domain.model import Model
from domain.program import Program, ProgramPlan
from domain.source_text import Expression
from domain.tool import ToolDoc, ToolId

MOST = 200
"""Calls that are told of one program."""
_EXPRESSION = 160


class FedParameter(Model):
    """A parameter of a call, by its tool's name, and what its value is made of. ``expression``: as the text has it, cut.

    ``calls``: the keys of those that answered some of it; ``inputs``: those of the plan in it; ``earlier``: the numbers of earlier results, from 1,
    or 0 where it is not told which. ``open``: it is found when the call is reached. ``fixed``: it is a constant of the text.
    """

    parameter: str
    expression: str
    calls: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    earlier: tuple[int, ...] = ()
    open: bool = False
    fixed: bool = False


class ProgramCall(Model):
    """A place of a text that calls a tool. ``key``: what its calls' ``site`` begins with in events, as ``2:57``. ``changes``: it may change something.

    ``repeated``: it is in a loop, so made more than once or never; ``chosen``: it is made only where something is so. ``answers``: what it answers
    is in what the program says.
    """

    key: str
    function: str
    tool: ToolId
    line: int
    column: int
    changes: bool = False
    repeated: bool = False
    chosen: bool = False
    answers: bool = False
    parameters: tuple[FedParameter, ...] = ()

    @property
    def fed_by(self) -> tuple[str, ...]:
        """The keys of all calls that feed it, once each."""
        return tuple(dict.fromkeys(key for one in self.parameters for key in one.calls))


def program_calls(
    cells: Mapping[int, Program], docs: Mapping[ToolId, ToolDoc], inputs: Collection[str] = ()
) -> tuple[ProgramCall, ...]:
    """Of a program in its cells, by their numbers. Nothing of a text that cannot be read."""
    try:
        flow = Flow(cells)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    answer = flow.sites_in(flow.answer)
    reading = _Reading(flow, cells, docs, inputs)
    return tuple(reading.call(site, answers=site in answer) for site in list(flow.calls)[:MOST])


def plan_calls(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramCall, ...]:
    """Of a plan, as the first program of a subtask that it will be."""
    return program_calls({1: plan.program}, docs, plan.inputs)


class _Reading:
    def __init__(
        self, flow: Flow, cells: Mapping[int, Program], docs: Mapping[ToolId, ToolDoc], inputs: Collection[str]
    ) -> None:
        self._flow = flow
        self._cells = cells
        self._docs = docs
        self._inputs = inputs

    def call(self, site: Site, *, answers: bool) -> ProgramCall:
        """One call."""
        call = self._flow.calls[site]
        tool = self._flow.tools[call.name]
        names = self._cells[site[0]].arguments.get(call.name, {})
        given = [(names.get(one.name, one.name or "**"), one.value) for one in call.arguments]
        doc = self._docs.get(tool)
        return ProgramCall(
            key=f"{site[0]}:{site[1]}",
            function=call.name,
            tool=tool,
            line=call.line,
            column=call.column,
            changes=doc is None or not doc.safe,
            repeated=self._flow.is_repeated(site),
            chosen=self._flow.is_conditional(site),
            answers=answers,
            parameters=tuple(self._parameter(name, value, site) for name, value in given),
        )

    def _parameter(self, name: str, value: Expression, site: Site) -> FedParameter:
        gathered = self._flow.of([value], self._flow.place(site))
        names = {part.name for part in gathered.parts if part.kind == "name"}
        earlier = {part.number + 1 for part in gathered.parts if part.kind == "item"} | (
            {0} if EARLIER in names else set[int]()
        )
        sites = sorted(self._flow.sites_in(gathered) - {site})
        return FedParameter(
            parameter=name,
            expression=clean(value.code, _EXPRESSION),
            calls=tuple(f"{number}:{place}" for number, place in sites),
            inputs=tuple(one for one in self._inputs if one in names),
            earlier=tuple(sorted(earlier)),
            open=FILL in names,
            fixed=all(part.kind == "constant" for part in gathered.parts),
        )
