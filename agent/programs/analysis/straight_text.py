"""A program seen as a sequence of calls: those that are made exactly once, whatever is answered.

It tells where their values come from, and what else the program does.
"""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from pydantic.types import JsonValue

from agent.programs.analysis.constants import NotConstantError, constant
from agent.programs.analysis.definition_reader import unpacked
from agent.programs.analysis.flow import Site
from domain.program import Program
from domain.python_source import bound_names
from domain.source_text import Expression, parse_source, parse_sources

Place = tuple[Site | int, str]
"""A call, or the number of an earlier result from 1, and a field of its answer.

The field is written ``items[0].lat``, or ``items[].lat`` for an item that the request names.
"""

_ONCE = ast.Expr | ast.Assign | ast.AnnAssign
_LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NOT_EACH_TIME = (*_LOOPS, ast.Lambda, ast.IfExp, ast.BoolOp, ast.NamedExpr)
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_STOPS = frozenset({"ask", "look"})
_LEAVES = ast.Raise | ast.Assert | ast.Return
_IN_PLACE = frozenset(
    ("add", "append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popitem", "popleft", "remove")
) | {"reverse", "setdefault", "sort", "update"}
"""Methods that change the object that they are called on."""
_MADE_HERE = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
_EARLIER = re.compile(r"earlier_(\d+)")
_NOTHING = ("None", "{}", "[]")
_MODULES = frozenset({"asyncio", "json"})
_MEANT = _MODULES | {"fill", "float"}
"""Names besides those of tools that calls and constants are written with."""


