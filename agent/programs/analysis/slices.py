"""Backward slices of the arguments of a program's calls, as data and in words for a person.

A slice stops at calls of tools: what went into a call is not what it answered. It is the same every time a call is
made.
"""

import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from agent.execution.user_values import plain, plain_value, stands
from agent.execution.wording import quoted, titled
from agent.programs.analysis.constants import possible_answers
from agent.programs.analysis.control_flow import ANYTHING, ControlFlow
from agent.programs.analysis.data_flow import Gathering, Part, Scope
from agent.programs.analysis.definition_reader import read_definitions
from agent.programs.prelude import NAMES
from agent.programs.protocol import ASK
from agent.programs.stops import FILL, LOOK, NAMED
from agent.text import clean
from domain.program import Program
from domain.python_source import parse_literal, place_of, unparse
from domain.slice import Slice, Source
from domain.source_text import Argument, Call, parse_source, parse_sources
from domain.tool import ToolId

_KNOWN = frozenset(dir(builtins)) | {"ToolError", "asyncio", LOOK, FILL, NAMED, *NAMES}
"""Names that hold no value of the user or of a tool."""
_EXPRESSION = 320
"""Characters of an expression that are kept."""
_SHOWN = 6
"""Sources and conditions that a sentence names at most."""
_PLAIN = ("0", "1", "2")
"""Constants that are not worth mentioning beside other sources: where counting begins, and its step."""
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Setting:
    """Meaning of the names that a program uses."""

    tools: Mapping[str, ToolId]
    """Ids of the tools, by function."""
    arguments: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    """By function, the names of its arguments in the program mapped to the tool's parameters."""
    said: Sequence[str] = ()
    """Messages of the user."""
    inputs: Mapping[str, ToolId] = field(default_factory=lambda: {"today": ToolId("")})
    """Names that have values before the program runs, each with the tool that it came from; empty if from none."""
    own: Collection[str] = ()
    """Names to which the user gave the values."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names that hold files given by the user, each with the user's name for it."""


class SlicedProgram:
    """The cells of a program in one session; the last one is the one that runs.

    A call is given by its function, its place in UTF-8 bytes, and ``back``: the number of cells between its text and
    the last.
    """

    def __init__(self, cells: Sequence[str], setting: Setting) -> None:
        """Read the cells, which must parse."""
        sources = parse_sources(cells)
        self._setting = setting
        self._last = len(sources) - 1
        self._modules = [source.tree for source in sources]
        self._found = read_definitions(self._modules)
        self._said = [plain(text) for text in setting.said]
        self._calls: list[dict[_Span, Call]] = [
            {(call.start, call.end): call for call in source.calls} for source in sources
        ]

    def slices(self, function: str, start: int, end: int, back: int = 0) -> tuple[Slice, ...]:
        """Return the slices of a call's arguments; empty if no call is at that place."""
        call = self._call(function, start, end, back)
        if call is None:
            return ()
        names = self._setting.arguments.get(function, {})
        return tuple(self._slice(parameter, one, call) for parameter, one in _arguments(call, names))

    def sources(self) -> Iterator[tuple[str, str, Source]]:
        """Yield the distinct sources of the arguments of all tool calls in the last cell.

        Each comes with the function and the parameter that it goes into.
        """
        calls = self._calls[self._last]
        gathered: dict[tuple[str, str, Scope], Gathering] = {}
        for span in sorted(calls, reverse=True):  # the last one first: what may be done before it is done before all
            call = calls[span]
            name, site = call.name, self._found.places[call.node]
            if name in self._setting.tools:
                for parameter, given in _arguments(call, self._setting.arguments.get(name, {})):
                    made = Gathering(self._found, self._setting.tools, site)
                    gathered.setdefault((name, parameter, site.function), made).take(given.value.node, site)
        for (name, parameter, _), made in gathered.items():
            found = (one for part in made.parts for one in self._sources(part, self._last))
            yield from ((name, parameter, source) for source in dict.fromkeys(found))

    def control(self, function: str, start: int, end: int, back: int = 0) -> Slice:
        """Return what decides whether, how often and with which of its values a call is made.

        If no call is at exactly that place, anything may decide.
        """
        span = start, end
        call = self._calls[self._last - back].get(span) if back <= self._last else None
        if call is None:
            return Slice(parameter="", expression="", sources=(Source(kind="unknown", name=ANYTHING),))
        node, site = call.node, self._found.places[call.node]
        gathered = Gathering(self._found, self._setting.tools, site, control=self._control_flow)
        for part in (*self._control_flow.deciding(node), node.func, *node.args, *(one.value for one in node.keywords)):
            gathered.take(part)
        made = dict.fromkeys(one for part in gathered.parts for one in self._sources(part, site.cell))
        return Slice(parameter="", expression=function, sources=tuple(one for one in made if one.kind != "constant"))

    @cached_property
    def _control_flow(self) -> ControlFlow:
        return ControlFlow(self._modules, self._setting.tools, self._found.sharing)

    def in_loop(self, function: str, start: int, end: int, back: int = 0) -> bool:
        """Return whether the call may be made more than once."""
        call = self._call(function, start, end, back)
        return call is not None and any(place.loops for place in self._found.deciding(self._found.places[call.node]))

    def _call(self, function: str, start: int, end: int, back: int) -> Call | None:
        """Return the call at a place.

        If the place is not exact: the smallest call of that function that begins or ends there, else the smallest
        around it.
        """
        if back > self._last:
            return None
        calls = self._calls[self._last - back]
        named = [span for span, call in calls.items() if call.name == function]
        near = [span for span in named if span[0] == start or span[1] == end]
        near = near or [span for span in named if span[0] <= start and end <= span[1]]
        return calls.get((start, end)) or (calls[min(near, key=lambda span: span[1] - span[0])] if near else None)

    def _slice(self, parameter: str, argument: Argument, call: Call) -> Slice:
        """Return the slice of one argument, with the conditions of the call."""
        site = self._found.places[call.node]
        gathered = Gathering(self._found, self._setting.tools, site)
        gathered.take(argument.value.node)
        conditions = [*(test for place in self._found.deciding(site) for test in place.tests), *gathered.conditions]
        made = dict.fromkeys(one for part in gathered.parts for one in self._sources(part, site.cell))
        sources = sorted(map(self._heard, made), key=lambda one: (one.line, one.name))
        told = Slice(
            parameter=parameter,
            expression=_text(argument.value.code),
            sources=tuple(sources),
            conditions=tuple(dict.fromkeys(_text(unparse(test)) for test in conditions)),
            lines=tuple(sorted({call.line, *gathered.lines})),
        )
        return told.model_copy(update={"words": in_words(told)})

    def _sources(self, part: Part, cell: int) -> Iterator[Source]:
        """Yield the sources that a part of a value stands for."""
        place = self._found.places.get(part.node)
        line = place_of(part.node)[0] if place is None or place.cell == cell else 0
        match part.kind:
            case "constant":
                yield Source(kind="constant", name=part.name, line=line)
            case "asked":
                yield Source(kind="answer", name=ASK, line=line)
            case "call" | "error":
                yield Source(kind=part.kind, name=part.name, tool=self._setting.tools[part.name], line=line)
            case "item":
                yield Source(kind="input", name=part.name, tool=self._setting.inputs.get(part.name, ToolId("")))
            case "name":
                yield from self._of_name(part.name, line)

    def _of_name(self, name: str, line: int) -> Iterator[Source]:
        """Yield the sources of a name that the program itself gives no value.

        The name of a list stands for all of its items, which are the inputs ``earlier[0]``, ``earlier[1]`` and so on.
        """
        inputs = self._setting.inputs
        items = [one for one in inputs if one.startswith(f"{name}[")]
        if name in self._setting.own:
            yield Source(kind="given", name=name)
        elif name in self._setting.files:
            yield Source(kind="file", name=name)
        elif items:
            yield from (Source(kind="input", name=one, tool=inputs[one]) for one in items)
        elif name in inputs:
            yield Source(kind="input", name=name, tool=inputs[name])
        elif name not in _KNOWN:
            yield Source(kind="unknown", name=name, line=line)

    def _heard(self, source: Source) -> Source:
        """Return a constant as the user's if it is in what they said; any other source unchanged."""
        if source.kind != "constant":
            return source
        text = plain_value(parse_literal(source.name))
        said = bool(text) and any(stands(text, message) for message in self._said)
        return source.model_copy(update={"kind": "said"}) if said else source


