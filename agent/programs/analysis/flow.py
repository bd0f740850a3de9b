"""Data dependencies between a program's calls and its answer, read off the text whatever the calls answered."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.programs.analysis.data_flow import Gathering, Place
from agent.programs.analysis.definition_reader import read_definitions
from domain.program import Program
from domain.source_text import Call, Expression, parse_sources

Site = tuple[int, int]
"""Call site: number of the program, and start of the call in its text in UTF-8 bytes."""

_SITE = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")


@dataclass(frozen=True, slots=True)
class Feeds:
    """Data dependencies of the calls of a program."""

    pairs: frozenset[tuple[Site, Site]] = frozenset()
    """A call, and another one whose arguments use its result."""
    ends: frozenset[Site] = frozenset()
    """Calls whose results are in the answer or are used nowhere; the latter were made for their effect."""
    answer: frozenset[Site] = frozenset()
    """Calls whose results are in the answer."""


def site_of(told: str) -> Site | None:
    """Return the call site in a key such as ``2:57#0``; None if it is of no program.

    In ``3:57~1#0`` a function of the cell before (``~1``) makes the call.
    """
    found = _SITE.match(told)
    return (int(found[1]) - int(found[3] or 0), int(found[2])) if found else None


def feeds(cells: Mapping[int, Program]) -> Feeds:
    """Return the data dependencies of a program's cells, given by their numbers.

    Names of one cell are known in the next. A text that cannot be read has no dependencies.
    """
    try:
        flow = Flow(cells)
    except (SyntaxError, ValueError, RecursionError):
        return Feeds()
    pairs = {(source, site) for site in flow.calls for source in flow.sites_in(flow.into(site)) if source != site}
    answer = flow.sites_in(flow.answer)
    used = {source for source, _ in pairs} | answer
    return Feeds(frozenset(pairs), frozenset(answer | (flow.calls.keys() - used)), frozenset(answer))


class Flow:
    """Data flow into the calls of a program's cells, and into its answer.

    ``calls``: the calls of tools by their sites, in the order of the text.
    """

    def __init__(self, cells: Mapping[int, Program]) -> None:
        """Read the cells.

        Raises:
            SyntaxError: a text cannot be parsed.
            ValueError: a text cannot be parsed, for example because it contains null bytes.
            RecursionError: a text is nested too deeply.
        """
        numbers = sorted(cells)
        sources = parse_sources([cells[number].text for number in numbers])
        self._found = read_definitions([one.tree for one in sources])
        self.tools = {name: tool for one in cells.values() for name, tool in one.tools.items()}
        self._answer = sources[-1].last_value if sources else None
        self.calls: dict[Site, Call] = {
            (number, call.start): call
            for number, source in zip(numbers, sources, strict=True)
            for call in source.calls
            if call.name in self.tools and self._found.is_given(call.node.func)
        }
        self._sites: dict[object, Site] = {call.node: site for site, call in self.calls.items()}

    def into(self, site: Site) -> Gathering:
        """Trace what all arguments of a call are made of."""
        call = self.calls[site]
        return self.of([*call.positional, *(one.value for one in call.arguments)], self.place(site))

    def place(self, site: Site) -> Place:
        """Return the statement that a call is in."""
        return self._found.places[self.calls[site].node]

    def is_repeated(self, site: Site) -> bool:
        """Return whether a call is in a loop, so that it is made more than once, or never."""
        return any(place.loops or place.rounds for place in self._found.deciding(self.place(site)))

    def is_conditional(self, site: Site) -> bool:
        """Return whether a call is made only under a condition."""
        return any(place.tests for place in self._found.deciding(self.place(site)))

    def of(self, values: Iterable[Expression], place: Place) -> Gathering:
        """Trace what some values, used at one place, are made of."""
        gathered = Gathering(self._found, self.tools, place, rounds=False)
        for value in values:
            gathered.take(value.node)
        return gathered

    @property
    def answer(self) -> Gathering:
        """Trace of what the program's last expression is made of."""
        place = self._found.place_within(self._answer.node) if self._answer is not None else None
        return self.of([self._answer] if self._answer is not None and place else [], place or Place(0, 0))

    def sites_in(self, gathered: Gathering) -> set[Site]:
        """Return the calls whose answers are among the traced parts."""
        return {self._sites[part.node] for part in gathered.parts if part.kind == "call" and part.node in self._sites}
