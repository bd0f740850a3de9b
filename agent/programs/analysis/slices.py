"""Backward slices of the arguments of a program's calls, as data and as a sentence for the user.

A slice ends at calls of tools: it contains the call whose answer is used, but not the arguments of that call. It is
computed from the text alone, so it is the same each time that a call is made.
"""

import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent.execution.call_wording import build_title_from_identifier, quote_text
from agent.execution.value_search import normalize_text, normalize_value, occurs_in
from agent.programs.analysis.constants import find_possible_answers
from agent.programs.analysis.control_flow import UNKNOWN_CONDITION, ControlFlow
from agent.programs.analysis.data_flow import Scope, ValuePart, ValueTracer
from agent.programs.analysis.definition_reader import read_definitions
from agent.programs.builtin_functions import HELPER_NAMES
from agent.programs.program_types import ASK
from agent.programs.sandbox_cell import FILL, LOOK, NAMED
from agent.text import clean_text
from domain.program import Program
from domain.provenance import Slice, Source
from domain.python_source import get_position, list_argument_values, parse_literal, unparse
from domain.source_text import SourceArgument, SourceCall, parse_source, parse_sources
from domain.tool import ToolId

_NEUTRAL_NAMES = frozenset(dir(builtins)) | {"ToolError", "asyncio", LOOK, FILL, NAMED, *HELPER_NAMES}
"""Names whose values come neither from the user nor from a tool."""
_MAX_EXPRESSION = 320
"""Longest expression shown, in characters."""
_MAX_LISTED = 6
"""Sources, and likewise conditions, that a sentence lists before it counts the rest."""
_TRIVIAL_CONSTANTS = ("0", "1", "2")
"""Constants that are left out beside other sources, since they are usually starts and steps of counters."""
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SliceContext:
    """Origins of the values that a program can use."""

    tools: Mapping[str, ToolId]
    """Ids of the tools by the functions that call them."""
    arguments: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """For each function, the tool's parameters by the argument names that the program uses."""
    user_texts: Sequence[str] = ()
    """Messages of the user."""
    inputs: Mapping[str, ToolId] = field(default_factory=lambda: {"today": ToolId("")})
    """Names defined before the program runs, each with the tool that answered its value; empty if none did."""
    user_inputs: Collection[str] = ()
    """Names whose values the user entered."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that hold the user's files, each with the file's name."""


