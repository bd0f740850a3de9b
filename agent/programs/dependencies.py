"""Which call of a program feeds which other, and which feed its answer: read off its text, whatever its calls answered."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agent.programs.definition_reader import read_definitions
from agent.programs.definitions import Place
from agent.programs.gathering import Gathering
from agent.programs.reading import calls
from domain.program import Program
from domain.python_source import parse_module

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
    """What goes into the calls of a program's cells, and into its answer. ``calls`` of tools, in the order of the text, and their ``sites``."""

    def __init__(self, cells: Mapping[int, Program]) -> None:
        """``SyntaxError`` and the like where a text cannot be read."""
        numbers = sorted(cells)
        trees = [parse_module(cells[number].text) for number in numbers]
        self.found = read_definitions(trees)
        self.calls: dict[Site, ast.Call] = {}
        self.tools = {name: tool for one in cells.values() for name, tool in one.tools.items()}
        self._answer = trees[-1].body[-1:] if trees else []
        for number, tree in zip(numbers, trees, strict=True):
            starts = line_starts(cells[number].text)
            for call in calls(tree):
                if self._calls_tool(call):
                    self.calls[number, starts[call.lineno - 1] + call.col_offset] = call
        self.sites = {call: site for site, call in self.calls.items()}

    def _calls_tool(self, call: ast.Call) -> bool:
        name = call.func
        return (
            isinstance(name, ast.Name)
            and name.id in self.tools
            and name in self.found.names
            and not self.found.known(self.found.names[name])
        )

    def into(self, site: Site) -> Gathering:
        """What all arguments of a call are made of."""
        call = self.calls[site]
        return self.of([*call.args, *(one.value for one in call.keywords)], self.found.places[call])

    def of(self, values: Iterable[ast.expr], place: Place) -> Gathering:
        """What some values are made of that are used at one place."""
        gathered = Gathering(self.found, self.tools, place, rounds=False)
        for value in values:
            gathered.take(value)
        return gathered

    @property
    def answer(self) -> Gathering:
        """What the program's last expression is made of."""
        value = self._answer[0].value if self._answer and isinstance(self._answer[0], ast.Expr) else None
        inner = ast.walk(value) if value is not None else ()
        place = next((self.found.places[one] for one in inner if one in self.found.places), None)
        return self.of([value] if value is not None and place is not None else [], place or Place(0, 0))

    def sites_in(self, gathered: Gathering) -> set[Site]:
        """The calls whose answers are in what was gathered."""
        made = (at for at, kind in gathered.parts.items() if kind == "call")
        return {self.sites[at] for at in made if isinstance(at, ast.Call) and at in self.sites}


def line_starts(text: str) -> list[int]:
    """Where each line begins, in UTF-8 bytes; lines as the parser counts them."""
    starts, at = [0], 0
    for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text):
        at += len(line.encode())
        starts.append(at)
    return starts