class StraightText:
    """The calls of a program in sequence.

    Only names that hold one value from beginning to end are followed. ``calls``: calls that are made exactly once, in
    order. ``others``: calls of tools that are not.
    """

    def __init__(self, cells: Mapping[int, Program], *, answered: bool = False) -> None:
        """Read all cells of a program.

        Args:
            cells: the programs, by number.
            answered: whether it has run, so that the caller can tell an answered value from a default that stands in for it.

        Raises:
            SyntaxError: a text cannot be parsed.
            ValueError: a text cannot be parsed, for example because it contains null bytes.
            RecursionError: a text is nested too deeply.
        """
        self._answered = answered
        self._cells = cells
        numbers = sorted(cells)
        self._sources = dict(zip(numbers, parse_sources([cells[one].text for one in numbers]), strict=True))
        self._held: dict[str, ast.expr] = {}
        self._sites: dict[ast.AST, Site] = {}
        self._stored = Counter[str]()
        self._open = set[ast.expr]()
        every: dict[ast.Call, Site] = {}
        for number, source in self._sources.items():
            tools = cells[number].tools
            self._stored += source.names_set + Counter(source.names_bound - source.names_set.keys())
            every |= {call: (number, source.span(call)[0]) for call in _calls(source.tree, tools)}
            for statement in (one for one in source.tree.body if isinstance(one, _ONCE)):
                self._assigned(statement)
                self._sites |= {call: every[call] for call in _calls(statement, tools, _NOT_EACH_TIME)}
        self.calls = {site: call for call, site in self._sites.items() if isinstance(call, ast.Call)}
        self.others = {site: _name(call) for call, site in every.items() if call not in self._sites}

    def _assigned(self, statement: ast.stmt) -> None:
        """Record the values that a statement assigns to names."""
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._held[name] = value
            case ast.Assign([ast.Tuple(targets) | ast.List(targets)], value) if len(targets) == len(unpacked(value)):
                for target, part in zip(targets, unpacked(value), strict=True):
                    if isinstance(target, ast.Name):
                        self._held[target.id] = part
            case _:
                return

    def _held_as(self, name: str) -> ast.expr | None:
        """Return the one value that a name holds throughout; None if it is set more than once or changed."""
        once = self._stored[name] == 1 and name not in self._changed[0]
        return self._held.get(name) if once else None

    def _meant(self, value: ast.expr) -> ast.expr:
        """Return the expression that a chain of names stands for; any other expression stands for itself."""
        seen = set[str]()
        while isinstance(value, ast.Name) and value.id not in seen and (held := self._held_as(value.id)) is not None:
            seen.add(value.id)
            value = held
        return value

    def given(self, value: Expression) -> str:
        """Return the name that a value is, if the text itself gives the name no value; else empty."""
        meant = self._meant(value.node)
        return meant.id if isinstance(meant, ast.Name) and not self._stored[meant.id] else ""

    def arguments(self, site: Site) -> list[tuple[str, Expression]]:
        """Return the arguments of a call by the names of its tool's parameters."""
        call, source = self.calls[site], self._sources[site[0]]
        names = self._cells[site[0]].arguments.get(_name(call), {})
        return [(names.get(one.arg, one.arg), source.expression(one.value)) for one in call.keywords if one.arg]

    def function(self, site: Site) -> str:
        """Return the function that a call calls."""
        return _name(self.calls[site])

    def fixed(self, value: Expression) -> JsonValue:
        """Return the constant that a value is.

        Raises:
            NotConstantError: it is not constant.
        """
        return constant(value.node, self._held_as)

    def place_of(self, value: Expression) -> Place | None:
        """Return the field of an answer that a value is; None for anything else."""
        return self._place_of(value.node)

    def _place_of(self, value: ast.expr) -> Place | None:
        meant = self._meant(value)
        if meant in self._open:
            return None  # it is made of itself
        self._open.add(meant)
        place = self._place(meant)
        self._open.discard(meant)
        return place

    def _place(self, meant: ast.expr) -> Place | None:
        """Match the ways to write a field of an answer."""
        match meant:
            case ast.Await(inner):
                return self._place_of(inner)
            case ast.Name(name):
                earlier = _EARLIER.fullmatch(name) if self._answered else None  # as texts were once written
                return (int(earlier[1]), "") if earlier and not self._stored[name] else None
            case ast.Call() if meant in self._sites:
                return self._sites[meant], ""
            case ast.Call(ast.Name("named" | "first" as chosen), [held, *default], []) if (
                self._is_nothing(default) and not self._stored[chosen]
            ):
                return _joined(self._place_of(held), "[]" if chosen == "named" else "[0]")
            case ast.Call(ast.Attribute(held, "get"), [ast.Constant(part), *default], []) if self._is_nothing(default):
                return _within(self._place_of(held), part)
            case ast.Subscript(ast.Name("earlier"), ast.Constant(int() as number)) if not self._stored["earlier"]:
                return (number + 1, "") if number >= 0 else None
            case ast.Subscript(held, ast.Constant(int() as number)) if parts := unpacked(self._meant(held)):
                return self._place_of(parts[number]) if 0 <= number < len(parts) else None
            case ast.Subscript(held, ast.Constant(part)):
                return _within(self._place_of(held), part)
            case _:
                return None

    def stands(self, place: Place) -> bool:
        """Return whether nothing in the text changes the answer that a place is in."""
        changed = self._changed[1]
        return None not in changed and place[0] not in changed

    def _is_nothing(self, default: Sequence[ast.expr]) -> bool:
        """Return whether a default for a missing value is as good as none."""
        return self._answered or all(ast.unparse(one) in _NOTHING for one in default)

    @cached_property
    def _changed(self) -> tuple[frozenset[str], frozenset[Site | int | None]]:
        """Names and answers that are changed in place; None among the answers means that any may be."""
        names, answers = set[str](), set[Site | int | None]()
        # Finding places below reads this property again: meanwhile nothing counts as changed, which ends the
        # recursion.
        self.__dict__["_changed"] = (frozenset[str](), frozenset[Site | int | None]())
        for held in (one for node in self._nodes() for one in _changes(node)):
            place = self._place_of(held)
            if isinstance(held, ast.Name):
                names.add(held.id)
            if place is not None:
                answers.add(place[0])
            elif not isinstance(held, ast.Name) or not isinstance(self._held.get(held.id), _MADE_HERE):
                answers.add(None)
        return frozenset(names), frozenset(answers)

    def line_of(self, site: Site) -> int:
        """Return the line, from 1, that a call is on in its text."""
        return self._cells[site[0]].text.encode()[: site[1]].count(b"\n") + 1

    def turns(self) -> Iterator[tuple[int, str]]:
        """Yield the lines where the program may end early or asks somebody, each with what it does."""
        functions = {one for one in self._nodes() if isinstance(one, _FUNCTIONS)}
        inner = {one for function in functions for one in ast.walk(function) if isinstance(one, ast.Return)}
        last = {one.tree.body[-1] for one in self._sources.values() if one.tree.body}
        for node in self._nodes():
            if isinstance(node, _LEAVES) and node not in inner | last:
                yield node.lineno, "may end the program before its end"
            elif isinstance(node, ast.Call) and _name(node) in _STOPS and not self._stored[_name(node)]:
                yield node.lineno, f"calls {_name(node)}"

    def is_open(self, value: Expression) -> bool:
        """Return whether a value is left open with ``fill()``."""
        meant = self._meant(value.node)
        return isinstance(meant, ast.Call) and _name(meant) == "fill" and not self._stored["fill"]

    @property
    def speaks(self) -> bool:
        """True if the program ends in an answer of its own, other than the answers of its calls."""
        last = self._sources[max(self._sources)].tree.body[-1:]
        value = last[0].value if last and isinstance(last[0], ast.Expr | ast.Return) else None
        return value is not None and not self._only_calls(value)

    def _nodes(self) -> Iterator[ast.AST]:
        """Return all nodes of all cells."""
        return (node for one in self._sources.values() for node in ast.walk(one.tree))

    def _only_calls(self, value: ast.expr) -> bool:
        """Return whether a value is the answer of a tool's call, or of several that are gathered."""
        parts = unpacked(value)
        return self._place_of(value) in {(site, "") for site in self._sites.values()} or (
            bool(parts) and all(map(self._only_calls, parts))
        )