class SlicedProgram:
    """Slicer of the cells of one session, of which the last is the one that runs.

    Methods identify a call by its function, its span in UTF-8 bytes (``start``, ``end``), and ``back``: how many cells
    before the last its text is, 0 for the last.
    """

    def __init__(self, cells: Sequence[str], context: SliceContext) -> None:
        """Read the cells, which must parse."""
        sources = parse_sources(cells)
        self._context = context
        self._last_cell = len(sources) - 1
        self._modules = [source.tree for source in sources]
        self._definitions = read_definitions(self._modules)
        self._user_texts = [normalize_text(text) for text in context.user_texts]
        self._calls_by_cell: list[dict[_Span, SourceCall]] = [
            {(call.start, call.end): call for call in source.calls} for source in sources
        ]

    def slice_arguments(self, function: str, start: int, end: int, cells_back: int = 0) -> tuple[Slice, ...]:
        """Return the slices of a call's arguments; empty if no call is at that place."""
        call = self._find_call(function, start, end, cells_back)
        if call is None:
            return ()
        names = self._context.arguments.get(function, {})
        return tuple(
            self._slice_argument(parameter, argument, call)
            for parameter, argument in _pair_with_parameters(call, names)
        )

    def find_argument_sources(self) -> Iterator[tuple[str, str, Source]]:
        """Yield the distinct sources of the arguments of all tool calls in the last cell.

        Each item is a function, its parameter, and a source of the parameter's value.
        """
        calls = self._calls_by_cell[self._last_cell]
        tracers: dict[tuple[str, str, Scope], ValueTracer] = {}
        for span in sorted(calls, reverse=True):  # last call first: a tracer requires positions in this order
            call = calls[span]
            name, site = call.name, self._definitions.positions[call.node]
            if name in self._context.tools:
                for parameter, argument in _pair_with_parameters(call, self._context.arguments.get(name, {})):
                    tracer = ValueTracer(self._definitions, self._context.tools, site)
                    tracers.setdefault((name, parameter, site.function), tracer).trace(argument.value.node, site)
        for (name, parameter, _), tracer in tracers.items():
            sources = (source for part in tracer.parts for source in self._find_sources(part, self._last_cell))
            yield from ((name, parameter, source) for source in dict.fromkeys(sources))

    def slice_control(self, function: str, start: int, end: int, cells_back: int = 0) -> Slice:
        """Return the sources that decide whether, how often and with which values a call is made.

        If there is no call at exactly that span, the only source is one of kind ``unknown``.
        """
        span = start, end
        call = self._calls_by_cell[self._last_cell - cells_back].get(span) if cells_back <= self._last_cell else None
        if call is None:
            return Slice(parameter="", expression="", sources=(Source(kind="unknown", name=UNKNOWN_CONDITION),))
        node, site = call.node, self._definitions.positions[call.node]
        tracer = ValueTracer(self._definitions, self._context.tools, site, control=self._control_flow)
        for part in (
            *self._control_flow.find_conditions(node),
            node.func,
            *list_argument_values(node),
        ):
            tracer.trace(part)
        unique_sources = dict.fromkeys(
            source for part in tracer.parts for source in self._find_sources(part, site.cell)
        )
        return Slice(
            parameter="",
            expression=function,
            sources=tuple(source for source in unique_sources if source.kind != "constant"),
        )

    @cached_property
    def _control_flow(self) -> ControlFlow:
        return ControlFlow(self._modules, self._context.tools, self._definitions.find_sharing_names)

    def is_in_loop(self, function: str, start: int, end: int, cells_back: int = 0) -> bool:
        """Return whether the call may be made more than once."""
        call = self._find_call(function, start, end, cells_back)
        return call is not None and any(
            position.loops for position in self._definitions.find_call_positions(self._definitions.positions[call.node])
        )

    def _find_call(self, function: str, start: int, end: int, cells_back: int) -> SourceCall | None:
        """Return the call at a span.

        If none matches exactly, return the shortest call of the function that begins or ends there, else the shortest
        one that contains the span.
        """
        if cells_back > self._last_cell:
            return None
        calls = self._calls_by_cell[self._last_cell - cells_back]
        spans = [span for span, call in calls.items() if call.name == function]
        nearest = [span for span in spans if span[0] == start or span[1] == end]
        nearest = nearest or [span for span in spans if span[0] <= start and end <= span[1]]
        return calls.get((start, end)) or (calls[min(nearest, key=lambda span: span[1] - span[0])] if nearest else None)

    def _slice_argument(self, parameter: str, argument: SourceArgument, call: SourceCall) -> Slice:
        """Return the slice of one argument, including the conditions under which the call is made."""
        site = self._definitions.positions[call.node]
        tracer = ValueTracer(self._definitions, self._context.tools, site)
        tracer.trace(argument.value.node)
        conditions = [
            *(test for position in self._definitions.find_call_positions(site) for test in position.tests),
            *tracer.conditions,
        ]
        unique_sources = dict.fromkeys(
            source for part in tracer.parts for source in self._find_sources(part, site.cell)
        )
        sources = sorted(map(self._mark_user_constant, unique_sources), key=lambda one: (one.line, one.name))
        value_slice = Slice(
            parameter=parameter,
            expression=_clean_expression(argument.value.code),
            sources=tuple(sources),
            conditions=tuple(dict.fromkeys(_clean_expression(unparse(test)) for test in conditions)),
            lines=tuple(sorted({call.line, *tracer.lines})),
        )
        return value_slice.model_copy(update={"words": describe_slice(value_slice)})

    def _find_sources(self, part: ValuePart, cell: int) -> Iterator[Source]:
        """Yield the sources of a part of a value. ``cell``: cell whose line numbers are reported; 0 for other cells."""
        position = self._definitions.positions.get(part.node)
        line = get_position(part.node)[0] if position is None or position.cell == cell else 0
        match part.kind:
            case "constant":
                yield Source(kind="constant", name=part.name, line=line)
            case "asked":
                yield Source(kind="answer", name=ASK, line=line)
            case "call" | "error":
                yield Source(kind=part.kind, name=part.name, tool=self._context.tools[part.name], line=line)
            case "item":
                yield Source(kind="input", name=part.name, tool=self._context.inputs.get(part.name, ToolId("")))
            case "name":
                yield from self._find_name_sources(part.name, line)

    def _find_name_sources(self, name: str, line: int) -> Iterator[Source]:
        """Yield the sources of a name that the program does not define.

        A list whose items are inputs, such as ``earlier`` with ``earlier[0]`` and ``earlier[1]``, has all of them as
        sources.
        """
        inputs = self._context.inputs
        items = [item for item in inputs if item.startswith(f"{name}[")]
        if name in self._context.user_inputs:
            yield Source(kind="given", name=name)
        elif name in self._context.files:
            yield Source(kind="file", name=name)
        elif items:
            yield from (Source(kind="input", name=item, tool=inputs[item]) for item in items)
        elif name in inputs:
            yield Source(kind="input", name=name, tool=inputs[name])
        elif name not in _NEUTRAL_NAMES:
            yield Source(kind="unknown", name=name, line=line)

    def _mark_user_constant(self, source: Source) -> Source:
        """Mark a constant as the user's words if a message of the user contains it; return other sources unchanged."""
        if source.kind != "constant":
            return source
        text = normalize_value(parse_literal(source.name))
        is_user_text = bool(text) and any(occurs_in(text, message) for message in self._user_texts)
        return source.model_copy(update={"kind": "said"}) if is_user_text else source