def answer_rests_on_calls(program: Program) -> bool:
    """Return whether a tool's answer goes into a program's answer or decides it; False if the text cannot be read."""
    try:
        source = parse_source(program.text)
        found = read_definitions([source.tree])
    except (SyntaxError, ValueError, RecursionError):
        return False
    for answer in possible_answers(source):
        site = found.place_within(answer)
        if site is not None:
            gathered = Gathering(found, program.tools, site)
            for expression in (answer, *site.tests, *site.rounds):
                gathered.take(expression)
            if any(part.kind == "call" for part in gathered.parts):
                return True
    return False


def taking_answers(program: Program) -> set[tuple[str, str]]:
    """Return the parameters whose values depend on what a user answers to the program, each with its function."""
    sliced = SlicedProgram([program.text], Setting(program.tools, program.arguments))
    return {(name, parameter) for name, parameter, source in sliced.sources() if source.kind == "answer"}


def in_words(told: Slice) -> str:
    """Describe where a value comes from, for a person who sees no program.

    The sentence has no lines or expressions, and never a text from a response; texts of the program are cleaned.
    """
    made = [_source_words(one) for one in told.sources if told.literal or one.name not in _PLAIN]
    words = _listed(list(dict.fromkeys(made))) or "what is fixed in the program"
    conditions = _listed([f"`{clean(one, 80)}`" for one in told.conditions])
    return f"{'' if told.literal else 'from '}{words}{', only where ' if conditions else ''}{conditions}"


def _listed(texts: Sequence[str]) -> str:
    """Join some texts; the rest is counted."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return "; ".join(texts[:_SHOWN]) + more


def _source_words(source: Source) -> str:
    """Describe one source."""
    name = clean(source.name, 60)
    match source.kind:
        case "call":
            return f"what {quoted(titled(name))} answered"
        case "error":
            return f"what an error of {quoted(titled(name))} said"
        case "input" if name == "today":
            return "today's date"
        case "input" if source.tool:
            return f"what {quoted(titled(source.tool.rpartition('/')[2]))} answered earlier"
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


def _arguments(call: Call, names: Mapping[str, str]) -> list[tuple[str, Argument]]:
    """Return the arguments by the tool's parameter names.

    An unpacked argument stands for all parameters that are not named.
    """
    named = {one.name: one for one in call.arguments if one.name}
    unpacked = [one for one in call.arguments if not one.name]
    told = [(names.get(name, name), one) for name, one in named.items()]
    rest = [tool for name, tool in names.items() if name not in named]
    return told + [(parameter, one) for one in unpacked for parameter in rest]


def _text(expression: str) -> str:
    """Return an expression cleaned and shortened for display."""
    return clean(expression, _EXPRESSION)
