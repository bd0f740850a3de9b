"""What the values of a program's calls are made of: the backward slice of each argument, as data and as a sentence for a person.

A slice stops at calls of tools: what went into a call is not what it answered. It is the same for every time that a call is made.
"""

import ast
import builtins
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from agent.execution.user_values import plain, plain_value, stands
from agent.programs.definition_reader import read_definitions
from agent.programs.definitions import Definition, Definitions, Place
from agent.programs.prelude import NAMES
from agent.programs.protocol import ASK
from agent.programs.stops import FILL, LOOK, NAMED
from agent.text import clean
from domain.slice import Slice, Source, SourceKind
from domain.tool import ToolId

_KNOWN = frozenset(dir(builtins)) | {"ToolError", "asyncio", LOOK, FILL, NAMED, *NAMES}
"""Names that hold no value of anybody's."""
_EXPRESSION = 160
"""Characters of an expression that are shown."""
_SHOWN = 6
"""Sources and conditions that a sentence names."""
_PLAIN = ("0", "1", "2")
"""Constants that say nothing beside other sources: where counting begins, and by what it goes on."""
_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Setting:
    """What the names of a program stand for. ``tools``: its functions. ``arguments``: by function, its parameters' names to those of the tool.

    ``said``: what the user said. ``inputs``: names that hold values before it runs, each with the tool that it came from; empty: from none.
    ``own``: those to which the user gave their values.
    """

    tools: Mapping[str, ToolId]
    arguments: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    said: Sequence[str] = ()
    inputs: Mapping[str, ToolId] = field(default_factory=lambda: {"today": ToolId("")})
    own: Collection[str] = ()


class SlicedProgram:
    """The cells of a program that are run in one session, the latest one last: that one is run. ``back``: 0, or how many cells before it the text of a call is."""

    def __init__(self, cells: Sequence[str], setting: Setting) -> None:
        """Cells are texts that parse."""
        modules = [ast.parse(text) for text in cells]
        self._setting = setting
        self._last = len(modules) - 1
        self._found = read_definitions(modules)
        self._said = [plain(text) for text in setting.said]
        self._calls = [_calls(text, module) for text, module in zip(cells, modules, strict=True)]

    def slices(self, function: str, start: int, end: int, back: int = 0) -> tuple[Slice, ...]:
        """Of the arguments of the call that stands there, in UTF-8 bytes; empty where none does."""
        call = self._call(function, start, end, back)
        if call is None:
            return ()
        names = self._setting.arguments.get(function, {})
        return tuple(self._slice(parameter, value, call) for parameter, value in _arguments(call, names))

    def in_loop(self, function: str, start: int, end: int, back: int = 0) -> bool:
        """Whether the call that stands there may be made more than once."""
        call = self._call(function, start, end, back)
        return call is not None and any(place.loops for place in self._found.deciding(self._found.places[call]))

    def _call(self, function: str, start: int, end: int, back: int) -> ast.Call | None:
        """The call at a place; where the place is not exact, of those of that function the smallest one that begins or ends there, else the
        smallest around it.
        """
        if back > self._last:
            return None
        calls = self._calls[self._last - back]
        named = [span for span, call in calls.items() if isinstance(call.func, ast.Name) and call.func.id == function]
        near = [span for span in named if span[0] == start or span[1] == end]
        near = near or [span for span in named if span[0] <= start and end <= span[1]]
        return calls.get((start, end)) or (calls[min(near, key=lambda span: span[1] - span[0])] if near else None)

    def _slice(self, parameter: str, value: ast.expr, call: ast.Call) -> Slice:
        site = self._found.places[call]
        gathered = _Gathering(self._found, self._setting, site, site.cell)
        gathered.take(value)
        conditions = [*(test for place in self._found.deciding(site) for test in place.tests), *gathered.conditions]
        sources = tuple(self._heard(one) for one in gathered.sources)
        told = Slice(
            parameter=parameter,
            expression=_text(value),
            sources=sources,
            conditions=tuple(dict.fromkeys(_text(test) for test in conditions)),
            lines=tuple(sorted({call.lineno, *gathered.lines})),
        )
        return told.model_copy(update={"words": in_words(told)})

    def _heard(self, source: Source) -> Source:
        """A constant is its user's where it stands in what they said."""
        if source.kind != "constant":
            return source
        text = plain_value(ast.literal_eval(source.name))
        said = bool(text) and any(stands(text, message) for message in self._said)
        return source.model_copy(update={"kind": "said"}) if said else source