def is_answer_from_calls(program: Program) -> bool:
    """Return whether a program's answer contains or depends on a tool's answer; False if it cannot be parsed."""
    try:
        source = parse_source(program.text)
        definitions = read_definitions([source.tree])
    except (SyntaxError, ValueError, RecursionError):
        return False
    for answer in find_possible_answers(source):
        site = definitions.find_position(answer)
        if site is not None:
            tracer = ValueTracer(definitions, program.tools, site)
            for expression in (answer, *site.tests, *site.iterables):
                tracer.trace(expression)
            if any(part.kind == "call" for part in tracer.parts):
                return True
    return False


def find_user_answered_parameters(program: Program) -> set[tuple[str, str]]:
    """Return the functions and parameters whose values depend on the user's answers to the program's questions."""
    sliced = SlicedProgram([program.text], SliceContext(program.tools, program.arguments))
    return {(name, parameter) for name, parameter, source in sliced.find_argument_sources() if source.kind == "answer"}


def describe_slice(value_slice: Slice) -> str:
    """Describe where a value comes from, for a user who does not see the program.

    The description names the sources, without line numbers, and the conditions as code. Names and conditions are
    cleaned and shortened. Nothing in it comes from a tool's response, which could contain text meant to mislead.
    """
    source_texts = [
        _describe_source(source)
        for source in value_slice.sources
        if value_slice.is_literal or source.name not in _TRIVIAL_CONSTANTS
    ]
    described_sources = _format_list(list(dict.fromkeys(source_texts))) or "what is fixed in the program"
    conditions = _format_list([f"`{clean_text(condition, 80)}`" for condition in value_slice.conditions])
    return f"{'' if value_slice.is_literal else 'from '}{described_sources}{', only where ' if conditions else ''}{conditions}"


def _format_list(texts: Sequence[str]) -> str:
    """Join the first texts with semicolons and count the rest."""
    more = f" and {len(texts) - _MAX_LISTED} more" if len(texts) > _MAX_LISTED else ""
    return "; ".join(texts[:_MAX_LISTED]) + more


def _describe_source(source: Source) -> str:
    """Describe one source."""
    name = clean_text(source.name, 60)
    match source.kind:
        case "call":
            return f"what {quote_text(build_title_from_identifier(name))} answered"
        case "error":
            return f"what an error of {quote_text(build_title_from_identifier(name))} said"
        case "input" if name == "today":
            return "today's date"
        case "input" if source.tool:
            return f"what {quote_text(build_title_from_identifier(source.tool.rpartition('/')[2]))} answered earlier"
        case "input":
            return f"{name}, found earlier"
        case "file":
            return f"your file {name}"
        case "given":
            return f"your value of {name}"
        case "said":
            return f"your words {name}"
        case "answer":
            return "what you answered"
        case "constant":
            return f"{name}, fixed in the program"
        case "unknown":
            return f"{name}, of which nothing is known"


def _pair_with_parameters(call: SourceCall, parameter_names: Mapping[str, str]) -> list[tuple[str, SourceArgument]]:
    """Return the arguments of a call, each with the tool's parameter.

    An unpacked mapping may contain any parameter that is not passed by name, so it is returned for each of them.
    """
    by_name = {argument.name: argument for argument in call.arguments if argument.name}
    unpacked = [argument for argument in call.arguments if not argument.name]
    pairs = [(parameter_names.get(name, name), argument) for name, argument in by_name.items()]
    unnamed_parameters = [tool for name, tool in parameter_names.items() if name not in by_name]
    return pairs + [(parameter, argument) for argument in unpacked for parameter in unnamed_parameters]


def _clean_expression(expression: str) -> str:
    """Return an expression cleaned and shortened for display."""
    return clean_text(expression, _MAX_EXPRESSION)
