"""Which call of a program feeds which other, and which feed its answer: read off its text, whatever its calls answered."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.programs.analysis.data_flow import Gathering, Place
from agent.programs.analysis.definition_reader import read_definitions
from domain.program import Program
from domain.source_text import Call, Expression, parse_sources

Site = tuple[int, int]
"""A call of a program: the program's number, and where the call begins in its text, in UTF-8 bytes."""

_SITE = re.compile(r"(\d+):(\d+)(?:~(\d+))?#")


@dataclass(frozen=True, slots=True)
class Feeds:
    """``pairs``: a call, and one whose arguments take values of its result. ``ends``: calls whose results are in the answer, and those
    whose results are used nowhere: they were made for what they do. ``answer``: the former of these alone.
    """

    pairs: frozenset[tuple[Site, Site]] = frozenset()
    ends: frozenset[Site] = frozenset()
    answer: frozenset[Site] = frozenset()


def site_of(told: str) -> Site | None:
    """A call's place out of ``2:57#0``, or ``3:57~1#0`` where a function of the cell before makes it; None where it is of no program."""
    found = _SITE.match(told)
    return (int(found[1]) - int(found[3] or 0), int(found[2])) if found else None


def feeds(cells: Mapping[int, Program]) -> Feeds:
    """What the cells of one program say, by their numbers, in order: names of one are known in the next. A text that cannot be read says nothing."""
    try:
        flow = Flow(cells)
    except (SyntaxError, ValueError, RecursionError):
        return Feeds()
    pairs = {(source, site) for site in flow.calls for source in flow.sites_in(flow.into(site)) if source != site}
    answer = flow.sites_in(flow.answer)
    used = {source for source, _ in pairs} | answer
    return Feeds(frozenset(pairs), frozenset(answer | (flow.calls.keys() - used)), frozenset(answer))


class Flow:
    """What goes into the calls of a program's cells, and into its answer. ``calls`` of tools, in the order of the text."""

    def __init__(self, cells: Mapping[int, Program]) -> None:
        """``SyntaxError`` and the like where a text cannot be read."""
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
        """What all arguments of a call are made of."""
        call = self.calls[site]
        return self.of([*call.positional, *(one.value for one in call.arguments)], self.place(site))

    def place(self, site: Site) -> Place:
        """The statement that a call stands in."""
        return self._found.places[self.calls[site].node]

    def is_repeated(self, site: Site) -> bool:
        """Whether a call is in a loop, so that it is made more than once, or never."""
        return any(place.loops or place.rounds for place in self._found.deciding(self.place(site)))

    def is_conditional(self, site: Site) -> bool:
        """Whether a call is made only where something is so."""
        return any(place.tests for place in self._found.deciding(self.place(site)))

    def of(self, values: Iterable[Expression], place: Place) -> Gathering:
        """What some values are made of that are used at one place."""
        gathered = Gathering(self._found, self.tools, place, rounds=False)
        for value in values:
            gathered.take(value.node)
        return gathered

    @property
    def answer(self) -> Gathering:
        """What the program's last expression is made of."""
        place = self._found.place_within(self._answer.node) if self._answer is not None else None
        return self.of([self._answer] if self._answer is not None and place else [], place or Place(0, 0))

    def sites_in(self, gathered: Gathering) -> set[Site]:
        """The calls whose answers are in what was gathered."""
        return {self._sites[part.node] for part in gathered.parts if part.kind == "call" and part.node in self._sites}
