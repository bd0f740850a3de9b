"""The one reading of a program's text as calls that follow each other: those that are made once, whatever is answered, and where their values are from."""

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

from pydantic.types import JsonValue

from agent.plans.literals import constant
from agent.programs.definition_reader import unpacked
from agent.programs.dependencies import Site, line_starts
from agent.programs.reading import bound_names
from domain.program import Program
from domain.python_source import parse_module

Place = tuple[Site | int, str]
"""A call, or the number of an earlier result from 1, and a field of its answer: ``items[0].lat``, ``items[].lat`` for an item that is named."""

_ONCE = ast.Expr | ast.Assign | ast.AnnAssign
_NOT_EACH_TIME = (
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Lambda,
    ast.IfExp,
    ast.BoolOp,
    ast.NamedExpr,
)
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
_STOPS = frozenset({"ask", "look"})
_LEAVES = ast.Raise | ast.Assert | ast.Return
_IN_PLACE = frozenset(
    ("add", "append", "appendleft", "clear", "extend", "extendleft", "insert", "pop", "popitem", "popleft", "remove")
) | {"reverse", "setdefault", "sort", "update"}
"""Methods that change what they are called on."""
_MADE_HERE = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
_EARLIER = re.compile(r"earlier_(\d+)")
_NOTHING = ("None", "{}", "[]")