def _name(call: ast.Call) -> str:
    """Return the name of the called function; empty if it is no plain name."""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _calls(node: ast.AST, tools: Collection[str], without: Sequence[type[ast.AST]] = ()) -> Iterator[ast.Call]:
    """Yield the calls of tools under a node, inner ones first. ``without``: types of nodes that are not entered."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, tuple(without)):
            yield from _calls(child, tools, without)
    if isinstance(node, ast.Call) and _name(node) in tools:
        yield node


def _changes(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a node changes in place."""
    match node:
        case ast.Call(ast.Attribute(held, method)) if method in _IN_PLACE:
            yield held
        case ast.AugAssign(target):
            yield target
        case ast.Subscript(held, ctx=ast.Store() | ast.Del()) | ast.Attribute(held, ctx=ast.Store() | ast.Del()):
            yield held
        case _:
            return


def _joined(place: Place | None, part: str) -> Place | None:
    """Return a place with a part appended to its field."""
    return None if place is None else (place[0], f"{place[1]}{part}")


def _within(place: Place | None, part: object) -> Place | None:
    """Return the place of an item or key in what is at a place; None if the key cannot be written as a field."""
    match part:
        case bool() | float() | complex() | bytes() | None:
            return None
        case int() if part >= 0:
            return _joined(place, f"[{part}]")
        case str() if part and not re.search(r"[.\[\]]", part):
            return _joined(place, f".{part}" if place and place[1] else part)
        case _:
            return None