class _Gathering:
    """Goes back from an expression to what it is made of; each part is looked at once."""

    def __init__(self, found: Definitions, setting: Setting, site: Place, cell: int) -> None:
        self._found = found
        self._setting = setting
        self._site = site
        self._cell = cell
        self._sources: dict[Source, None] = {}
        self._seen = set[ast.AST]()
        self._left: list[ast.AST] = []
        self.conditions: list[ast.expr] = []
        self.lines: set[int] = set()

    @property
    def sources(self) -> list[Source]:
        """What came together, in the order of the text."""
        return sorted(self._sources, key=lambda one: (one.line, one.name))

    def take(self, whole: ast.expr) -> None:
        """Gather from one expression."""
        self._left.append(whole)
        while self._left:
            part = self._left.pop()
            if part not in self._seen:
                self._seen.add(part)
                self._part(part)

    def _part(self, part: ast.AST) -> None:
        match part:
            case ast.Name(ctx=ast.Load()):
                self._name(part)
            case ast.Call():
                self._call(part)
            case ast.Constant():
                self._constant(part)
            case ast.Subscript(value=ast.Name() as held, slice=ast.Constant(value=int() as at)) if self._is_list(held):
                self._source("input", None, f"{held.id}[{at}]", self._setting.inputs.get(f"{held.id}[{at}]"))
            case ast.Subscript():
                self._left += [part.value] if _selects(part.slice) else [part.value, part.slice]
            case ast.FormattedValue():
                self._left.append(part.value)
            case ast.IfExp():
                self.conditions.append(part.test)
                self._left += [part.test, part.body, part.orelse]
            case ast.Lambda():
                self._left.append(part.body)
            case ast.comprehension():
                self.conditions += part.ifs
                self._left += [part.iter, *part.ifs]
            case _:
                self._left += ast.iter_child_nodes(part)

    def _call(self, call: ast.Call) -> None:
        """A tool's answer is what it is; a function of the program is what it returns; everything else is made of what is given to it."""
        values = [*call.args, *(one.value for one in call.keywords)]
        match call.func:
            case ast.Name() as name if self._is_tool(name):
                self._name(name)
            case ast.Name() as name if self._found.function(name):
                self._name(name)
            case ast.Name(id=name) if name == ASK:
                self._source("answer", call, name)
                self._left += values
            case ast.Attribute(value=held, attr="get"):
                self._left += [held, *(value for number, value in enumerate(values) if number or not _selects(value))]
            case ast.Attribute(value=held):
                self._left += [held, *values]
            case other:
                self._left += [other, *values]

    def _is_list(self, name: ast.Name) -> bool:
        """Whether a name holds several values that each came from a tool: those inputs are named ``earlier[0]``, ``earlier[1]`` …"""
        return f"{name.id}[0]" in self._setting.inputs and not self._found.known(self._found.names[name])

    def _is_tool(self, name: ast.Name) -> bool:
        return name.id in self._setting.tools and not self._found.known(self._found.names[name])

    def _name(self, name: ast.Name) -> None:
        inputs = self._setting.inputs
        if self._found.known(self._found.names[name]):
            for definition in self._found.reaching(name, self._site):
                self._definition(definition)
        elif name.id in self._setting.tools:
            self._source("call", name, name.id, self._setting.tools[name.id])
        elif self._is_list(name):
            for each in [one for one in inputs if one.startswith(f"{name.id}[")]:
                self._source("input", None, each, inputs[each])
        elif name.id in self._setting.own:
            self._source("given", None, name.id)
        elif name.id in inputs:
            self._source("input", None, name.id, inputs[name.id])
        elif name.id not in _KNOWN:
            self._source("unknown", name, name.id)

    def _definition(self, definition: Definition) -> None:
        place = definition.place
        if place.cell == self._cell:
            self.lines |= {getattr(part, "lineno", 0) for part in definition.made_of} - {0}
        if definition.raised:
            self._errors(definition)
            return
        self._left += definition.made_of
        tests = [one for one in place.tests if one not in self._site.tests]
        self.conditions += tests
        self._left += [*tests, *(one for one in place.rounds if one not in self._site.rounds)]

    def _errors(self, definition: Definition) -> None:
        """What an error says was said by one of the tools that are called there."""
        left, seen = list(definition.made_of), set[ast.AST]()
        while left:
            part = left.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, ast.Name) and part in self._found.names:
                if self._is_tool(part):
                    self._source("error", part, part.id, self._setting.tools[part.id])
                elif function := self._found.function(part):
                    left.append(function)
            left += ast.iter_child_nodes(part)

    def _constant(self, constant: ast.Constant) -> None:
        if isinstance(constant.value, (str, int, float)) and any(char.isalnum() for char in str(constant.value)):
            self._source("constant", constant, repr(constant.value))

    def _source(self, kind: SourceKind, at: ast.expr | None, name: str, tool: ToolId | None = None) -> None:
        line = at.lineno if at is not None and self._is_here(at) else 0
        self._sources[Source(kind=kind, name=name, tool=tool or ToolId(""), line=line)] = None

    def _is_here(self, at: ast.expr) -> bool:
        place = self._found.places.get(at)
        return place is None or place.cell == self._cell


