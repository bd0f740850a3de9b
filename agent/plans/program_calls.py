"""Read the calls of a program, and what feeds their parameters, from its text, before or after it runs."""

from collections.abc import Collection, Mapping

from agent.programs.analysis.program_flow import ProgramFlow, Site
from agent.programs.program_request import EARLIER
from agent.programs.sandbox_cell import FILL
from agent.text import clean_text
from domain.model import Model
from domain.program import Program, ProgramPlan
from domain.source_text import SourceExpression
from domain.tool import ToolDoc, ToolId

MAX_CALLS = 200
"""Maximum number of calls of one program that are reported."""
_MAX_EXPRESSION_LENGTH = 160


class FedParameter(Model):
    """A parameter of a call, with the sources of its value."""

    parameter: str
    """Name of the parameter in its tool's document."""
    expression: str
    """The expression in the text, shortened."""
    calls: tuple[str, ...] = ()
    """Keys of the calls whose responses go into the value."""
    inputs: tuple[str, ...] = ()
    """Inputs of the plan that go into the value."""
    earlier: tuple[int, ...] = ()
    """Numbers of the earlier results that go into the value, from 1; 0 if the text does not show which."""
    open: bool = False
    """The value is left open, and found when the program reaches the call."""
    fixed: bool = False
    """The value is a constant of the text."""


class ProgramCall(Model):
    """A place in a program's text that calls a tool."""

    key: str
    """Number of the cell and byte offset in it, as ``2:57``, with which the ``site`` of its calls in events begins."""
    function: str
    tool: ToolId
    line: int
    column: int
    changes: bool = False
    """The call may have side effects."""
    repeated: bool = False
    """The call is in a loop: it may be made more than once, or never."""
    chosen: bool = False
    """The call is made only under a condition."""
    answers: bool = False
    """Its response goes into the program's answer."""
    parameters: tuple[FedParameter, ...] = ()

    @property
    def fed_by(self) -> tuple[str, ...]:
        """Keys of all calls that feed this one, without duplicates."""
        return tuple(dict.fromkeys(key for parameter in self.parameters for key in parameter.calls))


def collect_program_calls(
    cells: Mapping[int, Program], docs: Mapping[ToolId, ToolDoc], inputs: Collection[str] = ()
) -> tuple[ProgramCall, ...]:
    """Return the calls of a program, given as cells by number; none if the text cannot be parsed.

    ``docs``: documents of its tools, as far as they are known. ``inputs``: names of its inputs.
    """
    try:
        flow = ProgramFlow(cells)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    answer_sites = flow.find_sites(flow.answer_trace)
    reader = _CallReader(flow, cells, docs, inputs)
    return tuple(reader.read_call(site, answers=site in answer_sites) for site in list(flow.calls)[:MAX_CALLS])


def collect_plan_calls(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc]) -> tuple[ProgramCall, ...]:
    """Return the calls of a plan, which runs as the first program of a subtask."""
    return collect_program_calls({1: plan.program}, docs, plan.inputs)


class _CallReader:
    """Builds the :class:`ProgramCall` of each call site."""

    def __init__(
        self, flow: ProgramFlow, cells: Mapping[int, Program], docs: Mapping[ToolId, ToolDoc], inputs: Collection[str]
    ) -> None:
        self._flow = flow
        self._cells = cells
        self._docs = docs
        self._inputs = inputs

    def read_call(self, site: Site, *, answers: bool) -> ProgramCall:
        """Return the call at a site; ``answers``: its response goes into the program's answer."""
        call = self._flow.calls[site]
        tool = self._flow.tools[call.name]
        parameter_names = self._cells[site[0]].arguments.get(call.name, {})
        values = [
            (parameter_names.get(argument.name, argument.name or "**"), argument.value) for argument in call.arguments
        ]
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
            parameters=tuple(self._read_parameter(name, value, site) for name, value in values),
        )

    def _read_parameter(self, name: str, value: SourceExpression, site: Site) -> FedParameter:
        """Return a parameter with the calls, inputs and earlier results that its expression depends on."""
        dependencies = self._flow.trace_values([value], self._flow.find_position(site))
        names = {part.name for part in dependencies.parts if part.kind == "name"}
        earlier = {part.number + 1 for part in dependencies.parts if part.kind == "item"} | (
            {0} if EARLIER in names else set[int]()
        )
        sites = sorted(self._flow.find_sites(dependencies) - {site})
        return FedParameter(
            parameter=name,
            expression=clean_text(value.code, _MAX_EXPRESSION_LENGTH),
            calls=tuple(f"{number}:{place}" for number, place in sites),
            inputs=tuple(input_name for input_name in self._inputs if input_name in names),
            earlier=tuple(sorted(earlier)),
            open=FILL in names,
            fixed=all(part.kind == "constant" for part in dependencies.parts),
        )
