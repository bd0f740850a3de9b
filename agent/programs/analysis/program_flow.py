"""Static data dependencies between the calls of a program and its answer."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.programs.analysis.data_flow import StatementPosition, ValueTracer
from agent.programs.analysis.definition_reader import read_definitions
from domain.program import Program
from domain.source_text import SourceCall, SourceExpression, parse_sources

Site = tuple[int, int]
"""Call site: number of the program, and start of the call in its text in UTF-8 bytes."""

_SITE_KEY = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")


@dataclass(frozen=True, slots=True)
class CallDependencies:
    """Data dependencies of the calls of a program."""

    pairs: frozenset[tuple[Site, Site]] = frozenset()
    """Pairs of a call and another call whose arguments use its result."""
    end_calls: frozenset[Site] = frozenset()
    """Calls whose results go into the answer, or are not used and were made for their side effect."""
    answer_calls: frozenset[Site] = frozenset()
    """Calls whose results go into the answer."""


def parse_site(text: str) -> Site | None:
    """Parse the call site in a key such as ``2:57#0`` (cell 2, byte 57); None if no program made the call.

    ``3:57~1#0`` is a call that cell 3 makes in a function defined one cell before it (``~1``), so its site is in cell
    2.
    """
    match = _SITE_KEY.match(text)
    return (int(match[1]) - int(match[3] or 0), int(match[2])) if match else None


def find_call_dependencies(cells: Mapping[int, Program]) -> CallDependencies:
    """Return the data dependencies of a program's cells, which are given by their numbers.

    Later cells may use names of earlier ones. A program that cannot be parsed has no dependencies.
    """
    try:
        program_flow = ProgramFlow(cells)
    except (SyntaxError, ValueError, RecursionError):
        return CallDependencies()
    pairs = {
        (source, site)
        for site in program_flow.calls
        for source in program_flow.find_sites(program_flow.trace_arguments(site))
        if source != site
    }
    answer = program_flow.find_sites(program_flow.answer_trace)
    used = {source for source, _ in pairs} | answer
    return CallDependencies(frozenset(pairs), frozenset(answer | (program_flow.calls.keys() - used)), frozenset(answer))


class ProgramFlow:
    """Data flow into the calls of a program's cells, and into its answer."""

    def __init__(self, cells: Mapping[int, Program]) -> None:
        """Read the cells.

        Raises:
            SyntaxError: a text cannot be parsed.
            ValueError: a text cannot be parsed, for example because it contains null bytes.
            RecursionError: a text is nested too deeply.
        """
        numbers = sorted(cells)
        sources = parse_sources([cells[number].text for number in numbers])
        self._definitions = read_definitions([source.tree for source in sources])
        self.tools = {name: tool for cell in cells.values() for name, tool in cell.tools.items()}
        self._answer = sources[-1].last_value if sources else None
        self.calls: dict[Site, SourceCall] = {
            (number, call.start): call
            for number, source in zip(numbers, sources, strict=True)
            for call in source.calls
            if call.name in self.tools and self._definitions.is_external_name(call.node.func)
        }
        """Calls of tools by their sites, in the order of the text."""
        self._site_of_node: dict[object, Site] = {call.node: site for site, call in self.calls.items()}

    def trace_arguments(self, site: Site) -> ValueTracer:
        """Trace the values of all arguments of a call."""
        call = self.calls[site]
        return self.trace_values(
            [*call.positional, *(argument.value for argument in call.arguments)], self.find_position(site)
        )

    def find_position(self, site: Site) -> StatementPosition:
        """Return the statement that a call is in."""
        return self._definitions.positions[self.calls[site].node]

    def is_repeated(self, site: Site) -> bool:
        """Return whether a call is in a loop or a comprehension, so that it may run several times or never."""
        return any(
            position.loops or position.iterables
            for position in self._definitions.find_call_positions(self.find_position(site))
        )

    def is_conditional(self, site: Site) -> bool:
        """Return whether a call is made only under a condition."""
        return any(position.tests for position in self._definitions.find_call_positions(self.find_position(site)))

    def trace_values(self, values: Iterable[SourceExpression], position: StatementPosition) -> ValueTracer:
        """Trace some values that are used at one position."""
        tracer = ValueTracer(self._definitions, self.tools, position, include_iterables=False)
        for value in values:
            tracer.trace(value.node)
        return tracer

    @property
    def answer_trace(self) -> ValueTracer:
        """Trace of the program's last expression."""
        position = self._definitions.find_position(self._answer.node) if self._answer is not None else None
        return self.trace_values(
            [self._answer] if self._answer is not None and position else [], position or StatementPosition(0, 0)
        )

    def find_sites(self, tracer: ValueTracer) -> set[Site]:
        """Return the calls whose answers are among the traced parts."""
        return {
            self._site_of_node[part.node]
            for part in tracer.parts
            if part.kind == "call" and part.node in self._site_of_node
        }