def other_doings(program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text that do anything besides calling tools and naming answers, each with what it does.

    Statements after the last call only compose the answer and are not reported.

    Raises:
        SyntaxError: the text cannot be parsed.
    """
    source = parse_source(program.text)
    tree = source.tree
    yield from _bound(tree, program)
    yield from _passed_on(tree, program)
    course = _Course(program, source.names_bound)
    last = max((at for at, one in enumerate(tree.body) if _has_call(one, program)), default=-1)
    for statement in tree.body[: last + 1]:
        if not course.is_plain(statement):
            yield statement.lineno, "does more than to call, and to name answers and constants"


def _has_call(statement: ast.stmt, program: Program) -> bool:
    return any(isinstance(one, ast.Call) and _is_tool(one.func, program) for one in ast.walk(statement))


def _is_tool(node: ast.AST, program: Program) -> bool:
    return isinstance(node, ast.Name) and node.id in program.tools


def _bound(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines where the text rebinds a name that calls and constants are written with."""
    for line, name in _meanings(tree):
        if name in program.tools or name in _MEANT:
            yield line, f"gives another meaning to {name}"


def _meanings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the names that a text binds, each with its line, except modules imported under their own names."""
    for node in ast.walk(tree):
        match node:
            case ast.Import() if _is_import(node):
                continue
            case ast.Name(ctx=ast.Store()) | ast.arg() | ast.Import() | ast.ImportFrom():
                names = bound_names(node)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                names = {name}
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names = {name}
            case ast.ExceptHandler(name=str(name)) | ast.Name(id=name, ctx=ast.Del()):
                names = {name}
            case _:
                continue
        yield from ((node.lineno, name) for name in names)


def _is_import(statement: ast.Import) -> bool:
    """Return whether an import only binds known modules under their own names."""
    return all(one.name in _MODULES and not one.asname for one in statement.names)


def _passed_on(tree: ast.Module, program: Program) -> Iterator[tuple[int, str]]:
    """Yield the lines where a tool is named but not called."""
    called = {one.func for one in ast.walk(tree) if isinstance(one, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and _is_tool(node, program) and node not in called:
            yield node.lineno, f"gives {node.id} on without a call"


class _Course:
    """The statements of one text in sequence.

    Ask for each statement once and in order, since names count only after they are set. ``bound``: all names that it binds.
    """

    def __init__(self, program: Program, bound: frozenset[str]) -> None:
        self._program = program
        self._bound = bound
        self._later = set(bound)

    def is_plain(self, statement: ast.stmt) -> bool:
        """Return whether the next statement is a call, or names an answer or a constant."""
        match statement:
            case ast.Assign([target], value) | ast.AnnAssign(target, ast.Name(), ast.expr() as value):
                plain = self._is_value(value)
                names = list(_targets(target))
                self._later.difference_update(names)
                return plain and bool(names)
            case ast.Expr(value) | ast.Return(ast.expr() as value):
                return self._is_value(value)
            case ast.Import():
                self._later -= _MODULES
                return _is_import(statement)
            case _:
                return isinstance(statement, ast.Pass)

    def _is_value(self, value: ast.expr) -> bool:
        """Return whether a value is composed of answers, constants and earlier names, without any effect."""
        match value:
            case ast.Await(ast.Call() as call):
                return self._is_call(call) or self._is_gathered(call)
            case ast.Name(name):
                return name not in self._later
            case ast.Subscript(held, ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant())):
                return self._is_value(held)
            case ast.Call(ast.Name("first" | "named" as chosen), parts, []) if chosen not in self._bound:
                return all(map(self._is_value, parts))
            case ast.Call(ast.Attribute(held, "get"), parts, []):
                return all(map(self._is_value, (held, *parts)))
            case ast.List(parts) | ast.Tuple(parts) | ast.JoinedStr(parts):
                return all(map(self._is_value, parts))
            case ast.FormattedValue(shown, _, form):
                return self._is_value(shown) and (form is None or self._is_value(form))
            case ast.Dict(keys, values):
                return all(isinstance(key, ast.Constant) for key in keys) and all(map(self._is_value, values))
            case _:
                return _is_constant(value)

    def _is_call(self, call: ast.expr) -> bool:
        """Return whether a node calls a tool with keyword arguments only; they may be left open."""
        if not (isinstance(call, ast.Call) and _is_tool(call.func, self._program)) or call.args:
            return False
        return all(one.arg and (_is_open(one.value) or self._is_value(one.value)) for one in call.keywords)

    def _is_gathered(self, call: ast.Call) -> bool:
        """Return whether calls are gathered, all with values that exist before."""
        match call:
            case ast.Call(ast.Attribute(ast.Name("asyncio"), "gather"), made, []):
                waits = any(isinstance(one, ast.Await) for part in made for one in ast.walk(part))
                return not waits and all(map(self._is_call, made))
            case _:
                return False


def _targets(target: ast.expr) -> Iterator[str]:
    """Yield the names of a target that consists of names only."""
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if all(isinstance(one, ast.Name) for one in parts):
        yield from (one.id for one in parts if isinstance(one, ast.Name))


def _is_open(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value) == "fill()"


def _is_constant(value: ast.expr) -> bool:
    try:
        constant(value)
    except NotConstantError:
        return False
    return True