def in_words(told: Slice) -> str:
    """A slice as a sentence without its end, for a person. Texts of responses are never in it, those of the program are cleaned."""
    made = [_source_words(one) for one in told.sources if told.literal or one.name not in _PLAIN]
    parts = [f"`{clean(told.expression, _EXPRESSION)}` in line {told.lines[-1] if told.lines else 0} of the program"]
    if told.literal and made:
        parts = [made[0]]
    elif made:
        more = f" and {len(made) - _SHOWN} more" if len(made) > _SHOWN else ""
        parts.append(f"made of {'; '.join(made[:_SHOWN])}{more}")
    if told.conditions:
        more = f" and {len(told.conditions) - _SHOWN} more" if len(told.conditions) > _SHOWN else ""
        parts.append(f"depending on {'; '.join(f'`{clean(one, 80)}`' for one in told.conditions[:_SHOWN])}{more}")
    return ", ".join(parts)


def _source_words(source: Source) -> str:
    name = clean(source.name, 60)
    line = f" (line {source.line})" if source.line else ""
    match source.kind:
        case "call":
            return f"what {name} answered{line}"
        case "error":
            return f"what an error of {name} said{line}"
        case "input":
            return "today's date" if name == "today" else f"{name}, found earlier"
        case "given":
            return f"your value of {name}"
        case "said":
            return f"your words {name}"
        case "answer":
            return f"what you answered{line}"
        case "constant":
            return f"{name}, written by the program's author"
        case "unknown":
            return f"{name}, of which nothing is known"


def _calls(text: str, module: ast.Module) -> dict[_Span, ast.Call]:
    """The calls of a cell by their places in UTF-8 bytes."""
    starts = [0]
    for line in text.encode().split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    found: dict[_Span, ast.Call] = {}
    for part in ast.walk(module):
        if isinstance(part, ast.Call):
            end_line, end_offset = part.end_lineno or part.lineno, part.end_col_offset or part.col_offset
            found[starts[part.lineno - 1] + part.col_offset, starts[end_line - 1] + end_offset] = part
    return found


def _arguments(call: ast.Call, names: Mapping[str, str]) -> list[tuple[str, ast.expr]]:
    """The arguments by the names of the tool's parameters; what is unpacked stands for all that are not named."""
    named = {one.arg: one.value for one in call.keywords if one.arg}
    unpacked = [one.value for one in call.keywords if not one.arg]
    told = [(names.get(name, name), value) for name, value in named.items()]
    rest = [tool for name, tool in names.items() if name not in named]
    return told + [(parameter, value) for value in unpacked for parameter in rest]


def _selects(index: ast.expr) -> bool:
    """Whether an index is fixed, so that nothing comes in by it."""
    match index:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()):
            return True
        case ast.Slice():
            return all(one is None or _selects(one) for one in (index.lower, index.upper, index.step))
        case _:
            return False


def _text(expression: ast.expr) -> str:
    return clean(ast.unparse(expression), 2 * _EXPRESSION)