class StraightText:
    """``calls``: those that are made once, in the order in which they are made. ``others``: those of tools that are not.

    A name holds one value from beginning to end, or nothing is said of it.
    """

    def __init__(self, cells: Mapping[int, Program], *, answered: bool = False) -> None:
        """Read all cells of a program; ``SyntaxError`` and the like where that is not possible.

        ``answered``: it has run, so that whoever asks sees whether a value is what was answered, or what stands in for it.
        """
        self._answered = answered
        self._cells = cells
        self._trees = {number: parse_module(cells[number].text) for number in sorted(cells)}
        self._held: dict[str, ast.expr] = {}
        self._sites: dict[ast.AST, Site] = {}
        self._stored = Counter[str]()
        self._open = set[ast.expr]()
        every: dict[ast.Call, Site] = {}
        for number, tree in self._trees.items():
            program, starts = cells[number], line_starts(cells[number].text)
            stores = [one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
            self._stored.update((*stores, *(bound_names(tree) - set(stores))))
            for call in _calls(tree, program.tools):
                every[call] = number, starts[call.lineno - 1] + call.col_offset
            for statement in (one for one in tree.body if isinstance(one, _ONCE)):
                self._assigned(statement)
                self._sites |= {call: every[call] for call in _calls(statement, program.tools, _NOT_EACH_TIME)}
        self.calls = {site: call for call, site in self._sites.items() if isinstance(call, ast.Call)}
        self.others = {site: _name(call) for call, site in every.items() if call not in self._sites}

    def _assigned(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._held[name] = value
            case ast.Assign([ast.Tuple(targets) | ast.List(targets)], value) if len(targets) == len(unpacked(value)):
                for target, part in zip(targets, unpacked(value), strict=True):
                    if isinstance(target, ast.Name):
                        self._held[target.id] = part
            case _:
                return

    def held(self, name: str) -> ast.expr | None:
        """What a name stands for from beginning to end."""
        once = self._stored[name] == 1 and name not in self._changed[0]
        return self._held.get(name) if once else None

    def meant(self, value: ast.expr) -> ast.expr:
        """What a name stands for, through all names that it is given by; any other expression is itself."""
        seen = set[str]()
        while isinstance(value, ast.Name) and value.id not in seen and (held := self.held(value.id)) is not None:
            seen.add(value.id)
            value = held
        return value

    def given(self, value: ast.expr) -> str:
        """The name that a value is and that the text itself gives no value; else empty."""
        meant = self.meant(value)
        return meant.id if isinstance(meant, ast.Name) and not self._stored[meant.id] else ""

    def arguments(self, site: Site) -> list[tuple[str, ast.expr]]:
        """Of a call, by the names of its tool's parameters."""
        call = self.calls[site]
        names = self._cells[site[0]].arguments.get(_name(call), {})
        return [(names.get(one.arg, one.arg), one.value) for one in call.keywords if one.arg]

    def function(self, site: Site) -> str:
        """What a call calls."""
        return _name(self.calls[site])

    def fixed(self, value: ast.expr) -> JsonValue:
        """The constant of the program that a value is; :class:`NotConstantError` where it is none."""
        return constant(value, self.held)

    def place_of(self, value: ast.expr) -> Place | None:
        """The field of an answer that a value is; None where it is anything else, or a name that stands for itself."""
        meant = self.meant(value)
        if meant in self._open:
            return None  # it is made of itself
        self._open.add(meant)
        place = self._place(meant)
        self._open.discard(meant)
        return place

    def _place(self, meant: ast.expr) -> Place | None:
        match meant:
            case ast.Await(inner):
                return self.place_of(inner)
            case ast.Name(name):
                earlier = _EARLIER.fullmatch(name) if self._answered else None  # as texts were once written
                return (int(earlier[1]), "") if earlier and not self._stored[name] else None
            case ast.Call() if meant in self._sites:
                return self._sites[meant], ""
            case ast.Call(ast.Name("named" | "first" as chosen), [held, *default], []) if (
                self._is_nothing(default) and not self._stored[chosen]
            ):
                return _joined(self.place_of(held), "[]" if chosen == "named" else "[0]")
            case ast.Call(ast.Attribute(held, "get"), [ast.Constant(part), *default], []) if self._is_nothing(default):
                return _within(self.place_of(held), part)
            case ast.Subscript(ast.Name("earlier"), ast.Constant(int() as number)) if not self._stored["earlier"]:
                return (number + 1, "") if number >= 0 else None
            case ast.Subscript(held, ast.Constant(int() as number)) if parts := unpacked(self.meant(held)):
                return self.place_of(parts[number]) if 0 <= number < len(parts) else None
            case ast.Subscript(held, ast.Constant(part)):
                return _within(self.place_of(held), part)
            case _:
                return None

    def stands(self, place: Place) -> bool:
        """Whether nothing in the text changes what was answered there."""
        changed = self._changed[1]
        return None not in changed and place[0] not in changed

    def _is_nothing(self, default: Sequence[ast.expr]) -> bool:
        """Whether what stands in for a value that is not there is as good as none."""
        return self._answered or all(ast.unparse(one) in _NOTHING for one in default)

    @cached_property
    def _changed(self) -> tuple[frozenset[str], frozenset[Site | int | None]]:
        """Names and answers that are changed in place. None: any answer may be."""
        names, answers = set[str](), set[Site | int | None]()
        self.__dict__["_changed"] = (frozenset[str](), frozenset[Site | int | None]())
        for held in (one for tree in self._trees.values() for node in ast.walk(tree) for one in _changes(node)):
            place = self.place_of(held)
            if isinstance(held, ast.Name):
                names.add(held.id)
            if place is not None:
                answers.add(place[0])
            elif not isinstance(held, ast.Name) or not isinstance(self._held.get(held.id), _MADE_HERE):
                answers.add(None)
        return frozenset(names), frozenset(answers)

    def line_of(self, site: Site) -> int:
        """The line of its text, from 1, that a call is on."""
        return self._cells[site[0]].text.encode()[: site[1]].count(b"\n") + 1

    def turns(self) -> Iterator[tuple[int, str]]:
        """Lines where the program may end before its end, or asks somebody, each with what it does."""
        functions = {one for tree in self._trees.values() for one in ast.walk(tree) if isinstance(one, _FUNCTIONS)}
        inner = {one for function in functions for one in ast.walk(function) if isinstance(one, ast.Return)}
        last = {tree.body[-1] for tree in self._trees.values() if tree.body}
        for node in (one for tree in self._trees.values() for one in ast.walk(tree)):
            if isinstance(node, _LEAVES) and node not in inner | last:
                yield node.lineno, "may end the program before its end"
            elif isinstance(node, ast.Call) and _name(node) in _STOPS and not self._stored[_name(node)]:
                yield node.lineno, f"calls {_name(node)}"

    def is_open(self, value: ast.expr) -> bool:
        """Whether a value is left open."""
        meant = self.meant(value)
        return isinstance(meant, ast.Call) and _name(meant) == "fill" and not self._stored["fill"]

    @property
    def speaks(self) -> bool:
        """Whether it says something at its end, other than what its calls answer."""
        last = self._trees[max(self._trees)].body[-1:]
        value = last[0].value if last and isinstance(last[0], ast.Expr | ast.Return) else None
        return value is not None and not self._only_calls(value)

    def _only_calls(self, value: ast.expr) -> bool:
        """Whether a value is what a call of a tool answers, or what several that are gathered do."""
        parts = unpacked(value)
        return self.place_of(value) in {(site, "") for site in self._sites.values()} or (
            bool(parts) and all(map(self._only_calls, parts))
        )


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _calls(node: ast.AST, tools: Collection[str], without: Sequence[type[ast.AST]] = ()) -> Iterator[ast.Call]:
    """The calls of tools within a part of a text, inner ones first. ``without``: what is not looked into."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, tuple(without)):
            yield from _calls(child, tools, without)
    if isinstance(node, ast.Call) and _name(node) in tools:
        yield node


def _changes(node: ast.AST) -> Iterator[ast.expr]:
    """What is changed in place there."""
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
    return None if place is None else (place[0], f"{place[1]}{part}")


def _within(place: Place | None, part: object) -> Place | None:
    match part:
        case bool() | float() | complex() | bytes() | None:
            return None
        case int() if part >= 0:
            return _joined(place, f"[{part}]")
        case str() if part and not re.search(r"[.\[\]]", part):
            return _joined(place, f".{part}" if place and place[1] else part)
        case _:
            return None
